// SPDX-License-Identifier: BSD-3-Clause
// Programs of calls of the C interface: each byte is a call, the bytes behind it are its arguments.
// Handles may be NULL or of a failed call, options may be anything. Methods are held to ones that
// are fitted within a millisecond or so.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input.h"
#include "tare/c.h"

namespace tare::fuzz {
namespace {

/// The bytes of a program, from its front.
class Program {
 public:
  explicit Program(std::string_view bytes) : bytes_(bytes) {}
  bool has_more() const { return !bytes_.empty(); }
  std::size_t choose(std::size_t count) {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte % count;
  }
  /// A text of the program's bytes, at most 31 of them.
  std::string text() {
    const std::size_t size = std::min(choose(32), bytes_.size());
    std::string found(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return found;
  }

 private:
  std::string_view bytes_;
};

constexpr const char* kNames[] = {"a", "b", "c", "y", "w", "q0.1", "q0.9"};
constexpr double kNumbers[] = {
    0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1e-300, 1e300, std::numeric_limits<double>::quiet_NaN()};
constexpr const char* kTexts[] = {"u", "v", "", "NA", "\xff", "w w", nullptr, "1"};
/// Options of a fit that make it cheap; others come behind them.
constexpr const char* kMethods[] = {"method=pure_kernel", "method=nrc"};
constexpr const char* kFitOptions[] = {"bandwidth=1",
                                       "features=a",
                                       "features=a,b,c",
                                       "categorical=a",
                                       "weight=w",
                                       "missing=impute",
                                       "missing=drop",
                                       "prediction=b",
                                       "prediction_sd=w",
                                       "prediction_quantiles=q*",
                                       "guarantee=split:0.5",
                                       "guarantee=cross:2",
                                       "group=c",
                                       "window=2",
                                       "kernel=naive",
                                       "index=brute",
                                       "bounds=0,",
                                       "bands=off",
                                       "masses=no",
                                       "split=0.5",
                                       "split=time",
                                       "seed=7",
                                       "drop=a",
                                       "calibrate_on=a",
                                       "scale=none",
                                       "fallback=nearest",
                                       "min_support=2",
                                       "target=a"};
constexpr const char* kPredictOptions[] = {
    "levels=0.1,0.9", "levels=0.5",     "interval=0.9", "diagnostics=yes", "keep=all",
    "keep=c",         "missing=impute", "missing=drop", "levels=2",        "cost=over=1,under=4"};

constexpr const char* kTrackOptions[] = {
    "prediction=b",    "interval=0.9",  "levels=0.1,0.5", "start=5",        "start=100",
    "delay=2",         "known_later=a", "window=50",      "method=aci",     "method=pid",
    "diagnostics=yes", "drop=c",        "lags=1,2",       "period=3",       "missing=impute",
    "missing=drop",    "seed=7",        "target=a",       "drift_rate=0.1", "method=nothing"};

/// What a program has at a moment. Two of each kind of handle; a third is always NULL.
struct State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (tare_answers* one : answers) tare_answers_free(one);
    for (tare_model* one : models) tare_model_free(one);
    for (tare_table* one : tables) tare_table_free(one);
  }

  tare_table* tables[3] = {};
  tare_model* models[3] = {};
  tare_answers* answers[3] = {};
  std::size_t fits = 0;
};

/// After a failed call: the outputs are as they were, and the error has all its texts.
void check(tare_status status) {
  if (status == TARE_OK) return;
  const tare_error* error = tare_last_error();
  require(error != nullptr && error->status == status, "the last error is that of the call");
  for (const char* text :
       {error->text, error->source, error->column, error->option, error->value}) {
    require(text != nullptr, "an error has all its texts");
  }
  require(error->text[0] != '\0', "and says what was wrong");
}

template <class T>
void put(T*& place, T* made, void (*free)(T*)) {
  if (made == nullptr) return;
  free(place);
  place = made;
}

void add_column(State& state, Program& program) {
  tare_table* table = state.tables[program.choose(3)];
  const char* name = program.choose(16) == 15 ? nullptr : kNames[program.choose(std::size(kNames))];
  const std::size_t rows = program.choose(32);
  if (program.choose(3) == 2) {
    std::vector<const char*> texts;
    for (std::size_t i = 0; i < rows; ++i) texts.push_back(kTexts[program.choose(8)]);
    check(tare_table_add_texts(table, name, rows == 31 ? nullptr : texts.data(), rows));
    return;
  }
  std::vector<double> numbers;
  const bool plain = program.choose(4) != 3;
  for (std::size_t i = 0; i < rows; ++i) {
    numbers.push_back(plain ? static_cast<double>(program.choose(256)) / 8.0
                            : kNumbers[program.choose(std::size(kNumbers))]);
  }
  check(tare_table_add_numbers(table, name, rows == 31 ? nullptr : numbers.data(), rows));
}

/// A table that can be fitted, so that programs need not find one byte by byte.
void add_usual_columns(State& state, Program& program) {
  tare_table* table = state.tables[program.choose(2)];
  const std::size_t rows = 4 + program.choose(28);
  for (const char* name : {"a", "y", "b"}) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < rows; ++i)
      numbers.push_back(static_cast<double>(program.choose(16)));
    check(tare_table_add_numbers(table, name, numbers.data(), rows));
  }
  std::vector<const char*> texts;
  for (std::size_t i = 0; i < rows; ++i) texts.push_back(kTexts[program.choose(2)]);
  check(tare_table_add_texts(table, "c", texts.data(), rows));
}

/// Some of the usual options and, now and then, one of the program's bytes. Pointers into `own`.
std::vector<const char*> options(Program& program, std::span<const char* const> usual,
                                 std::string& own) {
  std::vector<const char*> chosen;
  for (std::size_t k = program.choose(5); k > 0; --k) {
    chosen.push_back(usual[program.choose(usual.size())]);
  }
  const std::size_t more = program.choose(8);
  if (more == 6) {
    own = program.text();
    const bool other_method = own.find("method") != std::string::npos ||
                              own.find("regressor") != std::string::npos ||
                              own.find("shift") != std::string::npos;
    if (!other_method) chosen.push_back(own.c_str());
  }
  if (more == 7) chosen.push_back(nullptr);
  return chosen;
}

void fit(State& state, Program& program) {
  if (++state.fits > 4) return;
  std::string own;
  std::vector<const char*> chosen = {"target=y", "regressor=ridge"};
  const char* method = kMethods[program.choose(2)];
  if (method == kMethods[0]) chosen.pop_back();
  for (const char* option : options(program, kFitOptions, own)) chosen.push_back(option);
  chosen.push_back(method);
  tare_model* made = nullptr;
  const bool no_options = program.choose(32) == 31;
  check(tare_fit(state.tables[program.choose(3)], no_options ? nullptr : chosen.data(),
                 chosen.size(), program.choose(32) == 31 ? nullptr : &made));
  put(state.models[program.choose(2)], made, tare_model_free);
}

void save_and_open(State& state, Program& program) {
  void* bytes = nullptr;
  std::size_t size = 0;
  const tare_status saved = tare_model_save_memory(state.models[program.choose(3)], &bytes, &size);
  check(saved);
  if (saved == TARE_OK) require(size > 8, "a model has bytes");
  if (program.choose(4) == 3 && size > 0) {
    static_cast<unsigned char*>(bytes)[program.choose(256) * size / 256] ^= 1U;
  }
  if (program.choose(4) == 3) size = size * program.choose(256) / 256;
  tare_model* made = nullptr;
  check(tare_model_open_memory(bytes, size, &made));
  tare_free(bytes);
  put(state.models[program.choose(2)], made, tare_model_free);
}

void predict(State& state, Program& program) {
  std::string own;
  const std::vector<const char*> chosen = options(program, kPredictOptions, own);
  tare_answers* made = nullptr;
  const tare_table* table = state.tables[program.choose(3)];
  check(tare_predict(state.models[program.choose(3)], table, chosen.data(), chosen.size(),
                     program.choose(32) == 31 ? nullptr : &made));
  char* text = nullptr;
  if (made != nullptr) check(tare_answers_csv(made, table, &text));
  tare_free(text);
  put(state.answers[program.choose(2)], made, tare_answers_free);
}

void track(State& state, Program& program) {
  std::string own;
  std::vector<const char*> chosen = {"target=y", "window=50", "start=5"};
  for (const char* option : options(program, kTrackOptions, own)) chosen.push_back(option);
  tare_answers* made = nullptr;
  tare_model* followed = nullptr;
  const tare_model* model = program.choose(2) == 0 ? nullptr : state.models[program.choose(3)];
  check(tare_track(state.tables[program.choose(3)], chosen.data(), chosen.size(), model,
                   program.choose(32) == 31 ? nullptr : &made,
                   program.choose(32) == 31 ? nullptr : &followed));
  put(state.answers[program.choose(2)], made, tare_answers_free);
  put(state.models[program.choose(2)], followed, tare_model_free);
}

void update(State& state, Program& program) {
  tare_model* updated = nullptr;
  check(tare_model_update(state.models[program.choose(3)], state.tables[program.choose(3)],
                          program.choose(32) == 31 ? nullptr : &updated));
  put(state.models[program.choose(2)], updated, tare_model_free);
}

void read_answers(const State& state, Program& program) {
  const tare_answers* answers = state.answers[program.choose(3)];
  const std::size_t rows = tare_answers_rows(answers);
  const std::size_t columns = tare_answers_columns(answers);
  const double* values = tare_answers_values(answers);
  double sum = 0.0;
  for (std::size_t i = 0; i < rows * columns; ++i) sum += values[i];
  require(std::isnan(sum) || !std::isnan(sum), "all values can be read");
  for (std::size_t c = 0; c < columns; ++c) {
    require(tare_answers_name(answers, c) != nullptr, "a column has a name");
  }
  require(tare_answers_name(answers, columns) == nullptr, "a column that is not there has none");
  tare_answers_table_row(answers, program.choose(256));
  const std::size_t notices = tare_answers_notices(answers);
  for (std::size_t k = 0; k <= notices; ++k) {
    require((tare_answers_notice_text(answers, k) != nullptr) == (k < notices) &&
                (tare_answers_notice_code(answers, k) != nullptr) == (k < notices),
            "a notice has a code and a text");
    tare_answers_notice_rows(answers, k);
  }
}

void csv_of_other_rows(const State& state, Program& program) {
  char* text = nullptr;
  check(tare_answers_csv(state.answers[program.choose(3)], state.tables[program.choose(3)],
                         program.choose(16) == 15 ? nullptr : &text));
  tare_free(text);
}

void describe(const State& state, Program& program) {
  const tare_model* model = state.models[program.choose(3)];
  char* json = nullptr;
  check(tare_model_describe(model, program.choose(16) == 15 ? nullptr : &json));
  tare_free(json);
  tare_model_has_guarantee(model);
}

void files(State& state, Program& program) {
  tare_model* made = nullptr;
  const std::string path = "/nowhere/" + program.text();
  check(tare_model_open(program.choose(8) == 7 ? nullptr : path.c_str(), &made));
  check(tare_model_save(state.models[program.choose(3)],
                        program.choose(8) == 7 ? nullptr : path.c_str(), 1));
  tare_table* table = nullptr;
  check(tare_table_read_csv(program.choose(8) == 7 ? nullptr : path.c_str(), &table));
  require(made == nullptr && table == nullptr, "a call that failed leaves its output as it was");
}

void step(State& state, Program& program) {
  switch (program.choose(16)) {
    case 0: {
      tare_table* made = nullptr;
      check(tare_table_new(program.choose(16) == 15 ? nullptr : &made));
      put(state.tables[program.choose(2)], made, tare_table_free);
      return;
    }
    case 1:
    case 2:
      return add_column(state, program);
    case 3:
      return add_usual_columns(state, program);
    case 4:
    case 5:
      return fit(state, program);
    case 6:
      return save_and_open(state, program);
    case 7:
    case 8:
      return predict(state, program);
    case 9:
      return read_answers(state, program);
    case 10:
      return csv_of_other_rows(state, program);
    case 11:
      return describe(state, program);
    case 12:
      return files(state, program);
    case 14:
      return track(state, program);
    case 15:
      return update(state, program);
    default: {
      const std::size_t which = program.choose(2);
      tare_table_rows(state.tables[program.choose(3)]);
      put(state.tables[which], static_cast<tare_table*>(nullptr), tare_table_free);
      tare_model_free(state.models[which]);
      state.models[which] = nullptr;
    }
  }
}

}  // namespace
}  // namespace tare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare::fuzz;
  Program program({reinterpret_cast<const char*>(data), size});
  State state;
  tare_table_new(&state.tables[0]);
  tare_table_new(&state.tables[1]);
  for (int steps = 0; program.has_more() && steps < 32; ++steps) step(state, program);
  return 0;
}
