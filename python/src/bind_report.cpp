// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apply/row_encoder.h"
#include "arrays.h"
#include "bindings.h"
#include "calibrate/plain_schema.h"
#include "evaluate/cost_comparison.h"
#include "interruptible.h"
#include "io/select_columns.h"
#include "model.h"
#include "report/html/numbers.h"
#include "report/pages/model_report.h"
#include "tare/base/version.h"
#include "tare/calibrate/description.h"
#include "tare/evaluate/score_table.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

std::shared_ptr<const Schema> schema_of(const Model& model) {
  if (model.fitted.schema) return model.fitted.schema;
  return std::make_shared<const Schema>(plain_schema(model.get()));
}

/// (code, rows, text) of each.
using NoticeList = std::vector<std::tuple<std::string, std::size_t, std::string>>;

NoticeList notice_list(const std::vector<Notice>& notices) {
  NoticeList list;
  for (const Notice& notice : notices) list.emplace_back(notice.code, notice.rows, notice.text);
  return list;
}

/// The rows of a table as the model sees them, with their targets: windows, groups and given
/// predictions included.
NamedValues encode_rows(const Model& model, const Table& table,
                        const std::optional<std::string>& missing) {
  const std::shared_ptr<const Schema> schema = schema_of(model);
  std::optional<MissingPolicy> policy;
  if (missing) policy = parse_missing_policy(*missing);
  RowEncoder encoder(*schema, Need::kFeaturesAndTarget, policy);
  const auto wanted = encoder.requests(table.source, table.names(), {});
  encoder.encode(is_selected(table, wanted) ? table : select_columns(table, wanted));
  Encoded encoded = encoder.encoded();
  NamedValues result;
  const std::span<const std::uint32_t> group = encoder.rows().group;
  result["group"] = nb::none();
  if (!group.empty()) {
    result["group"] = vector_array(std::vector<std::uint32_t>(group.begin(), group.end()));
  }
  result["given"] = nb::none();
  if (encoded.given.cols() > 0) result["given"] = matrix_array(std::move(encoded.given));
  result["x"] = matrix_array(std::move(encoded.x));
  result["y"] = vector_array(std::move(encoded.y));
  result["rows"] = vector_array(std::move(encoded.rows));
  result["notices"] = nb::cast(notice_list(encoder.notices()));
  return result;
}

/// A column of names beside the features.
using GroupCells = std::pair<std::string, std::vector<std::string>>;

struct ReportWords {
  std::string model;  // in the title
  std::string data;
  Facts about_model;
  Facts about_data;
};

/// What is on the page beside the words.
struct ReportRows {
  Rows rows;
  std::span<const double> y;
  std::vector<GroupCells> groups;
};

constexpr std::size_t kReportBatchRows = 16'384;

Rows batch_of(const Rows& rows, std::size_t first, std::size_t count) {
  return count < rows.x.rows() ? some_rows(rows, first, count) : rows;
}

/// Of tables that are not files.
void rename_place(std::vector<ReportColumn>& columns) {
  for (ReportColumn& column : columns) {
    if (column.origin == ColumnOrigin::kDerived && column.name == "place in the file") {
      column.name = "place in X";
    }
  }
}

ModelReport make_report(const FittedModel& fitted, const Schema& schema, const ReportRows& of,
                        const ReportWords& words, Seed seed, const Execution& how,
                        Examination& exam, const std::optional<Cost>& cost) {
  std::optional<CostTally> worth;
  if (cost) worth.emplace(*cost);
  std::vector<std::string> names;
  for (const GroupCells& group : of.groups) names.push_back(group.first);
  ColumnGatherer gatherer(schema, names);
  const std::size_t rows = of.y.size();
  for (std::size_t first = 0; first < rows; first += kReportBatchRows) {
    how.progress("report", static_cast<double>(first) / static_cast<double>(rows));
    const std::size_t count = std::min(kReportBatchRows, rows - first);
    const Rows batch = batch_of(of.rows, first, count);
    exam.add(*fitted.model, batch, of.y.subspan(first, count), how);
    if (worth) worth->add(*fitted.model, batch, of.y.subspan(first, count), how);
    gatherer.add_features(batch.x);
  }
  for (std::size_t g = 0; g < of.groups.size(); ++g) {
    for (const std::string& cell : of.groups[g].second) gatherer.add_group_cell(g, cell);
  }
  std::vector<ReportColumn> columns = std::move(gatherer).finish(exam.outcomes());
  rename_place(columns);
  ModelReport report = examine_rows(exam, std::move(columns), seed);
  const Description model = describe(fitted);
  report.model_name = words.model;
  report.data_name = words.data;
  report.provenance =
      fmt::format("tare {}, {} on {} of {}", kVersion, fitted.method, rows_text(rows), words.data);
  report.target = schema.target().empty() ? "y" : schema.target();
  report.series = schema.window() > 1;
  report.guaranteed = model.guarantee.has_value();
  report.model = words.about_model;
  report.data = words.about_data;
  if (model.kernel) report.bandwidth = model.kernel->bandwidth;
  report.of_first_fold = model.of_first_fold;
  report.trail = model.trail;
  if (worth) report.worth = worth->finish(seed);
  return report;
}

nb::typed<nb::dict, nb::str, double> score_values(const Scores& scores) {
  nb::typed<nb::dict, nb::str, double> values;
  for (std::size_t k = 0; k < scores.values.size(); ++k) {
    const std::string_view name = score_table()[k].name;
    if (scores.values[k]) values[nb::str(name.data(), name.size())] = *scores.values[k];
  }
  return values;
}

NamedValues rule_values(const RuleCost& rule) {
  NamedValues values;
  values["cost"] = rule.mean;
  values["error"] = rule.error;
  values["more_than_action"] = rule.extra;
  values["more_error"] = rule.extra_error;
  return values;
}

/// By the names of `tare evaluate --json`.
NamedValues worth_values(const CostComparison& worth) {
  NamedValues values;
  values["costs"] = nb::str(worth.costs.data(), worth.costs.size());
  values["rows"] = worth.rows;
  values["expected"] = worth.expected;
  values["action"] = rule_values(worth.action);
  values["mean"] = rule_values(worth.mean);
  values["mean_plus_margin"] = rule_values(worth.margin);
  values["margin"] = nb::make_tuple(worth.margin_low, worth.margin_high);
  return values;
}

/// The page, the scores, and the number of regions that are off by more than chance.
NamedValues report(const Model& model, const Table2d<double>& x,
                   const std::optional<Table2d<double>>& given,
                   const std::optional<Vector<std::uint32_t>>& group, const Vector<double>& y,
                   std::vector<GroupCells> by, std::string model_name, std::string data_name,
                   Facts about_model, Facts about_data, std::uint64_t seed, std::size_t threads,
                   const nb::object& progress, const std::optional<Cost>& cost) {
  const std::shared_ptr<const Schema> schema = schema_of(model);
  ReportRows rows{.rows = {.x = view_of(x)}, .y = span_of(y), .groups = std::move(by)};
  if (given) rows.rows.given = view_of(*given);
  if (group) rows.rows.group = span_of(*group);
  const ReportWords words{std::move(model_name), std::move(data_name), std::move(about_model),
                          std::move(about_data)};
  ModelReport made;
  std::string html;
  run_interruptible(threads, progress, [&](const Execution& how) {
    Examination exam;
    made = make_report(model.fitted, *schema, rows, words, Seed{seed}, how, exam, cost);
    html = model_report_html(made, exam.outcomes());
  });
  NamedValues result;
  result["html"] =
      nb::steal(PyUnicode_DecodeUTF8(html.data(), static_cast<Py_ssize_t>(html.size()), "replace"));
  result["scores"] = score_values(made.scores);
  result["regions"] = made.regions.looked_at;
  result["regions_off"] = made.regions.found;
  NoticeList warnings;
  for (const PredictionWarning& warning : made.warnings) {
    warnings.emplace_back(warning_name(warning.code), warning.rows, warning.text);
  }
  result["warnings"] = nb::cast(warnings);
  if (made.worth) result["worth"] = worth_values(*made.worth);
  return result;
}

}  // namespace

void bind_report(nb::module_& module) {
  module.def("encode_rows", &encode_rows, nb::arg("model"), nb::arg("table"),
             nb::arg("missing").none());
  module.def("report", &report, nb::kw_only(), nb::arg("model"), nb::arg("x"),
             nb::arg("given").none(), nb::arg("group").none(), nb::arg("y"), nb::arg("by"),
             nb::arg("model_name"), nb::arg("data_name"), nb::arg("about_model"),
             nb::arg("about_data"), nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none(),
             nb::arg("cost") = nb::none());
}

}  // namespace tare::python
