// SPDX-License-Identifier: BSD-3-Clause
// The C interface of tare for R: columns in, columns out, no logic. An error is returned as a list
// with the class 'tare_failure', which R/conditions.R raises, so that no C++ object is left behind
// by a jump of R.
#include <R_ext/Print.h>
#include <R_ext/Utils.h>
#include <tare/c.h>

#include <cpp11/R.hpp>
#include <cpp11/declarations.hpp>
#include <cpp11/doubles.hpp>
#include <cpp11/external_pointer.hpp>
#include <cpp11/integers.hpp>
#include <cpp11/list.hpp>
#include <cpp11/protect.hpp>
#include <cpp11/raws.hpp>
#include <cpp11/sexp.hpp>
#include <cpp11/strings.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "json.h"

namespace {

using cpp11::sexp;
using cpp11::writable::list;
using namespace cpp11::literals;

void free_model(tare_model* model) { tare_model_free(model); }
using ModelPointer = cpp11::external_pointer<tare_model, free_model>;

struct Free {
  void operator()(tare_table* table) const { tare_table_free(table); }
  void operator()(tare_answers* answers) const { tare_answers_free(answers); }
  void operator()(void* memory) const { tare_free(memory); }
};
using Table = std::unique_ptr<tare_table, Free>;
using Answers = std::unique_ptr<tare_answers, Free>;
using Memory = std::unique_ptr<void, Free>;

sexp text_of(const char* text) {
  return cpp11::safe[Rf_ScalarString](cpp11::safe[Rf_mkCharCE](text, CE_UTF8));
}

sexp failure() {
  const tare_error* error = tare_last_error();
  list out({"status"_nm = static_cast<int>(error->status), "text"_nm = text_of(error->text),
            "source"_nm = text_of(error->source), "line"_nm = static_cast<double>(error->line),
            "column"_nm = text_of(error->column), "option"_nm = text_of(error->option),
            "value"_nm = text_of(error->value)});
  out.attr("class") = "tare_failure";
  return out;
}

/// Options as the library takes them; the texts belong to R.
std::vector<const char*> c_texts(const cpp11::strings& texts) {
  std::vector<const char*> out;
  for (R_xlen_t i = 0; i < texts.size(); ++i) out.push_back(CHAR(STRING_ELT(texts, i)));
  return out;
}

/// Columns are doubles or UTF-8 texts; NA is a missing value.
tare_status make_table(const cpp11::list& columns, const cpp11::strings& names, Table& table) {
  tare_table* made = nullptr;
  if (const tare_status status = tare_table_new(&made); status != TARE_OK) return status;
  table.reset(made);
  std::vector<const char*> texts;
  for (R_xlen_t j = 0; j < columns.size(); ++j) {
    SEXP column = columns[j];
    const char* name = CHAR(STRING_ELT(names, j));
    const auto rows = static_cast<std::size_t>(Rf_xlength(column));
    tare_status status = TARE_OK;
    if (TYPEOF(column) == REALSXP) {
      status = tare_table_add_numbers(made, name, REAL(column), rows);
    } else {
      texts.clear();
      for (std::size_t i = 0; i < rows; ++i) {
        SEXP cell = STRING_ELT(column, static_cast<R_xlen_t>(i));
        texts.push_back(cell == NA_STRING ? nullptr : CHAR(cell));
      }
      status = tare_table_add_texts(made, name, texts.data(), rows);
    }
    if (status != TARE_OK) return status;
  }
  return TARE_OK;
}

SEXP ask_r(void*) {
  R_CheckUserInterrupt();
  return R_NilValue;
}
SEXP note_interrupt(SEXP, void* interrupted) {
  *static_cast<bool*>(interrupted) = true;
  return R_NilValue;
}

/// R_ToplevelExec would do, but there an interrupt ends an R that is not interactive.
bool is_interrupted() {
  bool interrupted = false;
  SEXP kinds = PROTECT(Rf_mkString("interrupt"));
  R_tryCatch(ask_r, nullptr, kinds, note_interrupt, &interrupted, nullptr, nullptr);
  UNPROTECT(1);
  return interrupted;
}

struct Line {
  const char* stage;
  double share;
};
void print_line(void* data) {
  const Line& line = *static_cast<Line*>(data);
  REprintf("\r%-40.40s %3.0f %%", line.stage, 100.0 * line.share);
}

/// Looks after Ctrl-C while the library works, and shows how far it is. Called in R's thread; R may
/// not jump out of it.
int watch(void* shown, const char* stage, double share) {
  if (is_interrupted()) return 1;
  bool* any = static_cast<bool*>(shown);
  if (any != nullptr && *stage != '\0') {
    Line line{stage, share};
    R_ToplevelExec(print_line, &line);
    *any = true;
  }
  return 0;
}

class Watching {
 public:
  explicit Watching(bool show) { tare_watch(&watch, show ? &shown_ : nullptr); }
  ~Watching() {
    tare_watch(nullptr, nullptr);
    if (shown_) REprintf("\r%-46s\r", "");
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  bool shown_ = false;
};

template <class Count, class Code, class Text, class Rows, class Handle>
sexp notices_of(const Handle* handle, Count count, Code code, Text text, Rows rows) {
  const std::size_t all = count(handle);
  cpp11::writable::strings codes(static_cast<R_xlen_t>(all));
  cpp11::writable::strings texts(static_cast<R_xlen_t>(all));
  cpp11::writable::doubles numbers(static_cast<R_xlen_t>(all));
  for (std::size_t k = 0; k < all; ++k) {
    const auto at = static_cast<R_xlen_t>(k);
    codes[at] = cpp11::r_string(code(handle, k));
    texts[at] = cpp11::r_string(text(handle, k));
    numbers[at] = static_cast<double>(rows(handle, k));
  }
  return list({"code"_nm = codes, "rows"_nm = numbers, "text"_nm = texts});
}

sexp answers_to_r(const tare_answers* answers) {
  const std::size_t rows = tare_answers_rows(answers);
  const std::size_t columns = tare_answers_columns(answers);
  const double* values = tare_answers_values(answers);
  list out(static_cast<R_xlen_t>(columns));
  cpp11::writable::strings names(static_cast<R_xlen_t>(columns));
  for (std::size_t j = 0; j < columns; ++j) {
    cpp11::writable::doubles column(static_cast<R_xlen_t>(rows));
    double* to = REAL(static_cast<SEXP>(column));
    for (std::size_t i = 0; i < rows; ++i) to[i] = values[i * columns + j];
    out[static_cast<R_xlen_t>(j)] = column;
    names[static_cast<R_xlen_t>(j)] = cpp11::r_string(tare_answers_name(answers, j));
  }
  out.names() = names;
  cpp11::writable::doubles place(static_cast<R_xlen_t>(rows));
  for (std::size_t i = 0; i < rows; ++i)
    place[static_cast<R_xlen_t>(i)] = static_cast<double>(tare_answers_table_row(answers, i) + 1);
  return list({"columns"_nm = out, "row"_nm = place,
               "notices"_nm = notices_of(answers, tare_answers_notices, tare_answers_notice_code,
                                         tare_answers_notice_text, tare_answers_notice_rows)});
}

/// A model with what its fit had to say.
sexp model_to_r(tare_model* model) {
  const sexp notices = notices_of(model, tare_model_notices, tare_model_notice_code,
                                  tare_model_notice_text, tare_model_notice_rows);
  return list({"pointer"_nm = static_cast<SEXP>(ModelPointer(model)), "notices"_nm = notices});
}

sexp json_and_free(char* text) {
  const Memory owner(text);
  return json_to_r(text);
}

SEXP fit(SEXP columns, SEXP names, SEXP options, SEXP progress) {
  Table table;
  if (make_table(columns, names, table) != TARE_OK) return failure();
  const auto asked = c_texts(options);
  tare_model* model = nullptr;
  tare_status status = TARE_OK;
  {
    const Watching watching(cpp11::as_cpp<bool>(progress));
    status = tare_fit(table.get(), asked.data(), asked.size(), &model);
  }
  return status == TARE_OK ? model_to_r(model) : failure();
}

SEXP predict(SEXP pointer, SEXP columns, SEXP names, SEXP options, SEXP progress) {
  const ModelPointer model(pointer);
  Table table;
  if (make_table(columns, names, table) != TARE_OK) return failure();
  const auto asked = c_texts(options);
  tare_answers* made = nullptr;
  tare_status status = TARE_OK;
  {
    const Watching watching(cpp11::as_cpp<bool>(progress));
    status = tare_predict(model.get(), table.get(), asked.data(), asked.size(), &made);
  }
  const Answers answers(made);
  return status == TARE_OK ? answers_to_r(made) : failure();
}

SEXP scores(SEXP pointer, SEXP columns, SEXP names, SEXP options) {
  const ModelPointer model(pointer);
  Table table;
  if (make_table(columns, names, table) != TARE_OK) return failure();
  const auto asked = c_texts(options);
  char* json = nullptr;
  tare_status status = TARE_OK;
  {
    const Watching watching(false);
    status = tare_scores(model.get(), table.get(), asked.data(), asked.size(), &json);
  }
  return status == TARE_OK ? json_and_free(json) : failure();
}

SEXP track(SEXP pointer, SEXP columns, SEXP names, SEXP options, SEXP progress) {
  tare_model* start = nullptr;
  if (pointer != R_NilValue) start = ModelPointer(pointer).get();
  Table table;
  if (make_table(columns, names, table) != TARE_OK) return failure();
  const auto asked = c_texts(options);
  tare_answers* made = nullptr;
  tare_model* followed = nullptr;
  tare_status status = TARE_OK;
  {
    const Watching watching(cpp11::as_cpp<bool>(progress));
    status = tare_track(table.get(), asked.data(), asked.size(), start, &made, &followed);
  }
  if (status != TARE_OK) return failure();
  const Answers answers(made);
  const sexp model = model_to_r(followed);
  return list({"answers"_nm = answers_to_r(made), "model"_nm = model});
}

SEXP update(SEXP pointer, SEXP columns, SEXP names) {
  const ModelPointer model(pointer);
  Table table;
  if (make_table(columns, names, table) != TARE_OK) return failure();
  tare_model* updated = nullptr;
  tare_status status = TARE_OK;
  {
    const Watching watching(false);
    status = tare_model_update(model.get(), table.get(), &updated);
  }
  return status == TARE_OK ? model_to_r(updated) : failure();
}

SEXP open_file(SEXP path) {
  tare_model* model = nullptr;
  if (tare_model_open(CHAR(STRING_ELT(path, 0)), &model) != TARE_OK) return failure();
  return model_to_r(model);
}

SEXP open_bytes(SEXP bytes) {
  tare_model* model = nullptr;
  if (tare_model_open_memory(RAW(bytes), static_cast<std::size_t>(Rf_xlength(bytes)), &model) !=
      TARE_OK)
    return failure();
  return model_to_r(model);
}

SEXP save_file(SEXP pointer, SEXP path, SEXP replace) {
  const ModelPointer model(pointer);
  if (tare_model_save(model.get(), CHAR(STRING_ELT(path, 0)),
                      cpp11::as_cpp<bool>(replace) ? 1 : 0) != TARE_OK)
    return failure();
  return R_NilValue;
}

SEXP save_bytes(SEXP pointer) {
  const ModelPointer model(pointer);
  void* bytes = nullptr;
  std::size_t size = 0;
  if (tare_model_save_memory(model.get(), &bytes, &size) != TARE_OK) return failure();
  const Memory owner(bytes);
  const sexp out = cpp11::safe[Rf_allocVector](RAWSXP, static_cast<R_xlen_t>(size));
  std::memcpy(RAW(out), bytes, size);
  return out;
}

SEXP describe(SEXP pointer) {
  const ModelPointer model(pointer);
  char* json = nullptr;
  return tare_model_describe(model.get(), &json) == TARE_OK ? static_cast<SEXP>(json_and_free(json))
                                                            : static_cast<SEXP>(failure());
}

SEXP methods() {
  char* json = nullptr;
  return tare_methods(&json) == TARE_OK ? static_cast<SEXP>(json_and_free(json))
                                        : static_cast<SEXP>(failure());
}

}  // namespace

// What cpp11::cpp_register() would write: each function with C++ exceptions and R's jumps kept
// apart.
#define TARE_R(name, parameters, arguments)  \
  extern "C" SEXP tare_r_##name parameters { \
    BEGIN_CPP11                              \
    return name arguments;                   \
    END_CPP11                                \
  }

TARE_R(fit, (SEXP columns, SEXP names, SEXP options, SEXP progress),
       (columns, names, options, progress))
TARE_R(predict, (SEXP pointer, SEXP columns, SEXP names, SEXP options, SEXP progress),
       (pointer, columns, names, options, progress))
TARE_R(scores, (SEXP pointer, SEXP columns, SEXP names, SEXP options),
       (pointer, columns, names, options))
TARE_R(track, (SEXP pointer, SEXP columns, SEXP names, SEXP options, SEXP progress),
       (pointer, columns, names, options, progress))
TARE_R(update, (SEXP pointer, SEXP columns, SEXP names), (pointer, columns, names))
TARE_R(open_file, (SEXP path), (path))
TARE_R(open_bytes, (SEXP bytes), (bytes))
TARE_R(save_file, (SEXP pointer, SEXP path, SEXP replace), (pointer, path, replace))
TARE_R(save_bytes, (SEXP pointer), (pointer))
TARE_R(describe, (SEXP pointer), (pointer))
TARE_R(methods, (), ())

extern "C" SEXP tare_r_is_null(SEXP pointer) {
  return Rf_ScalarLogical(R_ExternalPtrAddr(pointer) == nullptr ? 1 : 0);
}

extern "C" SEXP tare_r_version() { return Rf_mkString(tare_version()); }

extern "C" void R_init_tare(DllInfo* library) {
  static const R_CallMethodDef kCalls[] = {
      {"tare_r_fit", reinterpret_cast<DL_FUNC>(&tare_r_fit), 4},
      {"tare_r_predict", reinterpret_cast<DL_FUNC>(&tare_r_predict), 5},
      {"tare_r_scores", reinterpret_cast<DL_FUNC>(&tare_r_scores), 4},
      {"tare_r_track", reinterpret_cast<DL_FUNC>(&tare_r_track), 5},
      {"tare_r_update", reinterpret_cast<DL_FUNC>(&tare_r_update), 3},
      {"tare_r_open_file", reinterpret_cast<DL_FUNC>(&tare_r_open_file), 1},
      {"tare_r_open_bytes", reinterpret_cast<DL_FUNC>(&tare_r_open_bytes), 1},
      {"tare_r_save_file", reinterpret_cast<DL_FUNC>(&tare_r_save_file), 3},
      {"tare_r_save_bytes", reinterpret_cast<DL_FUNC>(&tare_r_save_bytes), 1},
      {"tare_r_describe", reinterpret_cast<DL_FUNC>(&tare_r_describe), 1},
      {"tare_r_methods", reinterpret_cast<DL_FUNC>(&tare_r_methods), 0},
      {"tare_r_is_null", reinterpret_cast<DL_FUNC>(&tare_r_is_null), 1},
      {"tare_r_version", reinterpret_cast<DL_FUNC>(&tare_r_version), 0},
      {nullptr, nullptr, 0}};
  R_registerRoutines(library, nullptr, kCalls, nullptr, nullptr);
  R_useDynamicSymbols(library, FALSE);
  R_forceSymbols(library, TRUE);
}
