// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace tare {

/// A file of experiments/ that was put into the library when it was built, so that an installed
/// tool needs no folder beside it.
struct EmbeddedFile {
  std::string_view name;  // without folder and ending
  std::string_view text;
};

/// experiments/*.json
std::span<const EmbeddedFile> embedded_plans();
/// experiments/paper/*.csv: the paper's printed tables
std::span<const EmbeddedFile> embedded_paper_tables();
/// experiments/tuned/*/*.json: what `tare tune` found for a method in a case
std::span<const EmbeddedFile> embedded_tuned();

}  // namespace tare
