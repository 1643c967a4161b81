// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "support/command.h"

namespace tare::cli {

/// `tare reproduce theory`: the paper's theorems in numbers. It is not a plan of trials, so it has
/// its own runner. `samples` of 0 means the default number. Writes theory.csv, .md, .svg and .html
/// into the folder, and returns the page.
std::string run_reproduce_theory(std::size_t samples, const std::filesystem::path& folder,
                                 const Common& common);

/// Writes a file of results; replaces an existing one.
void write_result(const std::filesystem::path& path, const std::string& text);

}  // namespace tare::cli
