// SPDX-License-Identifier: BSD-3-Clause
#include "capi/handles.h"

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
    tare::capi::set_options(options, count, [&](auto name, auto value) { asked.set(name, value); });
    tare::Predictor predictor(needed(model, "model").fitted, std::move(asked));
    tare::Answers values = predictor.answer(rows);
    std::vector<tare::Notice> notices = predictor.notices();
    out = new tare_answers{std::move(predictor), std::move(values), std::move(notices)};
  });
}

size_t tare_answers_rows(const tare_answers* answers) {
  return answers != nullptr ? answers->answers.values.rows() : 0;
}

size_t tare_answers_columns(const tare_answers* answers) {
  return answers != nullptr ? answers->predictor.names().size() : 0;
}

const char* tare_answers_name(const tare_answers* answers, size_t column) {
  if (column >= tare_answers_columns(answers)) return nullptr;
  return answers->predictor.names()[column].c_str();
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
    made.predictor.append_csv_header(csv);
    made.predictor.append_csv(csv, needed(table, "table").table, made.answers);
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
