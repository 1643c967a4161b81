// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <string_view>

namespace tare::serve {

/// The ids of the last observed rows. A tree, not a hash table: clients choose the ids, and could
/// choose those that fall into one bucket. Not thread-safe.
class SeenIds {
 public:
  explicit SeenIds(std::size_t most) : most_(most) {}

  bool has(std::string_view id) const { return ids_.contains(id); }
  /// False if it is there already. Beyond `most` the oldest one is forgotten.
  bool add(std::string_view id);
  /// Takes back the last add().
  void take_back();
  void clear() noexcept;
  std::size_t size() const noexcept { return ids_.size(); }

 private:
  using Ids = std::set<std::string, std::less<>>;

  std::size_t most_;
  Ids ids_;
  std::deque<Ids::iterator> order_;  // the oldest first
};

}  // namespace tare::serve
