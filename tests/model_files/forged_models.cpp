// SPDX-License-Identifier: BSD-3-Clause
#include "forged_models.h"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <utility>

#include "io/safetensors.h"
#include "memory_limit.h"
#include "tare/apply/predictor.h"
#include "tare/base/error.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/model_file.h"

namespace tare {
namespace {

char current_forgery[256] = "";

/// A loop that does not end cannot be left; the message says what it was.
void say_and_end(int) {
  constexpr char kText[] = "\nno end within a minute: ";
  [[maybe_unused]] const auto first = ::write(2, kText, sizeof(kText) - 1);
  [[maybe_unused]] const auto second = ::write(2, current_forgery, std::strlen(current_forgery));
  ::_exit(3);
}

/// By the processor's time: a busy machine is no loop. 0: never.
void end_after(long seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string problem_of(const Predictor& predictor, const Answers& answers, bool may_be_infinite) {
  for (std::size_t i = 0; i < answers.values.rows(); ++i) {
    const auto row = answers.values.row(i).first(5);  // the quantiles
    for (std::size_t j = 0; j < row.size(); ++j) {
      const bool wrong = std::isnan(row[j]) || (!may_be_infinite && std::isinf(row[j])) ||
                         (j > 0 && row[j] < row[j - 1]);
      if (wrong) {
        return fmt::format("row {}: {} is {}, after {}", i, predictor.names()[j], row[j],
                           j > 0 ? row[j - 1] : row[j]);
      }
    }
  }
  return {};
}

}  // namespace

std::string outcome_of(const std::vector<std::byte>& bytes, const Table& rows, bool may_be_infinite,
                       std::string& how) {
  const double start = processor_seconds();
  std::string problem;
  const MemoryLimit limit(kFixedBytes + kBytesPerByte * bytes.size());
  how = "refused";
  try {
    FittedModel model = load_model_from_memory(bytes, "forged");
    how = "refused late";
    description_json(describe(model));
    Predictor predictor(std::move(model),
                        {.levels = {0.01, 0.2, 0.5, 0.8, 0.99}, .diagnostics = true});
    const Answers answers = predictor.answer(rows, {.threads = 1, .progress = {}});
    how = "answered";
    problem = problem_of(predictor, answers, may_be_infinite);
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
    problem =
        fmt::format("it allocates more than {} bytes", kFixedBytes + kBytesPerByte * bytes.size());
  } catch (const std::exception& error) {
    problem = fmt::format("an exception of another kind: {}", error.what());
  }
  const double seconds = processor_seconds() - start;
  if (problem.empty() && seconds > kMostSeconds) problem = fmt::format("it takes {} s", seconds);
  return problem;
}

ForgedModel::ForgedModel(SmallModel model) : model_(std::move(model)) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(model_.bytes);
  good_ = read_safetensors(*owner, owner, model_.name);
  forgeries_ = forgeries_of(good_);
}

std::string ForgedModel::outcome_of_good() const {
  std::string how;
  const std::string problem = outcome_of(model_.bytes, model_.rows, false, how);
  if (!problem.empty()) return problem;
  return how == "answered" ? "" : "the model itself is " + how;
}

std::string ForgedModel::outcome(std::size_t forgery) const {
  const Forgery& chosen = forgeries_[forgery];
  const std::string label = model_.name + ", " + chosen.name;
  std::strncpy(current_forgery, label.c_str(), sizeof(current_forgery) - 1);
  std::signal(SIGPROF, &say_and_end);
  end_after(60);
  TensorStore store = good_;
  chosen.change(store);
  std::string how;
  // A guarantee of an earlier version, which is what one without `outer` is, may be infinite, and
  // so may a score.
  const bool may_be_infinite = chosen.is_huge ||
                               chosen.name.find("guarantee") != std::string::npos ||
                               chosen.name.find("rowwise") != std::string::npos;
  const std::string problem =
      outcome_of(safetensors_bytes(store), model_.rows, may_be_infinite, how);
  end_after(0);
  ++(how == "refused" ? refused_ : how == "answered" ? answered_ : refused_late_);
  return problem;
}

std::string ForgedModel::summary() const {
  return fmt::format("{}: {} bytes, {} forgeries: {} refused, {} refused when asked, {} answered",
                     model_.name, model_.bytes.size(), forgeries_.size(), refused_, refused_late_,
                     answered_);
}

}  // namespace tare
