// SPDX-License-Identifier: BSD-3-Clause
#include "tare/apply/predictor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apply/answer_columns.h"
#include "apply/answer_text.h"
#include "apply/decision/decision_tally.h"
#include "apply/decision/set_tally.h"
#include "apply/kept_columns.h"
#include "apply/level_columns.h"
#include "apply/row_encoder.h"
#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/plain_schema.h"
#include "data/rows.h"
#include "io/select_columns.h"
#include "tare/calibrate/reliability.h"
#include "tare/calibrate/shortest_sets.h"
#include "tare/calibrate/warnings.h"
#include "tare/decide/decision.h"

namespace tare {
namespace {

FittedModel with_schema(FittedModel model) {
  if (!model.schema) model.schema = std::make_shared<Schema>(plain_schema(*model.model));
  return model;
}

/// The default levels if neither levels nor intervals are requested.
LevelColumns named_levels(const PredictOptions& options) {
  const bool asked = !options.levels.empty() || !options.intervals.empty() ||
                     !options.unnamed_levels.empty() || options.cost.has_value() ||
                     options.form == SetForm::kShortest;
  LevelColumns columns = level_columns(
      asked ? std::span<const double>(options.levels) : usual_levels(), options.intervals);
  // The ends of shortest sets are not quantiles at levels.
  if (options.form == SetForm::kShortest) columns = level_columns(options.levels, {});
  return columns;
}

std::vector<double> set_coverages(const PredictOptions& options) {
  if (options.form != SetForm::kShortest) return {};
  return options.intervals.empty() ? std::vector<double>{0.9} : options.intervals;
}

std::vector<Level> levels_of(std::span<const double> values) {
  return {values.begin(), values.end()};
}

/// Those of the columns and that of the action: warnings are about these.
std::vector<Level> shown_levels(const LevelColumns& named, const PredictOptions& options) {
  std::vector<Level> levels = named.levels;
  if (options.cost && options.cost->best_level()) levels.push_back(*options.cost->best_level());
  return levels;
}

std::vector<Level> all_levels(std::vector<Level> levels, const std::vector<double>& unnamed,
                              const std::optional<Decider>& decider) {
  for (const double level : unnamed) levels.emplace_back(level);
  if (decider) levels.insert(levels.end(), decider->levels().begin(), decider->levels().end());
  if (levels.empty()) levels.emplace_back(0.5);  // for sets alone: what a prediction says of a row
  return levels;
}

std::optional<Decider> decider_of(const PredictOptions& options) {
  if (!options.cost) return std::nullopt;
  return Decider(*options.cost);
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
        decider(decider_of(options)),
        shown(shown_levels(named, options)),
        levels(all_levels(shown, options.unnamed_levels, decider)),
        columns(*fitted.model, named,
                {.decision = decider.has_value(),
                 .diagnostics = options.diagnostics,
                 .sets = set_coverages(options)}),
        coverages(levels_of(set_coverages(options))),
        tally(*fitted.model, shown),
        set_tally(fitted.model->has_guarantee()),
        encoder(*fitted.schema, options.with_targets ? Need::kFeaturesAndTarget : Need::kFeatures,
                options.missing, options.outside_model),
        text(columns) {}

  void answer_block(const Rows& rows, const Execution& how, std::size_t first, Answers& answers);
  void decide_block(MatrixView quantiles, std::size_t skip, const Execution& how, std::size_t first,
                    Answers& answers);
  /// Rows to answer at once of `count`: a decision needs hundreds of quantiles of each.
  std::size_t rows_at_once(std::size_t count, const Execution& how) const;

  FittedModel fitted;
  PredictOptions options;
  LevelColumns named;
  std::optional<Decider> decider;
  std::vector<Level> shown;
  std::vector<Level> levels;  // those shown, then the unnamed ones, then the decider's
  AnswerColumns columns;
  std::vector<Level> coverages;  // of shortest sets
  WarningTally tally;
  SetTally set_tally;
  DecisionTally decisions;
  RowEncoder encoder;
  AnswerText text;
};

void Predictor::Impl::answer_block(const Rows& rows, const Execution& how, std::size_t first,
                                   Answers& answers) {
  Execution asked = how;
  asked.diagnostics = options.diagnostics;
  // Bands take long, and a decision has no use for them.
  const bool apart = decider && options.diagnostics;
  const std::size_t with_bands = levels.size() - (apart ? decider->levels().size() : 0);
  const std::span<const Level> reliable = std::span(levels).first(with_bands);
  const Prediction prediction = options.diagnostics
                                    ? predict_with_reliability(*fitted.model, rows, reliable, asked)
                                    : fitted.model->predict(rows, levels, asked);
  tally.add(rows, prediction);
  const std::size_t count = shown.size();
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    columns.fill(prediction, i, answers.values.row(first + i));
    std::ranges::copy(prediction.quantiles.row(i).subspan(count, options.unnamed_levels.size()),
                      answers.unnamed.row(first + i).begin());
  }
  if (!coverages.empty()) {
    asked.diagnostics = false;
    const ShortestSets sets = shortest_sets(*fitted.model, rows, coverages, asked);
    set_tally.add(sets);
    for (std::size_t i = 0; i < rows.x.rows(); ++i) {
      columns.fill_sets(sets, i, answers.values.row(first + i));
    }
  }
  if (!decider) return;
  if (!apart) {
    decide_block(prediction.quantiles, with_bands - decider->levels().size(), how, first, answers);
    return;
  }
  asked.diagnostics = false;
  const Prediction laws = fitted.model->predict(rows, decider->levels(), asked);
  decide_block(laws.quantiles, 0, how, first, answers);
}

/// The decider's quantiles are behind the first `skip` of each row.
void Predictor::Impl::decide_block(MatrixView quantiles, std::size_t skip, const Execution& how,
                                   std::size_t first, Answers& answers) {
  constexpr std::size_t kDecidedRows = 16;
  const std::size_t count = quantiles.rows();
  std::vector<Decision> made(count);
  parallel_blocks(how, count, kDecidedRows, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      made[i] = decider->decide(quantiles.row(i).subspan(skip));
      columns.fill_decision(made[i], answers.values.row(first + i));
    }
  });
  for (const Decision& decision : made) decisions.add(decision);
}

std::size_t Predictor::Impl::rows_at_once(std::size_t count, const Execution& how) const {
  constexpr std::size_t kRowsWithDecisions = 4'096;  // 8 MB of quantiles
  if (how.progress) return rows_between_reports(levels.size());
  return std::max<std::size_t>(decider ? std::min(count, kRowsWithDecisions) : count, 1);
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
  const std::size_t at_once = impl_->rows_at_once(count, how);
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
  std::ranges::move(impl_->set_tally.notices(), std::back_inserter(all));
  std::ranges::move(impl_->decisions.notices(), std::back_inserter(all));
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
