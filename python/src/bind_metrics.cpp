// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "tare/evaluate/metrics.h"
#include "tare/evaluate/score_table.h"
#include "tare/evaluate/scorecard.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

std::vector<double> values_of(const std::vector<Level>& levels) {
  std::vector<double> values;
  for (const Level& level : levels) values.push_back(level.value());
  return values;
}

/// An (n, 2) array: where each target's jump begins and ends.
std::vector<TargetJump> jumps_of(const Table2d<double>& array) {
  if (array.shape(1) != 2) throw nb::value_error("jumps should have shape (n, 2).");
  std::vector<TargetJump> jumps(array.shape(0));
  const auto view = view_of(array);
  for (std::size_t i = 0; i < jumps.size(); ++i) jumps[i] = {view(i, 0), view(i, 1)};
  return jumps;
}

}  // namespace

void bind_metrics(nb::module_& module) {
  using Targets = Vector<double>;
  using Quantiles = Table2d<double>;
  using Values = std::vector<double>;
  module.def("metric_levels", [] { return values_of(metric_levels()); });
  module.def("crps_levels", [] { return values_of(crps_levels()); });
  module.def("interval_levels", [](double confidence) {
    const auto [low, high] = interval_levels(confidence);
    return std::vector<double>{low.value(), high.value()};
  });
  module.def("scorecard_levels", [] {
    const auto levels = Scorecard::levels();
    return values_of({levels.begin(), levels.end()});
  });
  module.def("target_jumps", [](const Targets& y, const Quantiles& q, const Values& levels) {
    const std::vector<TargetJump> jumps = target_jumps(span_of(y), view_of(q), levels_of(levels));
    Matrix array(jumps.size(), 2);
    for (std::size_t i = 0; i < jumps.size(); ++i) {
      array(i, 0) = jumps[i].low;
      array(i, 1) = jumps[i].high;
    }
    return matrix_array(std::move(array));
  });
  module.def("observed_levels_counted", [](const Targets& y, const Quantiles& q) {
    return vector_array(observed_levels_counted(span_of(y), view_of(q)));
  });
  module.def("observed_levels", [](const Targets& y, const Quantiles& q, const Values& levels,
                                   const Quantiles& jumps) {
    return vector_array(
        observed_levels(span_of(y), view_of(q), levels_of(levels), jumps_of(jumps)));
  });
  module.def("mace_counted", [](const Targets& y, const Quantiles& q, const Values& levels) {
    return mace_counted(span_of(y), view_of(q), levels_of(levels));
  });
  module.def("mace", [](const Targets& y, const Quantiles& q, const Values& levels,
                        const Quantiles& jumps) {
    return mace(span_of(y), view_of(q), levels_of(levels), jumps_of(jumps));
  });
  module.def("agce_counted",
             [](const Targets& y, const Quantiles& q, const Values& levels, std::uint64_t seed) {
               return agce_counted(span_of(y), view_of(q), levels_of(levels), Seed{seed});
             });
  module.def("agce", [](const Targets& y, const Quantiles& q, const Values& levels,
                        std::uint64_t seed, const Quantiles& jumps) {
    return agce(span_of(y), view_of(q), levels_of(levels), Seed{seed}, jumps_of(jumps));
  });
  module.def("split_mace_floor", [](const Targets& y, const Quantiles& q, const Values& levels,
                                    const Quantiles& jumps) {
    return split_mace_floor(span_of(y), view_of(q), levels_of(levels), jumps_of(jumps));
  });
  module.def("split_agce_floor", [](const Targets& y, const Quantiles& q, const Values& levels,
                                    std::uint64_t seed, const Quantiles& jumps) {
    return split_agce_floor(span_of(y), view_of(q), levels_of(levels), Seed{seed}, jumps_of(jumps));
  });
  module.def("mace_floor", [](std::size_t rows, const Values& levels) {
    return mace_floor(rows, levels_of(levels));
  });
  module.def("agce_floor", [](std::size_t rows, const Values& levels, std::uint64_t seed) {
    return agce_floor(rows, levels_of(levels), Seed{seed});
  });
  module.def("check_score", [](const Targets& y, const Quantiles& q, const Values& levels) {
    return check_score(span_of(y), view_of(q), levels_of(levels));
  });
  module.def("crps",
             [](const Targets& y, const Quantiles& q) { return crps(span_of(y), view_of(q)); });
  module.def("interval_length", [](const Targets& lower, const Targets& upper) {
    return interval_length(span_of(lower), span_of(upper));
  });
  module.def("interval_coverage", [](const Targets& y, const Targets& lower, const Targets& upper) {
    return interval_coverage(span_of(y), span_of(lower), span_of(upper));
  });
  module.def("split_coverage", [](const Targets& y, const Targets& lower, const Targets& upper,
                                  double confidence, const Quantiles& jumps) {
    const auto [low, high] = interval_levels(confidence);
    return split_coverage(span_of(y), span_of(lower), span_of(upper), low, high, jumps_of(jumps));
  });
  module.def("winkler_score",
             [](const Targets& y, const Targets& lower, const Targets& upper, double confidence) {
               return winkler_score(span_of(y), span_of(lower), span_of(upper), confidence);
             });
  // Every row of the table of scores, but for those of which these rows show nothing. `q` at
  // metric_levels(), `crps` their mean.
  module.def("scores", [](const Targets& y, const Quantiles& q, const Quantiles& jumps,
                          const Targets& lower, const Targets& upper, double confidence,
                          double crps, std::uint64_t seed) {
    const std::vector<Level> levels = metric_levels();
    const std::vector<TargetJump> of_rows = jumps_of(jumps);
    const ScoredRows rows{.y = span_of(y),
                          .q = view_of(q),
                          .levels = levels,
                          .jumps = of_rows,
                          .lower = span_of(lower),
                          .upper = span_of(upper),
                          .confidence = confidence,
                          .crps = crps,
                          .effective_n = {},
                          .fallback_rows = {},
                          .group_seed = Seed{seed},
                          .floor_seed = Seed{seed}};
    nb::typed<nb::dict, nb::str, double> values;
    for (const ScoreInfo& info : score_table()) {
      const std::string_view name = info.at_confidence.empty() ? info.name : info.at_confidence;
      if (const auto value = info.measure(rows)) values[nb::str(name.data(), name.size())] = *value;
    }
    return values;
  });
  module.def("pit_histogram", [](const Targets& y, const Quantiles& q) {
    return vector_array(pit_histogram(span_of(y), view_of(q)));
  });
  module.def("pit_histogram_at", [](const Targets& y, const Quantiles& q, const Values& edges,
                                    const Quantiles& jumps) {
    return vector_array(pit_histogram(span_of(y), view_of(q), levels_of(edges), jumps_of(jumps)));
  });
}

}  // namespace tare::python
