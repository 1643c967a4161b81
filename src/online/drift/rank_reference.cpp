// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/rank_reference.h"

#include <algorithm>
#include <utility>

#include "base/sorted_place.h"

namespace tare {

RankReference::RankReference(std::size_t most, std::vector<double> sorted)
    : most_(most), sorted_(std::move(sorted)) {}

RankPlace RankReference::place(double score, const RankDraw& draw) {
  const std::span<const double> sorted(sorted_);
  const std::size_t first = sorted_place(sorted, [&](double s) { return s < score; });
  const std::size_t last = sorted_place(sorted, [&](double s) { return s <= score; });
  const auto smaller = static_cast<double>(first);
  const auto equal = static_cast<double>(last - first) + 1.0;  // the score itself is one of them
  const auto larger = static_cast<double>(sorted_.size() - last);
  const auto all = static_cast<double>(sorted_.size()) + 1.0;
  const RankPlace place = {(smaller + draw.tie * equal) / all,
                           (larger + (1.0 - draw.tie) * equal) / all};
  if (sorted_.size() < most_) {
    sorted_.insert(sorted_.begin() + static_cast<std::ptrdiff_t>(last), score);
  } else {
    replace(last, score, draw.removed);
  }
  return place;
}

/// Inserts the score before index `at`, and removes the one that then has the index `removed`. Only
/// the numbers between the two move.
void RankReference::replace(std::size_t at, double score, std::size_t removed) {
  const auto first = sorted_.begin();
  const auto offset = [&](std::size_t index) { return first + static_cast<std::ptrdiff_t>(index); };
  if (removed > at) {
    std::copy_backward(offset(at), offset(removed - 1), offset(removed));
    sorted_[at] = score;
  } else if (removed < at) {
    std::copy(offset(removed + 1), offset(at), offset(removed));
    sorted_[at - 1] = score;
  }
}

}  // namespace tare
