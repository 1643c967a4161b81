// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/error_window_method.h"

#include <algorithm>

#include "online/reference/learned_error.h"
#include "online/reference/tracked_levels.h"

namespace tare {

ErrorWindowMethod::ErrorWindowMethod(const OnlineSetup& setup, std::size_t window)
    : levels_(setup.levels),
      from_outside_(levels_from_outside(setup.levels)),
      most_errors_(window),
      errors_(window) {}

void ErrorWindowMethod::answer(const OnlineRow& row, OnlineAnswer& out) const {
  out.note.clear();
  out.quantiles.assign(levels_.size(), 0.0);
  if (errors_.size() > 0) error_quantiles(errors_.sorted(), out.quantiles);
  order_from_outside(levels_, from_outside_, out.quantiles);
  for (double& quantile : out.quantiles) quantile += row.prediction;
}

void ErrorWindowMethod::learn(const OnlineRow& row, const OnlineAnswer&, double target) {
  errors_.add(learned_error(row, target));
  ++learned_;
}

void ErrorWindowMethod::save(const TensorWriter& out) const {
  out.value("learned", learned_);
  errors_.save(out, "errors");
}

void ErrorWindowMethod::load(const TensorReader& in) {
  learned_ = in.count("learned", kMostLearnedRows);
  errors_.load(in, "errors", std::min<std::uint64_t>(learned_, most_errors_));
}

}  // namespace tare
