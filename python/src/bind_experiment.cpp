// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/fail.h"
#include "bindings.h"
#include "evaluate/experiment/ranking.h"
#include "evaluate/experiment/runner.h"
#include "evaluate/experiment/summary.h"
#include "evaluate/experiment/tune.h"
#include "interruptible.h"
#include "report/pages/contest_report.h"
#include "tare/base/version.h"
#include "tare/calibrate/methods.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

using Options = std::map<std::string, std::string>;
constexpr const char* kScore = "CheckScore";

Params params_of(const Options& options) {
  Params params;
  for (const auto& [name, value] : options) params.set(name, value);
  return params;
}

Options options_of(const Params& params) {
  return Options(params.all().begin(), params.all().end());
}

CaseData case_data(const Table2d<double>& x, const Vector<double>& y) {
  CaseData data;
  data.rows.x = Matrix({x.data(), x.data() + x.size()}, x.shape(0), x.shape(1));
  data.rows.y.assign(span_of(y).begin(), span_of(y).end());
  return data;
}

struct CompareSettings {
  std::vector<std::pair<std::string, Options>> methods;
  std::size_t repeats = 10;
  double test_share = 0.1;
  double calibrate_share = 0.3;
  std::uint64_t seed = 1;
};

ExperimentPlan plan_of(const CompareSettings& settings) {
  ExperimentCase one;
  one.name = "X";
  one.file = "X";  // which is in memory
  one.target = "y";
  ExperimentPlan plan;
  plan.name = "compare";
  plan.title = one.name;
  plan.cases = {one};
  for (const auto& [name, options] : settings.methods) {
    plan.methods.push_back({std::string(find_method(name).name), params_of(options)});
  }
  plan.repeats = settings.repeats;
  plan.seed = Seed{settings.seed};
  plan.test_share = settings.test_share;
  plan.calibrate_share = settings.calibrate_share;
  return plan;
}

/// Every ranked method has a row.
const SummaryRow& summary_of(const SummaryTable& table, const RankedMethod& row) {
  return *std::ranges::find_if(table.rows, [&](const SummaryRow& one) {
    return one.method == row.method && one.options == row.options;
  });
}

/// A row of the ranking, with the members of `tare compare --json`.
NamedValues ranked_row(const RankedMethod& row, const SummaryTable& table) {
  NamedValues one;
  one["method"] = row.method;
  one["options"] = nb::cast(options_of(Params::parse(row.options)));
  one["repeats"] = row.repeats;
  one["check_score"] = row.score;
  one["behind"] = row.behind;
  one["behind_low"] = row.behind_low;
  one["behind_high"] = row.behind_high;
  one["tied"] = row.tied;
  one["p"] = row.p;
  one["p_corrected"] = row.adjusted;
  one["survives"] = row.survives();
  const SummaryRow& summary = summary_of(table, row);
  for (std::size_t k = 0; k < table.metrics.size(); ++k) {
    if (table.metrics[k] != kScore) one[nb::cast(table.metrics[k])] = summary.cells.at(k).mean;
  }
  for (const MetricValue& counted : summary.counted) one[nb::cast(counted.metric)] = counted.value;
  one["seconds"] = summary.seconds;
  return one;
}

/// The scores of every repeat, as `tare compare --out` writes them.
nb::typed<nb::list, NamedValues> trial_list(const Results& results) {
  nb::typed<nb::list, NamedValues> list;
  for (const auto& [key, result] : results) {
    NamedValues one;
    one["method"] = key.method;
    one["options"] = nb::cast(options_of(Params::parse(key.options)));
    one["repeat"] = key.repeat;
    one["seconds"] = result.seconds;
    for (const MetricValue& value : result.values) one[nb::cast(value.metric)] = value.value;
    list.append(one);
  }
  return list;
}

std::string contest_page(const ExperimentPlan& plan, const SummaryTable& table,
                         const Ranking& ranking, const RunReport& run) {
  ContestReport report;
  report.title = "Which method is best on X";
  report.provenance = fmt::format("tare {}, {} random splits of X, seed {}", kVersion, plan.repeats,
                                  plan.seed.value);
  report.table = table;
  report.ranking = {plan.title, kScore, ranking.methods, ranking.comparisons};
  report.repeats = plan.repeats;
  report.test_share = plan.test_share;
  report.failed = run.failed;
  return contest_html(report);
}

NamedValues compare(const Table2d<double>& x, const Vector<double>& y,
                    std::vector<std::pair<std::string, Options>> methods, std::size_t repeats,
                    double test_share, double calibrate_share, std::uint64_t seed,
                    std::size_t threads, const nb::object& progress) {
  const ExperimentPlan plan =
      plan_of({std::move(methods), repeats, test_share, calibrate_share, seed});
  check_plan(plan);
  const CaseData data = case_data(x, y);
  ResultFile results;
  RunReport run;
  run_interruptible(threads, progress,
                    [&](const Execution& how) { run = run_plan(plan, data, results, how); });
  const Summary summary = summarise(plan, results.results());
  if (summary.tables.empty()) {
    fail(ErrorCode::kBadData, "no method could be fitted: {}",
         run.failed.empty() ? "" : run.failed.front());
  }
  const SummaryTable& table = summary.tables[0];
  const Ranking ranking = rank_methods(plan, plan.cases[0], results.results(), kScore);
  nb::typed<nb::list, NamedValues> rows;
  for (const RankedMethod& row : ranking.methods) rows.append(ranked_row(row, table));
  NamedValues result;
  result["ranking"] = rows;
  result["trials"] = trial_list(results.results());
  result["comparisons"] = ranking.comparisons;
  result["comparisons_text"] = comparisons_text(ranking.methods, ranking.comparisons);
  result["mace_floor"] = table.floors.at(0) ? nb::cast(*table.floors.at(0)) : nb::none();
  result["failed"] = nb::cast(run.failed);
  result["html"] = contest_page(plan, table, ranking, run);
  return result;
}

using Grid = std::vector<std::pair<std::string, std::vector<std::string>>>;

Grid proposed_grid(const std::string& method, const Options& fixed) {
  Grid grid;
  for (const GridAxis& axis : default_grid(find_method(method), params_of(fixed))) {
    grid.emplace_back(axis.name, axis.values);
  }
  return grid;
}

NamedValues tune(const Table2d<double>& x, const Vector<double>& y, const std::string& method,
                 const Options& fixed, const Grid& grid, std::size_t random, std::size_t splits,
                 std::uint64_t seed, std::size_t threads, const nb::object& progress) {
  TuneOptions options;
  options.fixed = params_of(fixed);
  for (const auto& [name, values] : grid) options.grid.push_back({name, values});
  options.random = random;
  options.splits = splits;
  options.seed = Seed{seed};
  const Method& found = find_method(method);
  const MatrixView rows = view_of(x);
  const std::span<const double> targets = span_of(y);
  Tuned tuned;
  run_interruptible(threads, progress, [&](const Execution& how) {
    tuned = tune_method(found, rows, targets, options, how);
  });
  nb::typed<nb::list, NamedValues> trail;
  for (const TuneTrial& trial : tuned.trail) {
    NamedValues one;
    one["options"] = nb::cast(options_of(trial.params));
    one["check_score"] = trial.score;
    one["splits"] = trial.splits;
    trail.append(one);
  }
  NamedValues result;
  result["method"] = found.name;
  result["options"] = nb::cast(options_of(tuned.params));
  result["trail"] = trail;
  return result;
}

}  // namespace

void bind_experiment(nb::module_& module) {
  module.def("compare", &compare, nb::kw_only(), nb::arg("x"), nb::arg("y"), nb::arg("methods"),
             nb::arg("repeats"), nb::arg("test_share"), nb::arg("calibrate_share"), nb::arg("seed"),
             nb::arg("threads"), nb::arg("progress").none());
  module.def("proposed_grid", &proposed_grid, nb::arg("method"), nb::arg("fixed"));
  module.def("tune", &tune, nb::kw_only(), nb::arg("x"), nb::arg("y"), nb::arg("method"),
             nb::arg("fixed"), nb::arg("grid"), nb::arg("random"), nb::arg("splits"),
             nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace tare::python
