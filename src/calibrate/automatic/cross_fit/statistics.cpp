// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/cross_fit/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/fail.h"

namespace tare::automatic {
namespace {

constexpr std::size_t kMostSteps = 10'000;  // a round has some 25

double log_spread(std::span<const double> row, std::span<const std::size_t> inputs, double floor) {
  double mean = 0.0;
  for (const std::size_t j : inputs) mean += row[j] / static_cast<double>(inputs.size());
  double variance = 0.0;
  for (const std::size_t j : inputs) {
    variance += (row[j] - mean) * (row[j] - mean) / static_cast<double>(inputs.size());
  }
  return std::log(std::sqrt(variance) + floor);
}

void damaged_unless(bool sound) {
  if (!sound) fail(ErrorCode::kCorruptFile, "the model file's statistics are damaged");
}

/// How many inputs and numbers a step of a kind must have.
bool has_right_parts(const Step& step) {
  const std::size_t inputs = step.inputs.size();
  const std::size_t numbers = step.numbers.size();
  switch (step.kind) {
    case Step::Kind::kModels:
      return numbers == 0;
    case Step::Kind::kBlend:
      return inputs > 0 && numbers == inputs;
    case Step::Kind::kLogSpread:
      return inputs > 0 && numbers == 1 && step.numbers[0] > 0.0;
    case Step::Kind::kLogSd:
    case Step::Kind::kLogWidth:
      return inputs == 2 && numbers == 1 && step.numbers[0] > 0.0;
    case Step::Kind::kGiven:
      return inputs == 0 && numbers == 3;
  }
  return false;
}

}  // namespace

double Step::formula(std::span<const double> row) const {
  switch (kind) {
    case Kind::kBlend: {
      double sum = 0.0;
      for (std::size_t k = 0; k < inputs.size(); ++k) sum += numbers[k] * row[inputs[k]];
      return sum;
    }
    case Kind::kLogSpread:
      return log_spread(row, inputs, numbers[0]);
    case Kind::kLogSd: {
      const double mean = row[inputs[0]];
      const double variance = row[inputs[1]] - mean * mean;
      return std::log(std::max(std::sqrt(std::max(variance, 0.0)), numbers[0]));
    }
    case Kind::kLogWidth:
      return std::log(std::max(row[inputs[1]] - row[inputs[0]], 0.0) + numbers[0]);
    case Kind::kModels:
    case Kind::kGiven:
      break;
  }
  fail(ErrorCode::kInvalidArgument, "a step without a formula was asked for one");
}

Matrix with_columns(MatrixView x, const Matrix& statistics, std::span<const std::size_t> inputs) {
  Matrix joined(x.rows(), x.cols() + inputs.size());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const auto row = joined.row(i);
    std::ranges::copy(x.row(i), row.begin());
    for (std::size_t k = 0; k < inputs.size(); ++k) row[x.cols() + k] = statistics(i, inputs[k]);
  }
  return joined;
}

std::size_t Statistics::add(Step step) {
  const std::size_t first = columns_;
  columns_ += step.columns();
  first_.push_back(first);
  steps_.push_back(std::move(step));
  return first;
}

Matrix Statistics::compute(MatrixView x, MatrixView given, const Execution& how) const {
  Matrix all(x.rows(), columns_);
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    if (step.kind == Step::Kind::kModels) {
      const Matrix answers = step.inputs.empty()
                                 ? step.models.predict(x, how)
                                 : step.models.predict(with_columns(x, all, step.inputs), how);
      for (std::size_t i = 0; i < x.rows(); ++i) {
        std::ranges::copy(answers.row(i),
                          all.row(i).begin() + static_cast<std::ptrdiff_t>(first_[s]));
      }
      continue;
    }
    for (std::size_t i = 0; i < x.rows(); ++i) {
      all(i, first_[s]) =
          step.kind == Step::Kind::kGiven
              ? (given(i, static_cast<std::size_t>(step.numbers[0])) - step.numbers[1]) *
                    step.numbers[2]
              : step.formula(all.row(i));
    }
  }
  return all;
}

std::size_t Statistics::append(Statistics other) {
  const std::size_t first = columns_;
  for (Step& step : other.steps_) {
    for (std::size_t& j : step.inputs) j += first;
    add(std::move(step));
  }
  return first;
}

void Statistics::keep_only(std::span<std::size_t> columns) {
  std::vector<std::uint8_t> needed(columns_, 0);
  for (const std::size_t j : columns) needed[j] = 1;
  std::vector<std::uint8_t> kept(steps_.size(), 0);
  for (std::size_t s = steps_.size(); s-- > 0;) {
    for (std::size_t k = 0; k < steps_[s].columns(); ++k) {
      if (needed[first_[s] + k] != 0) kept[s] = 1;
    }
    if (kept[s] == 0) continue;
    for (const std::size_t j : steps_[s].inputs) needed[j] = 1;
  }
  std::vector<std::size_t> place(columns_, 0);
  Statistics left;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    if (kept[s] == 0) continue;
    const std::size_t count = steps_[s].columns();
    for (std::size_t& j : steps_[s].inputs) j = place[j];
    const std::size_t first = left.add(std::move(steps_[s]));
    for (std::size_t k = 0; k < count; ++k) place[first_[s] + k] = first + k;
  }
  for (std::size_t& j : columns) j = place[j];
  *this = std::move(left);
}

void Statistics::save(const TensorWriter& out) const {
  out.value("steps", steps_.size());
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const TensorWriter part = out.part(std::to_string(s));
    part.value("step", static_cast<std::size_t>(steps_[s].kind));
    part.value("inputs", steps_[s].inputs);
    part.tensor("numbers", steps_[s].numbers);
    if (steps_[s].kind == Step::Kind::kModels) steps_[s].models.save(part);
  }
}

Statistics Statistics::load(const TensorReader& in, std::size_t features, std::size_t given) {
  Statistics loaded;
  const std::size_t count = in.count("steps", kMostSteps);
  for (std::size_t s = 0; s < count; ++s) {
    const TensorReader part = in.part(std::to_string(s));
    Step step;
    step.kind =
        static_cast<Step::Kind>(part.count("step", static_cast<std::size_t>(Step::Kind::kGiven)));
    step.inputs = part.counts("inputs", std::numeric_limits<std::uint32_t>::max());
    step.numbers = part.list<double>("numbers", Must::kBeFinite);
    damaged_unless(has_right_parts(step));
    for (const std::size_t j : step.inputs) damaged_unless(j < loaded.columns());
    if (step.kind == Step::Kind::kModels) {
      step.models = FoldModels::load(part);
      damaged_unless(step.models.features() == features + step.inputs.size());
    }
    if (step.kind == Step::Kind::kGiven) {
      damaged_unless(step.numbers[0] >= 0.0 && step.numbers[0] < static_cast<double>(given) &&
                     step.numbers[0] == std::floor(step.numbers[0]));
    }
    loaded.add(std::move(step));
  }
  return loaded;
}

}  // namespace tare::automatic
