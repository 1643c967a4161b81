// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace tare::fuzz {

/// The parts of a model file. `payload` points into the bytes.
struct ModelBytes {
  std::string_view header;
  std::string_view payload;
};

/// Cuts a file into its parts; a length that is too large is cut at the end of the file.
ModelBytes split_model(std::string_view bytes);

/// A file from its parts, with the header padded as the format asks for.
std::string join_model(std::string header, std::string_view payload);

}  // namespace tare::fuzz
