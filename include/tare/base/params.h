// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// The name and meaning of an option: used for --help, the documentation and the check of names.
struct ParamInfo {
  std::string_view name;
  std::string_view fallback;  // the default value, as text
  std::string_view help;
  std::string_view grid =
      {};  // values to try, separated by commas, for `tare tune`; empty: not tuned
};

/// Concatenates lists at compile time.
template <std::size_t... N>
constexpr auto join_options(const std::array<ParamInfo, N>&... lists) {
  std::array<ParamInfo, (N + ...)> all{};
  std::size_t next = 0;
  const auto append = [&](const auto& list) {
    for (const ParamInfo& option : list) all[next++] = option;
  };
  (append(lists), ...);
  return all;
}

/// Options of a method as name = text, the form in which the command line, Python, configuration
/// files and the table of methods pass them. Values are parsed where they are used.
class Params {
 public:
  Params() = default;
  /// Parses "regressor=forest dims=4". Throws kInvalidArgument.
  static Params parse(std::string_view text);

  bool has(std::string_view name) const;
  void set(std::string name, std::string value);
  /// Adds the options of `other`, which override existing values.
  void merge(const Params& other);
  /// In the form that parse() reads, names in alphabetical order.
  std::string text() const;
  const std::map<std::string, std::string, std::less<>>& all() const noexcept { return values_; }

  std::string text(std::string_view name, std::string_view fallback) const;
  /// A finite number in [low, high]; kInvalidArgument otherwise.
  double number(std::string_view name, double fallback, double low, double high) const;
  /// A whole number in [low, high]; kInvalidArgument otherwise.
  std::size_t count(std::string_view name, std::size_t fallback, std::size_t low,
                    std::size_t high) const;

  /// Throws kInvalidArgument for a name that none of the lists has, naming those that exist.
  void check_known(std::string_view owner, std::span<const std::span<const ParamInfo>> known) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace tare
