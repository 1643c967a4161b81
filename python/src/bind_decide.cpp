// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apply/decision/decision_tally.h"
#include "arrays.h"
#include "base/parallel.h"
#include "bindings.h"
#include "tare/decide/cost.h"
#include "tare/decide/decision.h"
#include "tare/decide/risk_control.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

std::vector<double> level_values(std::span<const Level> levels) {
  std::vector<double> values;
  for (const Level& level : levels) values.push_back(level.value());
  return values;
}

Cost cost_table(const Vector<double>& action, const Vector<double>& outcome,
                const Vector<double>& cost) {
  std::vector<Cost::Entry> entries(action.shape(0));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {action.data()[i], outcome.data()[i], cost.data()[i]};
  }
  return Cost::table(entries);
}

using DecisionNotices = std::vector<std::tuple<std::string, std::size_t, std::string>>;

/// Columns action, cost and cost_of_mean, and notices about the rows.
std::pair<NewArray<double>, DecisionNotices> decide_rows(const Decider& decider,
                                                         const Table2d<double>& quantiles,
                                                         std::size_t threads) {
  const auto view = view_of(quantiles);
  Matrix values(view.rows(), 3);
  std::vector<Decision> made(view.rows());
  {
    const nb::gil_scoped_release unlocked;
    Execution how;
    how.threads = threads;
    constexpr std::size_t kRowsOfATask = 16;
    parallel_blocks(how, view.rows(), kRowsOfATask, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) made[i] = decider.decide(view.row(i));
    });
  }
  DecisionTally tally;
  for (std::size_t i = 0; i < made.size(); ++i) {
    values(i, 0) = made[i].action;
    values(i, 1) = made[i].cost;
    values(i, 2) = made[i].cost_of_mean;
    tally.add(made[i]);
  }
  DecisionNotices notices;
  for (const Notice& notice : tally.notices()) {
    notices.emplace_back(notice.code, notice.rows, notice.text);
  }
  return {matrix_array(std::move(values)), std::move(notices)};
}

NamedValues risk_choice(const RiskControl& control) {
  const RiskChoice choice = control.choose_or_fail();
  NamedValues result;
  result["place"] = *choice.place;
  result["rows"] = choice.rows;
  result["mean_loss"] = choice.mean_loss;
  result["corrected_loss"] = choice.corrected;
  result["rows_at_bound"] = choice.at_bound;
  return result;
}

}  // namespace

void bind_decide(nb::module_& module) {
  module.def("law_levels", [] { return level_values(law_levels()); });
  module.def("risk_levels", [] { return level_values(risk_levels()); });
  nb::class_<Cost>(module, "Cost")
      .def_static("over_under", &Cost::over_under, nb::arg("over"), nb::arg("under"))
      .def_static("table", &cost_table, nb::arg("action"), nb::arg("outcome"), nb::arg("cost"))
      .def_static(
          "parse", [](const std::string& text) { return Cost::parse(text); }, nb::arg("text"))
      .def_prop_ro("best_level", [](const Cost& cost) -> std::optional<double> {
        if (!cost.best_level()) return std::nullopt;
        return cost.best_level()->value();
      });
  nb::class_<Decider>(module, "Decider")
      .def(nb::init<Cost>(), nb::arg("cost"))
      .def_prop_ro("levels", [](const Decider& decider) { return level_values(decider.levels()); })
      .def("decide", &decide_rows, nb::arg("quantiles"), nb::arg("threads"));
  nb::class_<RiskControl>(module, "RiskControl")
      .def(
          "__init__",
          [](RiskControl* self, double at_most, double bound, bool rises) {
            using Side = UnitLoss::Side;
            new (self) RiskControl(risk_levels().size(),
                                   {at_most, bound, rises ? Side::kOver : Side::kUnder});
          },
          nb::arg("at_most"), nb::arg("bound"), nb::arg("rises"))
      .def(
          "add",
          [](RiskControl& control, const Table2d<double>& losses) {
            const auto view = view_of(losses);
            const nb::gil_scoped_release unlocked;
            for (std::size_t i = 0; i < view.rows(); ++i) control.add(view.row(i));
          },
          nb::arg("losses"))
      .def("choose", &risk_choice);
}

}  // namespace tare::python
