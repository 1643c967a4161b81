// SPDX-License-Identifier: BSD-3-Clause
#include "serve/predict_rows.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "data/windows.h"
#include "serve/problem.h"
#include "tare/calibrate/reliability.h"
#include "tare/calibrate/warnings.h"

namespace tare::serve {
namespace {

/// Rows between two looks at the clock: enough of them that neighbours share work.
constexpr std::size_t kRowsAtOnce = 4'096;

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

/// Rows as the model wants them, with what there is to say about them.
struct ModelRows {
  Encoded encoded;
  std::vector<std::uint32_t> group;
  std::vector<RowWarning> warnings;

  Rows block(std::size_t first, std::size_t count) const {
    Rows rows{encoded.x.view().middle_rows(first, count)};
    if (encoded.given.cols() > 0) rows.given = encoded.given.view().middle_rows(first, count);
    if (!group.empty()) rows.group = std::span(group).subspan(first, count);
    return rows;
  }
};

void add_warnings(ModelRows& rows, const Schema& schema, std::size_t left_out) {
  const auto add = [&](const char* code, std::size_t count, std::string text) {
    if (count > 0) rows.warnings.push_back({code, count, std::move(text)});
  };
  const auto unseen_groups =
      static_cast<std::size_t>(std::ranges::count(rows.group, GroupColumn::kUnseen));
  add("left_out_rows", left_out,
      fmt::format("{} rows at the start have no full window of {} and were left out", left_out,
                  schema.window()));
  add("imputed_values", rows.encoded.imputed,
      fmt::format("{} missing values were imputed", rows.encoded.imputed));
  add("unseen_group", unseen_groups,
      fmt::format("{} rows have a value of '{}' that was not there at fit; the ranks of all rows "
                  "answer them, and nothing is guaranteed for them",
                  unseen_groups, schema.group().name()));
  add("unseen_category", rows.encoded.unseen,
      fmt::format(
          "{} cells hold a category that was not there at fit; they count as none of the known "
          "ones",
          rows.encoded.unseen));
}

ModelRows encode_rows(const ServedModel& model, const Table& table, Need need) {
  const Schema& schema = model.schema();
  if (table.rows() == 0) refuse(422, "there is no row (send one at least)");
  const MissingPolicy policy =
      schema.missing() == MissingPolicy::kImpute ? MissingPolicy::kImpute : MissingPolicy::kError;
  const bool with_target = need == Need::kFeaturesAndTarget;
  refuse_missing(table, with_target ? model.features_and_target() : model.features(), policy);
  ModelRows rows;
  rows.encoded = schema.encode(table, need, policy);
  Windows windows(schema.window());
  windows.apply(rows.encoded);
  if (rows.encoded.rows.empty()) {
    refuse(422,
           "the model looks at {} rows of a series at a time, and there are {} (send the rows "
           "before, too)",
           schema.window(), table.rows());
  }
  if (!schema.group().empty()) rows.group = schema.group().codes(table, rows.encoded.rows);
  add_warnings(rows, schema, windows.left_out());
  return rows;
}

/// The names of the answers' columns, in the order in which fill_row writes them.
void name_columns(RowAnswers& answers, const LevelColumns& levels, bool diagnostics, bool bands,
                  bool nearest, bool delivered) {
  answers.names = levels.names;
  answers.is_flag.assign(answers.names.size(), false);
  const auto add = [&](std::string name, bool flag) {
    answers.names.push_back(std::move(name));
    answers.is_flag.push_back(flag);
  };
  if (diagnostics && bands) add("effective_n", false);
  if (diagnostics && nearest) {
    add("nearest", false);
    add("fallback", true);
    add("outside", true);
  }
  if (diagnostics && bands) {
    for (const std::string& name : levels.names) {
      add(name + "_low", false);
      add(name + "_high", false);
    }
  }
  if (diagnostics && delivered) {
    for (const auto& column : levels.delivered) add(column.name, false);
  }
}

void fill_row(std::span<double> out, const Prediction& prediction, std::size_t i,
              const LevelColumns& levels, bool bands, bool nearest, bool delivered) {
  std::size_t next = 0;
  for (std::size_t j = 0; j < levels.names.size(); ++j) out[next++] = prediction.quantiles(i, j);
  if (bands) out[next++] = prediction.effective_n[i];
  if (nearest) {
    out[next++] = prediction.nearest[i];
    out[next++] = prediction.fallback[i];
    out[next++] = prediction.outside[i];
  }
  if (bands) {
    for (std::size_t j = 0; j < levels.names.size(); ++j) {
      out[next++] = prediction.band_low(i, j);
      out[next++] = prediction.band_high(i, j);
    }
  }
  if (!delivered) return;
  for (const auto& column : levels.delivered) {
    const std::span<const double> kept = prediction.delivered.row(i);
    out[next++] = column.lower == column.upper
                      ? kept[column.lower]
                      : std::max(0.0, kept[column.upper] - kept[column.lower]);
  }
}

/// The levels asked for, and behind them those of the watched interval.
std::vector<Level> all_levels(const RowQuestion& question) {
  std::vector<Level> levels = question.levels.levels;
  if (question.watch) {
    const auto [lower, upper] = interval_levels(*question.watch);
    levels.insert(levels.end(), {lower, upper});
  }
  return levels;
}

RowAnswers answer_rows(const ServedModel& model, ModelRows rows, const RowQuestion& question) {
  const std::vector<Level> levels = all_levels(question);
  const std::size_t count = rows.encoded.x.rows();
  const std::size_t asked = question.levels.names.size();
  Execution how = one_thread();
  how.diagnostics = question.diagnostics;
  RowAnswers answers;
  if (question.watch) answers.watched = Matrix(count, 2);
  WarningTally tally(*model.fitted().model, question.levels.levels);
  for (std::size_t first = 0; first < count; first += kRowsAtOnce) {
    if (Clock::now() > question.deadline) {
      refuse(503, "{} of {} rows were answered within the time limit (send fewer rows)", first,
             count);
    }
    const Rows block = rows.block(first, std::min(kRowsAtOnce, count - first));
    const QuantileModel& inner = *model.fitted().model;
    const Prediction prediction = question.diagnostics
                                      ? predict_with_reliability(inner, block, levels, how)
                                      : inner.predict(block, levels, how);
    tally.add(block, prediction);
    const bool bands = question.diagnostics && !prediction.effective_n.empty();
    const bool nearest = question.diagnostics && !prediction.nearest.empty();
    const bool delivered = question.diagnostics && prediction.delivered.cols() > 0;
    if (first == 0) {
      name_columns(answers, question.levels, question.diagnostics, bands, nearest, delivered);
      answers.values = Matrix(count, answers.names.size());
    }
    for (std::size_t i = 0; i < block.x.rows(); ++i) {
      fill_row(answers.values.row(first + i), prediction, i, question.levels, bands, nearest,
               delivered);
      if (!question.watch) continue;
      answers.watched(first + i, 0) = prediction.quantiles(i, asked);
      answers.watched(first + i, 1) = prediction.quantiles(i, asked + 1);
    }
  }
  answers.rows = std::move(rows.encoded.rows);
  answers.targets = std::move(rows.encoded.y);
  answers.warnings = std::move(rows.warnings);
  for (const PredictionWarning& warning : tally.list()) {
    answers.warnings.push_back(
        {std::string(warning_name(warning.code)), warning.rows, warning.text});
  }
  return answers;
}

}  // namespace

RowAnswers predict_rows(const ServedModel& model, const Table& table, const RowQuestion& question) {
  return answer_rows(model, encode_rows(model, table, Need::kFeatures), question);
}

RowAnswers predict_with_targets(const ServedModel& model, const Table& table, double watch,
                                Deadline deadline) {
  const LevelColumns none;
  return answer_rows(model, encode_rows(model, table, Need::kFeaturesAndTarget),
                     {none, false, watch, deadline});
}

}  // namespace tare::serve
