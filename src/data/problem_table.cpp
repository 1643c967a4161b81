// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tare/data/problem.h"

// The only place that lists the built-in problems.

namespace tare {
namespace {

Law sine_law(std::span<const double> x) {
  const double mean = 4.0 * std::sin(2.0 * std::numbers::pi * x[0] / 15.0);
  const double sd = std::max(0.2 * x[0] * std::fabs(std::sin(x[0])), 0.1);
  return {LawShape::kNormal, mean, sd};
}

Law wedge_law(std::span<const double> x) { return {LawShape::kUniform, 0.0, x[0]}; }

// Y = uX with u ~ U[-1, 1], so the tau-quantile is (2 tau - 1) x. (The paper's appendix prints
// (tau - 0.5) x, which belongs to u ~ U[-1/2, 1/2]; its distribution of u is used here.)
Law scaled_uniform_law(std::span<const double> x) {
  return {LawShape::kUniform, -x[0], 2.0 * x[0]};
}

Law flat_law(std::span<const double>) { return {LawShape::kNormal, 0.0, 1.0}; }

Problem one_feature(std::string name, std::string summary, double high,
                    Law (*law)(std::span<const double>)) {
  Problem problem;
  problem.name = std::move(name);
  problem.summary = std::move(summary);
  problem.dims = 1;
  problem.draw_x = [high](Rng& rng, std::span<double> x) { x[0] = rng.uniform(0.0, high); };
  problem.law = law;
  return problem;
}

struct FamilyRow {
  const char* name;  // kind and number of features; the summary says how many of them matter
  LawShape shape;
  std::size_t dims;
  std::size_t relevant;
  Spread spread = Spread::kSmooth;
};

constexpr FamilyRow kFamily[] = {
    {"hetero_1", LawShape::kNormal, 1, 1},
    {"hetero_2", LawShape::kNormal, 2, 2},
    {"hetero_5", LawShape::kNormal, 5, 5},
    {"hetero_10", LawShape::kNormal, 10, 2},
    {"hetero_50", LawShape::kNormal, 50, 2},
    {"skewed_1", LawShape::kSkewed, 1, 1},
    {"skewed_2", LawShape::kSkewed, 2, 2},
    {"skewed_10", LawShape::kSkewed, 10, 2},
    {"skewed_20", LawShape::kSkewed, 20, 5},
    {"heavy_1", LawShape::kHeavy, 1, 1},
    {"heavy_2", LawShape::kHeavy, 2, 2},
    {"heavy_10", LawShape::kHeavy, 10, 2},
    {"bimodal_1", LawShape::kBimodal, 1, 1},
    {"bimodal_2", LawShape::kBimodal, 2, 2},
    {"bimodal_10", LawShape::kBimodal, 10, 2},
    {"kinked_1", LawShape::kNormal, 1, 1, Spread::kKinked},
    {"kinked_3", LawShape::kSkewed, 3, 3, Spread::kKinked},
    {"stepped_1", LawShape::kNormal, 1, 1, Spread::kStepped},
    {"stepped_10", LawShape::kBimodal, 10, 2, Spread::kStepped},
};

/// 0, or an amount with an exponential distribution. The location of a smooth member of the family
/// is the log odds of 0, and its scale is the mean amount.
Problem zeros_problem(std::string name, std::size_t dims, std::size_t relevant) {
  Problem problem = known_law_problem(LawShape::kSkewed, dims, relevant);
  problem.name = std::move(name);
  problem.summary =
      fmt::format("0 or an exponential amount; odds and mean depend on {} of {} uniform features",
                  relevant, dims);
  problem.law = [base = problem.law](std::span<const double> x) {
    const Law law = base(x);
    return Law{LawShape::kSkewed, law.scale, law.scale, 1.0 / (1.0 + std::exp(-law.location))};
  };
  return problem;
}

/// A member of the family with normal noise that is 0 in three rows of ten: a jump inside the
/// distribution.
Problem spike_problem(std::string name, std::size_t dims, std::size_t relevant) {
  Problem problem = known_law_problem(LawShape::kNormal, dims, relevant);
  problem.name = std::move(name);
  problem.summary += "; three rows in ten are 0";
  problem.law = [base = problem.law](std::span<const double> x) {
    Law law = base(x);
    law.at_zero = 0.3;
    return law;
  };
  return problem;
}

std::vector<Problem> make_table() {
  std::vector<Problem> table;
  table.push_back(one_feature(
      "sine", "the paper's Figure 1: a sine with noise that grows and vanishes", 15.0, sine_law));
  table.push_back(one_feature("uniform_wedge",
                              "the paper's Example 1: Y|x ~ U[0, x], where sharpness misleads", 1.0,
                              wedge_law));
  table.push_back(one_feature("scaled_uniform",
                              "the paper's Y = uX with u ~ U[-1, 1], where CCL goes wrong", 1.0,
                              scaled_uniform_law));
  table.push_back(
      one_feature("flat", "Y ~ N(0, 1) for every x: Y does not depend on x", 1.0, flat_law));
  for (const FamilyRow& row : kFamily) {
    Problem problem = known_law_problem(row.shape, row.dims, row.relevant, row.spread);
    problem.name = row.name;
    table.push_back(std::move(problem));
  }
  table.push_back(zeros_problem("zeros_1", 1, 1));
  table.push_back(zeros_problem("zeros_5", 5, 2));
  table.push_back(spike_problem("spike_2", 2, 2));
  return table;
}

}  // namespace

std::span<const Problem> problems() {
  static const std::vector<Problem> table = make_table();
  return table;
}

}  // namespace tare
