// SPDX-License-Identifier: BSD-3-Clause
// Online methods on streams whose change is known: coverage, width, score, the difference from the
// levels beside the proven bound, and how soon the coverage is back after a shift. Prints Markdown.
//
//   online_streams [SEEDS [ROWS]]     3 3000
//
// A reference method stands twice: as its authors set it, and with the step and scores of their
// grids whose mean Winkler score on that stream is the lowest, which nobody knows beforehand.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/strings.h"
#include "online/methods/method_table.h"
#include "tare/base/rng.h"

namespace {

using namespace tare;

constexpr double kConfidence = 0.9;
constexpr std::size_t kStart = 300;
constexpr std::size_t kStretch = 100;
constexpr const char* kAdversary = "an adversary within 10";

/// The target of a row of a stream of `rows`, with prediction 0, for an answer from low to high.
struct Stream {
  std::string name;
  bool shifts;  // in the middle
  std::function<double(std::size_t t, std::size_t rows, double low, double high, Rng& rng)> target;
};

std::vector<Stream> streams() {
  const auto of_time = [](auto law) {
    return [law](std::size_t t, std::size_t rows, double, double, Rng& rng) {
      return law(static_cast<double>(t) / static_cast<double>(rows), t, rng);
    };
  };
  return {
      {"steady", false, of_time([](double, std::size_t, Rng& rng) { return rng.normal(); })},
      {"the mean shifts by 3", true, of_time([](double u, std::size_t, Rng& rng) {
         return (u < 0.5 ? 0.0 : 3.0) + rng.normal();
       })},
      {"the scale shifts by 4", true, of_time([](double u, std::size_t, Rng& rng) {
         return (u < 0.5 ? 1.0 : 4.0) * rng.normal();
       })},
      {"slow drift of mean and scale", false, of_time([](double u, std::size_t, Rng& rng) {
         return 3.0 * std::sin(6.0 * u) + (1.0 + 2.0 * u) * rng.normal();
       })},
      {"bursts of variance", false, of_time([](double, std::size_t t, Rng& rng) {
         return (t % 500 < 100 ? 5.0 : 1.0) * rng.normal();
       })},
      {"a season in the scale", false, of_time([](double, std::size_t t, Rng& rng) {
         return (t % 24 < 8 ? 2.0 : 0.3) * rng.normal();
       })},
      // It puts the target 0.1 outside, on a random side, as long as that is within 10.
      // No score says what is best there, so the setting is the one whose coverage is nearest.
      {kAdversary, false,
       [](std::size_t, std::size_t, double low, double high, Rng& rng) {
         const double above = std::isfinite(high) ? high + 0.1 : 11.0;
         const double below = std::isfinite(low) ? low - 0.1 : -11.0;
         const bool up = rng.below(2) == 0;
         return std::clamp(up ? above : below, -10.0, 10.0);
       }},
  };
}

struct Figures {
  double coverage = 0.0, worst = 0.0, width = 0.0, winkler = 0.0, away = 0.0, bound = 0.0,
         recovery = 0.0;

  void add(const Figures& one, double share) {
    coverage += share * one.coverage;
    worst += share * one.worst;
    width += share * one.width;
    winkler += share * one.winkler;
    away = std::max(away, one.away);
    bound = std::max(bound, one.bound);
    recovery += share * one.recovery;
  }
};

Figures measure(const Stream& stream, const std::string& method, const Params& params,
                std::size_t rows, Seed seed) {
  OnlineSetup setup;
  const auto [low_level, high_level] = interval_levels(kConfidence);
  setup.levels = {low_level, high_level};
  setup.start = kStart;
  setup.params = params;
  const auto online = find_online_method(method).make(setup);
  Rng rng(seed);
  OnlineAnswer answer;
  Figures figures;
  std::vector<double> inside;
  double below_low = 0.0;
  double below_high = 0.0;
  for (std::size_t t = 0; t < rows; ++t) {
    const OnlineRow row{t, 0.0, {}};
    online->answer(row, answer);
    const double low = answer.quantiles[0];
    const double high = answer.quantiles[1];
    const double y = stream.target(t, rows, low, high, rng);
    online->learn(row, answer, y);
    if (t < kStart) continue;
    inside.push_back(low <= y && y <= high ? 1.0 : 0.0);
    below_low += y <= low ? 1.0 : 0.0;
    below_high += y <= high ? 1.0 : 0.0;
    figures.width += high - low;
    figures.winkler +=
        high - low + 2.0 / (1.0 - kConfidence) * (std::max(low - y, 0.0) + std::max(y - high, 0.0));
  }
  const auto count = static_cast<double>(inside.size());
  figures.width /= count;
  figures.winkler /= count;
  figures.away = std::max(std::abs(below_low / count - low_level.value()),
                          std::abs(below_high / count - high_level.value()));
  figures.bound = std::max(online->bound(0), online->bound(1));
  double recent = 0.0;
  figures.worst = 1.0;
  // The window of the first stretch is whole 100 rows after the shift.
  const std::size_t shift = rows / 2 - kStart;
  figures.recovery = static_cast<double>(inside.size() - shift);
  for (std::size_t i = inside.size(); i-- > 0;) {
    recent += inside[i];
    if (i + kStretch < inside.size()) recent -= inside[i + kStretch];
    if (i + kStretch > inside.size()) continue;
    const double moving = recent / double{kStretch};
    figures.worst = std::min(figures.worst, moving);
    if (i >= shift && std::abs(moving - kConfidence) <= 0.05 + 1e-12) {
      figures.recovery = static_cast<double>(i - shift + kStretch);
    }
  }
  for (const double one : inside) figures.coverage += one / count;
  return figures;
}

Figures mean_of(const Stream& stream, const std::string& method, const Params& params,
                std::size_t rows, std::size_t seeds) {
  Figures mean;
  for (std::size_t s = 0; s < seeds; ++s) {
    mean.add(measure(stream, method, params, rows, split(Seed{2022}, s)),
             1.0 / static_cast<double>(seeds));
  }
  return mean;
}

/// All combinations of the steps that a method's authors try and both kinds of scores.
std::vector<Params> grid_of(const OnlineMethodInfo& method) {
  std::vector<Params> grid = {Params{}};
  for (const ParamInfo& option : method.options) {
    std::vector<std::string> values;
    if (option.name == "step") values = split_text(std::string(option.grid), ',');
    if (option.name == "scores") values = {"absolute", "signed"};
    if (values.empty()) continue;
    std::vector<Params> next;
    for (const Params& params : grid) {
      for (const std::string& value : values) {
        next.push_back(params);
        next.back().set(std::string(option.name), value);
      }
    }
    grid = std::move(next);
  }
  return grid;
}

std::string text_of(const Params& params) {
  std::string text;
  for (const auto& [name, value] : params.all()) {
    text += (text.empty() ? "" : ", ") + fmt::format("{} {}", name, value);
  }
  return text;
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f}", value) : "infinite";
}

void print(const Stream& stream, const std::string& method, const Figures& f) {
  fmt::print("| {} | {:.3f} | {:.2f} | {} | {} | {:.3f} | {} | {} |\n", method, f.coverage, f.worst,
             number(f.width), number(f.winkler), f.away,
             f.bound < 1.0 ? fmt::format("{:.3f}", f.bound) : "none",
             stream.shifts ? fmt::format("{:.0f}", f.recovery) : "");
}

}  // namespace

int main(int count, char** values) {
  const std::size_t seeds = count > 1 ? std::strtoull(values[1], nullptr, 10) : 3;
  const std::size_t rows = count > 2 ? std::strtoull(values[2], nullptr, 10) : 3'000;
  if (seeds == 0 || rows < 2 * kStart + 2 * kStretch) {
    fmt::print(stderr, "usage: online_streams [SEEDS [ROWS]], with at least 1 seed and 800 rows\n");
    return 2;
  }
  for (const Stream& stream : streams()) {
    fmt::print("\n**{}**\n\n", stream.name);
    fmt::print(
        "| method | coverage | worst 100 rows | mean width | mean Winkler | difference from a "
        "level, "
        "largest | proven | rows to recover |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const OnlineMethodInfo& method : online_methods()) {
      const std::string name(method.name);
      print(stream, name, mean_of(stream, name, {}, rows, seeds));
      const std::vector<Params> grid = grid_of(method);
      if (grid.size() == 1) continue;
      Figures best;
      best.winkler = std::numeric_limits<double>::infinity();
      const Params* chosen = nullptr;
      for (const Params& params : grid) {
        const Figures one = mean_of(stream, name, params, rows, seeds);
        const double off = std::abs(one.coverage - kConfidence);
        const bool is_better = stream.name == kAdversary
                                   ? off < std::abs(best.coverage - kConfidence)
                                   : one.winkler < best.winkler;
        if (chosen != nullptr && !is_better) continue;
        best = one;
        chosen = &params;
      }
      print(stream, fmt::format("{}, best: {}", name, text_of(*chosen)), best);
    }
  }
}
