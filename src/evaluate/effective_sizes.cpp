// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/effective_sizes.h"

#include <algorithm>
#include <utility>

#include "calibrate/answers/row_blocks.h"

namespace tare {

std::vector<double> effective_sizes(const QuantileModel& model, const Rows& rows, std::size_t known,
                                    const Execution& how) {
  constexpr std::size_t kEnough = 2'000;
  if (known >= kEnough) return {};
  const std::size_t count = std::min(rows.x.rows(), kEnough - known);
  Prediction sizes;  // at no level
  model.add_reliability(middle_of(rows, 0, count), {}, how, sizes);
  return std::move(sizes.effective_n);
}

}  // namespace tare
