// SPDX-License-Identifier: BSD-3-Clause
#include "serve/online/waiting_rows.h"

#include <algorithm>

namespace tare::serve {

Rows WaitingRow::rows() const {
  Rows one{.x = MatrixView(x.data(), 1, x.size())};
  if (!given.empty()) one.given = MatrixView(given.data(), 1, given.size());
  if (group) one.group = {&*group, 1};
  return one;
}

void WaitingRows::start(std::size_t features, std::size_t given, std::uint32_t lineage) {
  const std::lock_guard lock(guard_);
  features_ = features;
  given_ = given;
  lineage_ = lineage;
  const std::size_t bytes = (features + given) * sizeof(double) + sizeof(Slot);
  capacity_ = std::min(most_, kMostBytes / bytes);
  slots_ = {};
  numbers_ = {};
}

std::size_t WaitingRows::capacity() const {
  const std::lock_guard lock(guard_);
  return capacity_;
}

void WaitingRows::add(std::uint64_t first, const Rows& rows, std::uint32_t lineage) {
  const std::lock_guard lock(guard_);
  if (lineage != lineage_ || capacity_ == 0) return;
  const std::size_t width = features_ + given_;
  const std::size_t count = rows.x.rows();
  // Of more rows than there are slots, the first ones would be overwritten at once.
  for (std::size_t i = count - std::min(count, capacity_); i < count; ++i) {
    const std::size_t at = (first + i) % capacity_;
    if (at >= slots_.size()) {
      const std::size_t wanted = std::min(capacity_, std::max(at + 1, 2 * slots_.size()));
      numbers_.resize(wanted * width);
      slots_.resize(wanted);
    }
    slots_[at] = {.number = first + i,
                  .group = rows.group.empty() ? 0 : rows.group[i],
                  .has_group = !rows.group.empty(),
                  .is_used = true};
    const auto place = numbers_.begin() + static_cast<std::ptrdiff_t>(at * width);
    const auto x = rows.x.row(i);
    const auto after_x = std::copy(x.begin(), x.end(), place);
    if (given_ > 0) {
      const auto given = rows.given.row(i);
      std::copy(given.begin(), given.end(), after_x);
    }
  }
}

std::optional<WaitingRow> WaitingRows::find(std::uint64_t number, std::uint32_t lineage) const {
  const std::lock_guard lock(guard_);
  if (lineage != lineage_ || capacity_ == 0) return std::nullopt;
  const std::size_t at = number % capacity_;
  if (at >= slots_.size() || !slots_[at].is_used || slots_[at].number != number) {
    return std::nullopt;
  }
  const auto x = numbers_.begin() + static_cast<std::ptrdiff_t>(at * (features_ + given_));
  const auto given = x + static_cast<std::ptrdiff_t>(features_);
  WaitingRow row;
  row.x.assign(x, given);
  row.given.assign(given, given + static_cast<std::ptrdiff_t>(given_));
  if (slots_[at].has_group) row.group = slots_[at].group;
  return row;
}

}  // namespace tare::serve
