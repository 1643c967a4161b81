// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "apply/answer_columns.h"
#include "apply/answer_text.h"
#include "capi/handles.h"
#include "capi/watched.h"
#include "tare/apply/track.h"

using tare::capi::guarded;
using tare::capi::needed;

namespace {

const tare::Notice* notice_of(const tare_answers* answers, std::size_t notice) {
  if (answers == nullptr || notice >= answers->notices.size()) return nullptr;
  return &answers->notices[notice];
}

}  // namespace

tare_status tare_predict(const tare_model* model, const tare_table* table,
                         const char* const* options, size_t count, tare_answers** answers) {
  return guarded([&] {
    tare_answers*& out = needed(answers, "answers");
    const tare::Table& rows = needed(table, "table").table;
    tare::PredictOptions asked;
    const std::size_t threads = tare::capi::set_options(
        options, count, [&](auto name, auto value) { asked.set(name, value); });
    tare::Predictor predictor(needed(model, "model").fitted, std::move(asked));
    tare::Answers values;
    tare::capi::watched(threads,
                        [&](const tare::Execution& how) { values = predictor.answer(rows, how); });
    std::vector<tare::Notice> notices = predictor.notices();
    std::vector<std::string> names = predictor.names();
    out = new tare_answers{std::move(names), std::move(values), std::move(notices),
                           std::move(predictor)};
  });
}

tare_status tare_track(const tare_table* table, const char* const* options, size_t count,
                       const tare_model* model, tare_answers** answers, tare_model** followed) {
  return guarded([&] {
    tare_answers*& out = needed(answers, "answers");
    tare_model*& after = needed(followed, "followed");
    tare::TrackOptions asked;
    const std::size_t threads = tare::capi::set_options(
        options, count, [&](auto name, auto value) { asked.set(name, value); });
    if (model != nullptr) asked.model = model->fitted;
    const tare::Table& rows = needed(table, "table").table;
    tare::Tracked tracked;
    tare::capi::watched(
        threads, [&](const tare::Execution& how) { tracked = tare::track(rows, asked, how); });
    tare::Answers values;
    values.values = std::move(tracked.values);
    values.rows = std::move(tracked.rows);
    auto made = std::make_unique<tare_model>(tare_model{std::move(tracked.model)});
    out = new tare_answers{std::move(tracked.names), std::move(values), std::move(tracked.notices),
                           std::nullopt};
    after = made.release();
  });
}

size_t tare_answers_rows(const tare_answers* answers) {
  return answers != nullptr ? answers->answers.values.rows() : 0;
}

size_t tare_answers_columns(const tare_answers* answers) {
  return answers != nullptr ? answers->names.size() : 0;
}

const char* tare_answers_name(const tare_answers* answers, size_t column) {
  if (column >= tare_answers_columns(answers)) return nullptr;
  return answers->names[column].c_str();
}

const double* tare_answers_values(const tare_answers* answers) {
  return answers != nullptr ? answers->answers.values.values().data() : nullptr;
}

size_t tare_answers_table_row(const tare_answers* answers, size_t i) {
  return answers != nullptr && i < answers->answers.rows.size() ? answers->answers.rows[i] : 0;
}

tare_status tare_answers_csv(const tare_answers* answers, const tare_table* table, char** text) {
  return guarded([&] {
    char*& out = needed(text, "text");
    const tare_answers& made = needed(answers, "answers");
    std::string csv;
    const tare::Table& rows = needed(table, "table").table;
    if (made.predictor) {
      made.predictor->append_csv_header(csv);
      made.predictor->append_csv(csv, rows, made.answers);
    } else {
      const tare::AnswerColumns columns(made.names);
      const tare::AnswerText writer(columns);
      writer.append_csv_header(csv);
      writer.append_csv(csv, rows, made.answers.rows, made.answers.values);
    }
    out = tare::capi::copy_text(csv);
  });
}

size_t tare_answers_notices(const tare_answers* answers) {
  return answers != nullptr ? answers->notices.size() : 0;
}

const char* tare_answers_notice_code(const tare_answers* answers, size_t notice) {
  const tare::Notice* found = notice_of(answers, notice);
  return found != nullptr ? found->code.c_str() : nullptr;
}

const char* tare_answers_notice_text(const tare_answers* answers, size_t notice) {
  const tare::Notice* found = notice_of(answers, notice);
  return found != nullptr ? found->text.c_str() : nullptr;
}

size_t tare_answers_notice_rows(const tare_answers* answers, size_t notice) {
  const tare::Notice* found = notice_of(answers, notice);
  return found != nullptr ? found->rows : 0;
}

void tare_answers_free(tare_answers* answers) { delete answers; }
