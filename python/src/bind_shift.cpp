// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
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
  run_interruptible(threads, progress, [&](const Execution& how) {
    weights = weigh_towards(view_of(x), given, view_of(fresh), split(Seed{seed}, kSeedPart), how);
  });
  return weights;
}

}  // namespace

void bind_shift(nb::module_& module) {
  nb::class_<ShiftWeights>(module, "ShiftWeights",
                           "Weights that make the rows of a fit resemble the rows to predict.")
      .def_prop_ro("weight", [](const ShiftWeights& weights) { return vector_array(weights.weight); })
      .def_ro("effective_rows", &ShiftWeights::effective_rows);
  module.def("weigh_towards", &weights_towards, nb::arg("x"), nb::arg("weight").none(),
             nb::arg("fresh"), nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace tare::python
