// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/line_sweep.h"

#include <cassert>

namespace tare {

void LineSweep::move_to(const SortedLine::Window& window) {
  const auto places = line_.places();
  if (window.first >= at_.last || window.last <= at_.first) {  // nothing in common
    for (; at_.first < at_.last; ++at_.first) inside_.remove(places[at_.first]);
    at_ = {window.first, window.first};
  }
  // Rows enter before others leave, so that the window is never turned inside out.
  while (at_.last < window.last) inside_.add(places[at_.last++]);
  while (at_.first > window.first) inside_.add(places[--at_.first]);
  while (at_.last > window.last) inside_.remove(places[--at_.last]);
  while (at_.first < window.first) inside_.remove(places[at_.first++]);
}

void LineSweep::select(std::span<std::uint32_t> places) {
  assert(places.size() == levels_.size() && rows() > 0);
  if (ranks_of_ != rows()) {
    ranks_of_ = rows();
    for (std::size_t j = 0; j < ranks_.size(); ++j) {
      ranks_[j] = static_cast<std::uint32_t>(levels_[j].rank(ranks_of_));
    }
  }
  inside_.select(ranks_, places);
}

}  // namespace tare
