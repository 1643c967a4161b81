// SPDX-License-Identifier: BSD-3-Clause
#include "tare/data/problem.h"

#include <cassert>
#include <cmath>
#include <numbers>

#include "base/fail.h"
#include "base/strings.h"
#include "base/unknown_name.h"

namespace tare {
namespace {

struct ShapeWords {
  std::string_view prefix;  // of the problem's name
  std::string_view words;   // in its summary
};

ShapeWords describe(LawShape shape) {
  switch (shape) {
    case LawShape::kNormal:
      return {"hetero", "normal"};
    case LawShape::kUniform:
      return {"uniform", "uniform"};
    case LawShape::kSkewed:
      return {"skewed", "shifted exponential"};
    case LawShape::kHeavy:
      return {"heavy", "Student t(3)"};
    case LawShape::kBimodal:
      return {"bimodal", "two-humped"};
  }
  return {"unknown", "unknown"};
}

std::string_view describe(Spread spread) {
  switch (spread) {
    case Spread::kSmooth:
      return "depend";
    case Spread::kKinked:
      return "depend, the scale with a kink,";
    case Spread::kStepped:
      return "depend, the scale by jumps,";
  }
  return "depend";
}

double log_scale(Spread spread, double x) {
  switch (spread) {
    case Spread::kSmooth:
      return std::cos(std::numbers::pi * x);
    case Spread::kKinked:
      return 2.0 * std::fabs(2.0 * x - 1.0) - 1.0;
    case Spread::kStepped:
      return x < 0.5 ? 1.0 : -1.0;
  }
  return 0.0;
}

// Both sums are divided by sqrt(r) and not by r, so that the spread of location and of log scale
// over the rows is the same for every number of relevant features.
Law known_law(LawShape shape, Spread spread, std::span<const double> relevant) {
  double sines = 0.0;
  double logs = 0.0;
  for (const double x : relevant) {
    sines += std::sin(2.0 * std::numbers::pi * x);
    logs += log_scale(spread, x);
  }
  const double root = std::sqrt(static_cast<double>(relevant.size()));
  return {shape, 2.0 * sines / root, 0.5 * std::exp(logs / root)};
}

}  // namespace

Sample draw(const Problem& problem, std::size_t rows, Seed seed) {
  Sample sample{Matrix(rows, problem.dims), std::vector<double>(rows)};
  for (std::size_t i = 0; i < rows; ++i) {
    Rng rng(split(seed, i));
    const std::span<double> x = sample.x.row(i);
    problem.draw_x(rng, x);
    sample.y[i] = problem.law(x).draw(rng);
  }
  return sample;
}

const Problem& find_problem(std::string_view name) {
  const std::string wanted = canonical_name(name);
  std::vector<std::string> known;
  for (const Problem& problem : problems()) {
    if (problem.name == wanted) return problem;
    known.push_back(problem.name);
  }
  fail_unknown_name(ErrorCode::kNotFound, "problem", name, known);
}

Problem known_law_problem(LawShape shape, std::size_t dims, std::size_t relevant, Spread spread) {
  if (relevant < 1 || relevant > dims) {
    fail(ErrorCode::kInvalidArgument,
         "known_law_problem: {} relevant features of {}; the number must be at least 1 and at most "
         "the number of features",
         relevant, dims);
  }

  const ShapeWords words = describe(shape);
  Problem problem;
  problem.name = relevant == dims ? fmt::format("{}_{}", words.prefix, dims)
                                  : fmt::format("{}_{}_of_{}", words.prefix, relevant, dims);
  problem.summary = fmt::format("{} noise whose location and scale {} on {} of {} uniform features",
                                words.words, describe(spread), relevant, dims);
  problem.dims = dims;
  problem.draw_x = [](Rng& rng, std::span<double> x) {
    for (double& value : x) value = rng.uniform();
  };
  problem.law = [shape, spread, relevant](std::span<const double> x) {
    assert(x.size() >= relevant && "a row shorter than the problem's features");
    return known_law(shape, spread, x.first(relevant));
  };
  return problem;
}

}  // namespace tare
