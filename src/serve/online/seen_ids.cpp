// SPDX-License-Identifier: BSD-3-Clause
#include "serve/online/seen_ids.h"

namespace tare::serve {

bool SeenIds::add(std::string_view id) {
  const auto [place, is_new] = ids_.emplace(id);
  if (!is_new) return false;
  try {
    order_.push_back(place);
  } catch (...) {
    ids_.erase(place);
    throw;
  }
  if (order_.size() > most_ && order_.size() > 1) {  // the last one can be taken back
    ids_.erase(order_.front());
    order_.pop_front();
  }
  return true;
}

void SeenIds::take_back() {
  ids_.erase(order_.back());
  order_.pop_back();
}

void SeenIds::clear() noexcept {
  ids_.clear();
  order_.clear();
}

}  // namespace tare::serve
