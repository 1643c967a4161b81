// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/predict_rows.h"

#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "io/select_columns.h"
#include "serve/http/refusal.h"
#include "tare/apply/predictor.h"

namespace tare::serve {
namespace {

/// The table's rows must suffice for one answer.
void check_rows(const ServedModel& model, const Table& table) {
  const Schema& schema = model.schema();
  if (table.rows() == 0) refuse(422, "the request has no rows (send at least one)");
  if (table.rows() < schema.window()) {
    refuse(422,
           "the model needs {} consecutive rows of a series, but the request has {} (also send the "
           "preceding rows)",
           schema.window(), table.rows());
  }
}

/// What the library throws about rows, as a refusal.
template <class Work>
auto refusing(const TimeLimit& time, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw refusal_of(error);
  } catch (const Stopped&) {
    time.check();  // throws
    throw;
  }
}

}  // namespace

/// It looks at the time between parts of the work.
Execution until(const TimeLimit& time) {
  Execution how = one_thread();
  how.progress = [&time](std::string_view, double) { time.check(); };
  how.stop = time.stop();
  return how;
}

Answers answer_rows(const ServedModel& model, Predictor& predictor, const Table& table,
                    const TimeLimit& time) {
  check_rows(model, table);
  return refusing(time, [&] { return predictor.answer(table, until(time)); });
}

void encode_rows(const ServedModel& model, RowEncoder& encoder, const Table& table) {
  check_rows(model, table);
  refusing(TimeLimit(), [&] {
    if (encoder.is_ready(table)) {
      encoder.encode(table);
      return;
    }
    const auto wanted = encoder.requests(table.source, table.names(), {});
    encoder.encode(is_selected(table, wanted) ? table : select_columns(table, wanted));
  });
}

Answers answer_encoded(Predictor& predictor, const RowEncoder& encoder, const TimeLimit& time) {
  Answers answers = refusing(time, [&] { return predictor.answer(encoder.rows(), until(time)); });
  answers.rows = encoder.encoded().rows;
  return answers;
}

Answers answer_observed(const ServedModel& model, const Table& table, double watch,
                        const TimeLimit& time) {
  PredictOptions options;
  options.with_targets = true;
  options.unnamed_levels = interval_ends(watch);
  Predictor predictor(model.fitted(), std::move(options));
  return answer_rows(model, predictor, table, time);
}

std::vector<double> interval_ends(double confidence) {
  const auto [lower, upper] = interval_levels(confidence);
  return {lower.value(), upper.value()};
}

}  // namespace tare::serve
