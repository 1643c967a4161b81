// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <utility>

namespace tare::serve {

/// A round of something that goes on until the service stops, such as waiting for a connection:
/// from its start until its handler is called. The handler holds the round. Where asio has no
/// memory to call the handler, it destroys it, and the round is over, too: so that `under_way`
/// tells whether another must be started.
class Round {
 public:
  /// Whether this is now the round that is under way; false if there is one already.
  static bool begin(std::atomic<bool>& under_way) { return !under_way.exchange(true); }

  /// After begin().
  explicit Round(std::atomic<bool>& under_way) : under_way_(&under_way) {}
  Round(Round&& other) noexcept : under_way_(std::exchange(other.under_way_, nullptr)) {}
  Round& operator=(Round&&) = delete;
  ~Round() { end(); }

  void end() noexcept {
    if (under_way_ != nullptr) *under_way_ = false;
    under_way_ = nullptr;
  }

 private:
  std::atomic<bool>* under_way_;
};

}  // namespace tare::serve
