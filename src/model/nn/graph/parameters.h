// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace tare::nn {

/// A matrix of parameters, row-major, within the one vector that holds all of a network's.
struct Block {
  std::size_t offset = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;

  std::size_t size() const { return rows * cols; }
  template <class T>
  std::span<T> of(std::span<T> all) const {
    return all.subspan(offset, size());
  }
};

/// Hands out blocks one after the other. One vector means that an optimiser, a snapshot and a
/// comparison are each one loop over everything that is learned.
class Layout {
 public:
  Block add(std::size_t rows, std::size_t cols) {
    const Block block{size_, rows, cols};
    size_ += rows * cols;
    return block;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

}  // namespace tare::nn
