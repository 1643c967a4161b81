// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// The source of randomness. A seed belongs to a task, never to a thread.
struct Seed {
  std::uint64_t value = 0;
};

/// The seed of part `index` of a task: different parts get independent streams.
Seed split(Seed seed, std::uint64_t index);

/// xoshiro256++, with its own distributions: the standard library's differ between compilers, and
/// a model must not.
class Rng {
 public:
  explicit Rng(Seed seed);

  std::uint64_t next();
  /// In [0, 1), 53 bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In 0, ..., bound - 1, without bias. bound > 0.
  std::uint64_t below(std::uint64_t bound);
  double normal();

 private:
  std::array<std::uint64_t, 4> state_;
};

template <class T>
void shuffle(std::span<T> values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

/// 0, ..., count - 1 in random order.
std::vector<std::size_t> random_permutation(std::size_t count, Rng& rng);

}  // namespace tare
