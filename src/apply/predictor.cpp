// SPDX-License-Identifier: BSD-3-Clause
#include "tare/apply/predictor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apply/answer_columns.h"
#include "apply/answer_text.h"
#include "apply/kept_columns.h"
#include "apply/level_columns.h"
#include "apply/row_encoder.h"
#include "base/fail.h"
#include "calibrate/plain_schema.h"
#include "data/rows.h"
#include "io/select_columns.h"
#include "tare/calibrate/reliability.h"
#include "tare/calibrate/warnings.h"

namespace tare {
namespace {

FittedModel with_schema(FittedModel model) {
  if (!model.schema) model.schema = std::make_shared<Schema>(plain_schema(*model.model));
  return model;
}

/// The default levels if neither levels nor intervals are requested.
LevelColumns named_levels(const PredictOptions& options) {
  const bool asked =
      !options.levels.empty() || !options.intervals.empty() || !options.unnamed_levels.empty();
  return level_columns(asked ? std::span<const double>(options.levels) : usual_levels(),
                       options.intervals);
}

std::vector<Level> all_levels(const LevelColumns& named, const std::vector<double>& unnamed) {
  std::vector<Level> levels = named.levels;
  for (const double level : unnamed) levels.emplace_back(level);
  return levels;
}

/// Enough rows that neighbours share work, few enough that progress is reported often. The work of
/// some models grows with the levels: `dgp` takes 15 ms for a row at 480 of them.
std::size_t rows_between_reports(std::size_t levels) {
  constexpr std::size_t kLeastRows = 16;
  constexpr std::size_t kMostRows = 4'096;
  constexpr std::size_t kQuantiles = 24'576;
  return std::clamp(kQuantiles / std::max<std::size_t>(levels, 1), kLeastRows, kMostRows);
}

}  // namespace

class Predictor::Impl {
 public:
  Impl(FittedModel given, PredictOptions asked)
      : fitted(with_schema(std::move(given))),
        options(std::move(asked)),
        named(named_levels(options)),
        levels(all_levels(named, options.unnamed_levels)),
        columns(*fitted.model, named, options.diagnostics),
        tally(*fitted.model, named.levels),
        encoder(*fitted.schema, options.with_targets ? Need::kFeaturesAndTarget : Need::kFeatures,
                options.missing, options.outside_model),
        text(columns) {}

  void answer_block(const Rows& rows, const Execution& how, std::size_t first, Answers& answers);

  FittedModel fitted;
  PredictOptions options;
  LevelColumns named;
  std::vector<Level> levels;  // of the columns, followed by the unnamed ones
  AnswerColumns columns;
  WarningTally tally;
  RowEncoder encoder;
  AnswerText text;
};

void Predictor::Impl::answer_block(const Rows& rows, const Execution& how, std::size_t first,
                                   Answers& answers) {
  Execution asked = how;
  asked.diagnostics = options.diagnostics;
  const Prediction prediction = options.diagnostics
                                    ? predict_with_reliability(*fitted.model, rows, levels, asked)
                                    : fitted.model->predict(rows, levels, asked);
  tally.add(rows, prediction);
  const std::size_t count = named.levels.size();
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    columns.fill(prediction, i, answers.values.row(first + i));
    std::ranges::copy(prediction.quantiles.row(i).subspan(count),
                      answers.unnamed.row(first + i).begin());
  }
}

Predictor::Predictor(FittedModel model, PredictOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(options))) {}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

const FittedModel& Predictor::model() const noexcept { return impl_->fitted; }
const std::vector<std::string>& Predictor::names() const noexcept { return impl_->columns.names(); }
bool Predictor::is_flag(std::size_t column) const { return impl_->columns.is_flag(column); }

Answers Predictor::answer(const Rows& rows, const Execution& how) {
  const std::size_t count = rows.x.rows();
  Answers answers;
  answers.rows = all_rows(count);
  answers.values = Matrix(count, impl_->columns.size());
  answers.unnamed = Matrix(count, impl_->options.unnamed_levels.size());
  const std::size_t at_once =
      how.progress ? rows_between_reports(impl_->levels.size()) : std::max<std::size_t>(count, 1);
  for (std::size_t first = 0; first < count || first == 0; first += at_once) {
    if (how.progress) {
      how.progress("answering",
                   count > 0 ? static_cast<double>(first) / static_cast<double>(count) : 0.0);
    }
    const std::size_t some = std::min(at_once, count - first);
    impl_->answer_block(some < count ? some_rows(rows, first, some) : rows, how, first, answers);
  }
  return answers;
}

Answers Predictor::answer(const Table& table, const Execution& how) {
  if (impl_->options.keep.empty() && impl_->encoder.is_ready(table)) {
    impl_->encoder.encode(table);
  } else if (const auto wanted = requests(table.source, table.names());
             is_selected(table, wanted)) {
    impl_->encoder.encode(table);
  } else {
    impl_->encoder.encode(select_columns(table, wanted));
  }
  Answers answers = answer(impl_->encoder.rows(), how);
  answers.rows = impl_->encoder.encoded().rows;
  answers.targets = impl_->encoder.encoded().y;
  return answers;
}

std::vector<Notice> Predictor::notices() const {
  std::vector<Notice> all = impl_->encoder.notices();
  for (const PredictionWarning& warning : impl_->tally.list()) {
    all.push_back({std::string(warning_name(warning.code)), warning.rows, warning.text});
  }
  return all;
}

void Predictor::append_csv_header(std::string& out) const {
  if (!impl_->options.keep.empty() && impl_->text.kept().empty()) {
    fail(ErrorCode::kInvalidArgument, {.option = "keep"},
         "names columns of a table, so the header is not known before the first table");
  }
  impl_->text.append_csv_header(out);
}

void Predictor::append_csv(std::string& out, const Table& table, const Answers& answers) const {
  impl_->text.append_csv(out, table, answers.rows, answers.values);
}

void Predictor::append_json(std::string& out, const Table& table, const Answers& answers,
                            std::string_view between) const {
  impl_->text.append_json(out, table, answers.rows, answers.values, between);
}

std::vector<ColumnRequest> Predictor::requests(const std::string& source,
                                               const std::vector<std::string>& header) {
  std::vector<std::string> kept = kept_columns(source, header, impl_->options.keep);
  auto requests = impl_->encoder.requests(source, header, kept);
  impl_->text.keep(std::move(kept));
  return requests;
}

}  // namespace tare
