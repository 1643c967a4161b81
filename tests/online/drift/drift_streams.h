// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "online/drift/drift_watch.h"

namespace tare {

using DriftDraw = std::function<double(Rng&)>;

struct DriftLaw {
  std::string name;
  DriftDraw draw;
};

/// Student's t with 2 degrees of freedom, whose variance is infinite.
inline double draw_heavy(Rng& rng) {
  const double u = rng.uniform(1e-12, 1.0 - 1e-12);
  return (2.0 * u - 1.0) / std::sqrt(2.0 * u * (1.0 - u));
}

inline std::vector<DriftLaw> steady_laws() {
  return {{"normal", [](Rng& rng) { return rng.normal(); }},
          {"heavy tails", draw_heavy},
          {"four values", [](Rng& rng) { return std::floor(4.0 * std::pow(rng.uniform(), 2)); }},
          {"a constant", [](Rng&) { return 1.5; }}};
}

/// Scores before and from row `change` on.
struct DriftStream {
  DriftDraw before, after;
  std::uint64_t change = 0;
  std::uint64_t rows = 0;
};

/// The alarm of a stream without features.
inline std::optional<DriftAlarm> watch_stream(const DriftOptions& options,
                                              const DriftStream& stream, std::uint64_t number) {
  DriftWatch watch(options);
  Rng rng(split(Seed{17}, number));
  for (std::uint64_t row = 0; row < stream.rows && !watch.alarm(); ++row) {
    watch.step(row < stream.change ? stream.before(rng) : stream.after(rng), {});
  }
  return watch.alarm();
}

}  // namespace tare
