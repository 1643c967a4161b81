// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "support/command.h"

namespace tare::cli {

/// `tare reproduce theory`: what the paper proves, in numbers. Not a plan of trials, so it has a
/// runner of its own; `samples` of 0 takes the usual number. Writes theory.csv, .md, .svg and .html
/// into the folder, and returns the page.
std::string run_reproduce_theory(std::size_t samples, const std::filesystem::path& folder,
                                 const Common& common);

/// Writes a file of results, in place of what was there.
void write_result(const std::filesystem::path& path, const std::string& text);

}  // namespace tare::cli
