// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bands/band_rule.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {

BandRule parse_bands(const Params& params) {
  const std::string text = params.text(std::string(kBandsOption.name), "off");
  const std::string name = canonical_name(text);
  if (name == "on") return BandRule::kOn;
  if (name == "off") return BandRule::kOff;
  if (name == "auto") return BandRule::kAuto;
  fail_option("bands", text, "is on, off or auto");
}

std::vector<std::vector<std::size_t>> draw_halves(std::size_t rows, std::size_t count, bool blocks,
                                                  Seed seed) {
  constexpr std::size_t kBlocks = 20;
  std::vector<std::vector<std::size_t>> halves(count);
  for (std::size_t b = 0; b < count; ++b) {
    Rng rng(split(seed, b));
    std::vector<std::size_t>& half = halves[b];
    if (blocks) {
      std::vector<std::size_t> chosen = random_permutation(kBlocks, rng);
      chosen.resize(kBlocks / 2);
      for (std::size_t i = 0; i < rows; ++i) {
        if (std::ranges::find(chosen, i * kBlocks / rows) != chosen.end()) half.push_back(i);
      }
      continue;
    }
    half = random_permutation(rows, rng);
    half.resize(std::min(rows / 2, kMostHalfRows));
    std::ranges::sort(half);
  }
  return halves;
}

double deviation_scale(std::size_t part, std::size_t rows) {
  return std::sqrt(static_cast<double>(part) / static_cast<double>(rows - part));
}

}  // namespace tare
