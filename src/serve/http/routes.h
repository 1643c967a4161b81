// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tare::serve {

enum class Action : std::uint8_t {
  kFile,  // of the page
  kLive,
  kReady,
  kMetrics,
  kModel,
  kCoverage,
  kPredict,
  kObserve,
};

/// A path of the service. The table is the only place that lists them; the OpenAPI file is tested
/// against it.
struct Route {
  std::string_view method;  // GET, which is HEAD as well, or POST
  std::string_view path;
  Action action;
  bool needs_token;                              // if the service was started with one
  std::span<const std::string_view> parameters;  // of the query
  std::string_view file = {};                    // of kFile: the embedded file's name
  std::string_view content_type = {};            // of kFile
};

std::span<const Route> routes();

/// The index in routes() of a path with this method. kNoPath if the path does not exist,
/// kOtherMethod if it exists with another method, which is then written to `allowed`.
inline constexpr std::size_t kNoPath = static_cast<std::size_t>(-1);
inline constexpr std::size_t kOtherMethod = static_cast<std::size_t>(-2);
std::size_t find_route(std::string_view method, std::string_view path, std::string_view& allowed);

}  // namespace tare::serve
