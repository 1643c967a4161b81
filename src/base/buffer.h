// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tare {

/// Read-only values that are either owned or lie in a mapped file that is kept open for them.
/// shared_ptr because copies of a model, and the file's other tensors, share one mapping.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::vector<T> values) {
    auto owned = std::make_shared<const std::vector<T>>(std::move(values));
    values_ = *owned;
    owner_ = std::move(owned);
  }
  Buffer(std::span<const T> values, std::shared_ptr<const void> owner)
      : values_(values), owner_(std::move(owner)) {}

  std::span<const T> span() const noexcept { return values_; }
  operator std::span<const T>() const noexcept { return values_; }
  std::size_t size() const noexcept { return values_.size(); }
  bool empty() const noexcept { return values_.empty(); }
  const T* data() const noexcept { return values_.data(); }
  const T& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::span<const T> values_;
  std::shared_ptr<const void> owner_;
};

}  // namespace tare
