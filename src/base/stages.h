// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tare/base/execution.h"

namespace tare {

/// `how` for part k of several that follow each other: its reports are shares of the whole. `how`
/// must outlive it.
Execution part_of(const Execution& how, std::size_t k, std::size_t parts);

/// `how` for work that is part of something else: nothing is reported and no diagnostics are made,
/// but it can be stopped.
Execution quietly(const Execution& how);

/// Parts that run side by side and report as one stage: the mean share that is done, which never
/// falls where no part's does. Calls may come from any thread; `how` must outlive it.
class ParallelProgress {
 public:
  ParallelProgress(const Execution& how, std::string stage, std::size_t parts)
      : how_(how), stage_(std::move(stage)), share_(parts, 0.0) {}

  void report(std::size_t part, double share);
  /// `how` for a part: its share of the threads, at least one, and its reports among the others'.
  Execution of(std::size_t part);

 private:
  const Execution& how_;
  std::string stage_;
  std::mutex guard_;
  std::vector<double> share_;
  double sum_ = 0.0;
};

}  // namespace tare
