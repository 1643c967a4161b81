// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "tare/evaluate/metrics.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

std::vector<double> values_of(const std::vector<Level>& levels) {
  std::vector<double> values;
  for (const Level& level : levels) values.push_back(level.value());
  return values;
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
  module.def("observed_levels", [](const Targets& y, const Quantiles& q) {
    return vector_array(observed_levels(span_of(y), view_of(q)));
  });
  module.def("mace", [](const Targets& y, const Quantiles& q, const Values& levels) {
    return mace(span_of(y), view_of(q), levels_of(levels));
  });
  module.def("agce",
             [](const Targets& y, const Quantiles& q, const Values& levels, std::uint64_t seed) {
               return agce(span_of(y), view_of(q), levels_of(levels), Seed{seed});
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
  module.def("winkler_score",
             [](const Targets& y, const Targets& lower, const Targets& upper, double confidence) {
               return winkler_score(span_of(y), span_of(lower), span_of(upper), confidence);
             });
  module.def("pit_histogram", [](const Targets& y, const Quantiles& q) {
    return vector_array(pit_histogram(span_of(y), view_of(q)));
  });
}

}  // namespace tare::python
