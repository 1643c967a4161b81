// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/answers/merge_diagnostics.h"

#include <algorithm>
#include <cstddef>

namespace tare {
namespace {

template <class Values>
void merge_largest(Values& all, const Values& one) {
  if (all.empty()) {
    all = one;
    return;
  }
  for (std::size_t i = 0; i < one.size(); ++i) all[i] = std::max(all[i], one[i]);
}

}  // namespace

void merge_diagnostics(Prediction& all, const Prediction& one, double share) {
  if (all.window_n.empty()) all.window_n.resize(one.window_n.size(), 0.0);
  for (std::size_t i = 0; i < one.window_n.size(); ++i) {
    all.window_n[i] += share * one.window_n[i];
  }
  merge_largest(all.nearest, one.nearest);
  merge_largest(all.fallback, one.fallback);
  merge_largest(all.outside, one.outside);
}

}  // namespace tare
