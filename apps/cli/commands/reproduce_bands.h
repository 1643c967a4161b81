// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "evaluate/experiment/study/band_study.h"
#include "support/command.h"

namespace tare::cli {

/// `tare reproduce bands`: how often bands contain the true quantile. It is not a plan of trials,
/// so it has its own runner. Writes bands.csv, .md and .html into the folder, and returns the page.
std::string run_reproduce_bands(const BandStudy& study, const std::filesystem::path& folder,
                                const Common& common);

}  // namespace tare::cli
