// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace tare::serve {

/// A file of page/ that the build embedded in the library.
struct EmbeddedFile {
  std::string_view name;  // without ending
  std::string_view text;
};
std::span<const EmbeddedFile> page_files();

}  // namespace tare::serve
