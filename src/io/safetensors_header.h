// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

/// Extents that a tensor of a file may have; tare's have at most three.
inline constexpr std::size_t kMostExtents = 8;

/// What the header says about a tensor, as it is written there: nothing is checked but its form.
struct TensorEntry {
  std::string dtype;
  std::vector<std::size_t> shape;
  std::vector<std::size_t> offsets;
};

/// A safetensors header. It is read without a tree of JSON values, which would take up to forty
/// times the memory of the text, and so that a name that stands twice is noticed.
struct SafetensorsHeader {
  bool is_json = false;  // an object; where it is not, or where there is a problem, the rest is
                         // what was read before
  std::string problem;   // what keeps it from being a safetensors header; empty: nothing
  std::map<std::string, std::string, std::less<>> metadata;
  std::map<std::string, TensorEntry, std::less<>> tensors;
};

SafetensorsHeader parse_safetensors_header(std::string_view text);

}  // namespace tare
