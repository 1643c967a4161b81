// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tare/base/execution.h"

namespace tare {

/// `how` for part k of several consecutive parts: its progress is reported as a share of the whole.
/// `how` must outlive it.
Execution part_of(const Execution& how, std::size_t k, std::size_t parts);

/// `how` for a subtask: it reports no progress and computes no diagnostics, but it can be stopped.
Execution quietly(const Execution& how);

/// Parts that run in parallel and report as one stage: the mean of their shares, which never
/// decreases if no part's share does. Calls may come from any thread; `how` must outlive it.
class ParallelProgress {
 public:
  ParallelProgress(const Execution& how, std::string stage, std::size_t parts)
      : how_(how), stage_(std::move(stage)), share_(parts, 0.0) {}

  void report(std::size_t part, double share);
  /// `how` for a part: its share of the threads, at least one, and its share of the progress.
  Execution of(std::size_t part);

 private:
  const Execution& how_;
  std::string stage_;
  std::mutex guard_;
  std::vector<double> share_;
  double sum_ = 0.0;
};

}  // namespace tare
