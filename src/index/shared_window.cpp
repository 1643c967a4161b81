// SPDX-License-Identifier: BSD-3-Clause
#include "index/shared_window.h"

#include <limits>

#include "index/query_groups.h"
#include "index/row_key.h"

namespace tare {

void SharedWindow::open(const KdTree& tree, MatrixView queries,
                        std::span<const std::uint32_t> group, double reach2) {
  if (group.size() == 1) {
    open(tree, queries.row(group[0]), reach2);
    return;
  }
  reach2_ = reach2;
  bounding_box(queries, group, low_, high_);
  tree.near_box(low_, high_, reach2, found_);
  sort_found(tree);
}

void SharedWindow::open(const KdTree& tree, std::span<const double> query, double reach2) {
  reach2_ = reach2;
  tree.near_point(query, reach2, found_);
  sort_found(tree);
}

void SharedWindow::sort_found(const KdTree& tree) {
  dims_ = tree.dims();
  sort_by_place(found_.sure, tree.rows(), spare_);
  sort_by_place(found_.maybe, tree.rows(), spare_);
  const auto sure = found_.sure.keys();
  const auto maybe = found_.maybe.keys();
  sure_.resize(sure.size());
  for (std::size_t i = 0; i < sure.size(); ++i) sure_[i] = key_place(sure[i]);

  words_ = (maybe.size() + 63) / 64;
  const std::size_t stride = 64 * words_;
  places_.resize(maybe.size());
  sure_before_.assign(stride, static_cast<std::uint32_t>(sure.size()));
  columns_.resize(dims_ * stride);
  mask_.resize(words_);
  before_.resize(words_ + 1);
  std::uint32_t passed = 0;
  for (std::size_t i = 0; i < maybe.size(); ++i) {
    places_[i] = key_place(maybe[i]);
    while (passed < sure_.size() && sure_[passed] < places_[i]) ++passed;
    sure_before_[i] = passed;
    for (std::size_t j = 0; j < dims_; ++j) {
      columns_[j * stride + i] = tree.value(key_row(maybe[i]), j);
    }
  }
  for (std::size_t j = 0; j < dims_; ++j) {
    for (std::size_t i = maybe.size(); i < stride; ++i) {
      columns_[j * stride + i] = std::numeric_limits<double>::infinity();
    }
  }
}

std::size_t SharedWindow::look(std::span<const double> query) {
  before_[0] = 0;
  if (words_ == 0) return sure_.size();
  mask_near(columns_.data(), 64 * words_, dims_, words_, query.data(), reach2_, mask_.data());
  return sure_.size() + count_bits(mask_.data(), words_, before_.data());
}

void SharedWindow::select(std::span<const std::uint32_t> ranks,
                          std::span<std::uint32_t> slots) const {
  select_ranks({static_cast<std::uint32_t>(sure_.size()), words_, sure_before_.data(), mask_.data(),
                before_.data()},
               ranks, slots.data());
}

}  // namespace tare
