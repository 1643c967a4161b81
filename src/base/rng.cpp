// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/rng.h"

#include <bit>
#include <cmath>
#include <numeric>

namespace tare {
namespace {

// splitmix64: turns any 64 bits, however regular, into a well-mixed stream.
std::uint64_t mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Seed split(Seed seed, std::uint64_t index) {
  std::uint64_t state = seed.value;
  state = mix(state) ^ (index * 0xd1342543de82ef95ULL);
  return Seed{mix(state)};
}

Rng::Rng(Seed seed) : state_{} {
  std::uint64_t state = seed.value;
  for (std::uint64_t& word : state_) word = mix(state);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::below(std::uint64_t bound) {
  // The lowest 2^64 mod bound values would make some results more likely; draw again there.
  const std::uint64_t reject = (0 - bound) % bound;
  std::uint64_t draw = next();
  while (draw < reject) draw = next();
  return draw % bound;
}

double Rng::normal() {
  // Marsaglia's polar method; the second value is thrown away to keep the generator stateless.
  for (;;) {
    const double a = 2.0 * uniform() - 1.0;
    const double b = 2.0 * uniform() - 1.0;
    const double s = a * a + b * b;
    if (s > 0.0 && s < 1.0) return a * std::sqrt(-2.0 * std::log(s) / s);
  }
}

std::vector<std::size_t> random_permutation(std::size_t count, Rng& rng) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span<std::size_t>(order), rng);
  return order;
}

}  // namespace tare
