// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/masses/rank_scale.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/fail.h"

namespace tare::automatic {

RankScale RankScale::of(std::span<const double> values, std::size_t most) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const auto rows = static_cast<double>(sorted.size());
  RankScale all;
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto last = std::upper_bound(first, sorted.end(), *first);
    const auto middle = static_cast<double>((first - sorted.begin()) + (last - sorted.begin()));
    all.values_.push_back(*first);
    all.places_.push_back(0.5 * middle / rows);
    first = last;
  }
  if (all.values_.size() <= most) return all;
  RankScale some;
  double next = 0.0;
  for (std::size_t k = 0; k < all.values_.size(); ++k) {
    if (all.places_[k] < next && k + 1 < all.values_.size()) continue;
    some.values_.push_back(all.values_[k]);
    some.places_.push_back(all.places_[k]);
    next = all.places_[k] + 1.0 / static_cast<double>(most - 1);
  }
  return some;
}

double RankScale::place(double value) const {
  const auto above = std::ranges::upper_bound(values_, value);
  if (above == values_.begin()) return places_.front();
  if (above == values_.end()) return places_.back();
  const auto k = static_cast<std::size_t>(above - values_.begin());
  const double share = (value - values_[k - 1]) / (values_[k] - values_[k - 1]);
  return places_[k - 1] + share * (places_[k] - places_[k - 1]);
}

double RankScale::value_at(double place) const {
  const auto at = std::ranges::lower_bound(places_, place);
  return at == places_.end() ? values_.back()
                             : values_[static_cast<std::size_t>(at - places_.begin())];
}

void RankScale::save(const TensorWriter& out, const std::string& name) const {
  out.tensor(name + "_values", values_);
  out.tensor(name + "_places", places_);
}

RankScale RankScale::load(const TensorReader& in, const std::string& name) {
  RankScale scale;
  scale.values_ = in.list<double>(name + "_values", Must::kRise);
  scale.places_ = in.values<double>(name + "_places", {scale.values_.size()}, Must::kRise);
  if (scale.values_.empty()) {
    fail(ErrorCode::kCorruptFile, "the model file's ranks of '{}' are damaged", name);
  }
  return scale;
}

}  // namespace tare::automatic
