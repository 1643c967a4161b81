// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arrays.h"
#include "base/fail.h"
#include "bindings.h"
#include "data/schema.h"
#include "interruptible.h"
#include "io/select_columns.h"
#include "tare/calibrate/shift.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

/// The part of the fit's seed that the tool takes for the weights, so that both give the same.
constexpr std::uint64_t kSeedPart = 3003;

ShiftWeights weights_towards(const Table2d<double>& x, const std::optional<Vector<double>>& weight,
                             const Table2d<double>& fresh, std::uint64_t seed, std::size_t threads,
                             const nb::object& progress) {
  std::span<const double> given;
  if (weight) given = span_of(*weight);
  ShiftWeights weights;
  try {
    run_interruptible(threads, progress, [&](const Execution& how) {
      weights = weigh_towards(view_of(x), given, view_of(fresh), split(Seed{seed}, kSeedPart), how);
    });
  } catch (const Error& error) {
    ErrorDetails details = error.details();
    details.option = "shift_to";
    fail(error.code(), std::move(details), "{}", error.problem());
  }
  return weights;
}

/// The schema for rows of a series, `window` of them at a time.
std::shared_ptr<Schema> windowed_schema(const Schema& schema, std::size_t window) {
  auto windowed = std::make_shared<Schema>(schema);
  windowed->set_window(window);
  return windowed;
}

/// Features of a table's rows, found by name, without windows.
NewArray<double> encode_features(const Schema& schema, const Table& table,
                                 const std::string& missing) {
  const auto wanted = schema.requests(table.source, table.names(), Need::kFeatures);
  const MissingPolicy policy = parse_missing_policy(missing);
  return matrix_array(schema.encode(select_columns(table, wanted), Need::kFeatures, policy).x);
}

}  // namespace

void bind_shift(nb::module_& module) {
  module.attr("largest_window") = kMaxWindow;
  module.def("windowed_schema", &windowed_schema, nb::arg("schema"), nb::arg("window"));
  module.def("encode_features", &encode_features, nb::arg("schema"), nb::arg("table"),
             nb::arg("missing"));
  nb::class_<ShiftWeights>(module, "ShiftWeights",
                           "Weights that make the rows of a fit resemble the rows to predict.")
      .def_prop_ro("weight",
                   [](const ShiftWeights& weights) { return vector_array(weights.weight); })
      .def_ro("effective_rows", &ShiftWeights::effective_rows);
  module.def("weigh_towards", &weights_towards, nb::arg("x"), nb::arg("weight").none(),
             nb::arg("fresh"), nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace tare::python
