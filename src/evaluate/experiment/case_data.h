// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/schema.h"
#include "evaluate/experiment/plan.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/data/problem.h"

namespace tare {

/// The rows of a case's files, read once and only read from then on.
struct CaseData {
  Encoded rows;
  Encoded test;                  // kFile
  std::vector<std::string> key;  // kColumn: the column's value in each row
};

/// Reads a case's files from `folder`. kNotFound where one is absent, with where to find it and
/// what it must look like. A known-law case needs none.
CaseData read_case(const ExperimentCase& one, const std::string& folder);

/// The rows of one repeat, the same for all methods.
struct TrialRows {
  Matrix x;
  std::vector<double> y;
  std::vector<std::uint8_t> calibrate;  // 1: for the calibration step, of methods that have one
  Matrix test_x;
  std::vector<double> test_y;
  std::vector<std::size_t> test_source;  // if test rows repeat: the row that each is a copy of
  std::size_t window = 1;
  const Problem* problem = nullptr;  // of a known-law problem
};

/// Draws the rows of the repeat with this seed. `window` is for series only.
TrialRows draw_trial(const ExperimentPlan& plan, const ExperimentCase& one, const CaseData& data,
                     std::size_t window, Seed seed);

}  // namespace tare
