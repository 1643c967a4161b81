// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/predict_rows.h"

#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "serve/http/problem.h"
#include "tare/apply/predictor.h"

namespace tare::serve {
namespace {

/// The remedies of Schema::encode are options of the tool, which a client does not have.
void refuse_missing(const Table& table, const ColumnPlan& plan, MissingPolicy policy) {
  for (const Column& column : table.columns) {
    if (column.missing == 0) continue;
    const auto place = plan.find(column.name);
    if (!place) continue;
    const std::string& part = plan.columns()[*place].part;
    if (part == "feature" && policy == MissingPolicy::kImpute) continue;
    refuse(422, "row {}: column '{}': '{}' is a missing value, {} of {} rows ({})",
           column.first_missing + 1, column.name, column.first_missing_text, column.missing,
           table.rows(),
           part == "feature" ? "send a value; a model fitted with --missing impute fills it in"
                             : fmt::format("a {} is not imputed", part));
  }
}

/// The table's rows must suffice for one answer.
void check_rows(const ServedModel& model, const Table& table, const ColumnPlan& plan) {
  const Schema& schema = model.schema();
  if (table.rows() == 0) refuse(422, "there is no row (send one at least)");
  refuse_missing(table, plan, schema.missing());
  if (table.rows() < schema.window()) {
    refuse(422,
           "the model looks at {} rows of a series at a time, and there are {} (send the rows "
           "before, too)",
           schema.window(), table.rows());
  }
}

/// One thread, which looks at the clock now and then.
Execution until(Deadline deadline, std::size_t rows) {
  Execution how = one_thread();
  how.progress = [deadline, rows](std::string_view, double) {
    if (Clock::now() <= deadline) return;
    refuse(503, "the {} rows were not answered within the time limit (send fewer rows)", rows);
  };
  return how;
}

}  // namespace

Answers answer_rows(const ServedModel& model, Predictor& predictor, const Table& table,
                    Deadline deadline) {
  check_rows(model, table, model.features());
  return predictor.answer(table, until(deadline, table.rows()));
}

Answers answer_observed(const ServedModel& model, const Table& table, double watch,
                        Deadline deadline) {
  check_rows(model, table, model.features_and_target());
  PredictOptions options;
  options.with_targets = true;
  options.unnamed_levels = interval_ends(watch);
  return Predictor(model.fitted(), std::move(options)).answer(table, until(deadline, table.rows()));
}

std::vector<double> interval_ends(double confidence) {
  const auto [lower, upper] = interval_levels(confidence);
  return {lower.value(), upper.value()};
}

}  // namespace tare::serve
