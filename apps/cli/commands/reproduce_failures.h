// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "support/command.h"

namespace tare::cli {

/// `tare reproduce failures`: the paper's three failures in numbers. Writes failures.csv, .md and
/// .html into the folder, and returns the page.
std::string run_reproduce_failures(const std::filesystem::path& folder, const Common& common);

}  // namespace tare::cli
