// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/line_sweep.h"

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

}  // namespace tare
