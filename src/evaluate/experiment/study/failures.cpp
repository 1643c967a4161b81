// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/study/failures.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "base/parallel.h"
#include "calibrate/baseline/quantile/pair_losses.h"
#include "math/normal.h"
#include "model/nn/graph/operations.h"
#include "model/nn/mmd.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

/// Shares of Y at or below a quantile, where x is at most `border` and beyond, its mean, and its
/// individual calibration error.
std::vector<double> wedge_row(const Problem& wedge, double border, double tau,
                              const std::function<double(double x)>& quantile) {
  constexpr std::size_t kGridPoints = 20'000;
  double below = 0.0, beyond = 0.0, mean = 0.0, error = 0.0;
  for (std::size_t i = 0; i < kGridPoints; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / kGridPoints;
    const double q = quantile(x);
    const double covered = wedge.law(std::span(&x, 1)).cdf(q);
    (x <= border ? below : beyond) += covered / kGridPoints;
    mean += q / kGridPoints;
    error += std::abs(covered - tau) / kGridPoints;
  }
  return {below + beyond, below / border, beyond / (1.0 - border), mean, error};
}

// CCL's example: the true quantile at 3/4, the calibrated jump, and nothing.
double scaled_truth(double x) { return 0.5 * x; }
double scaled_jump(double x) { return x < 0.5 ? x : 0.0; }
double scaled_zero(double) { return 0.0; }

/// Calibration and sharpness of q at 3/4 and -q at 1/4, on an even grid of (x, u).
std::array<double, 2> ccl_terms(double (*upper)(double)) {
  constexpr std::size_t kSide = 300;
  constexpr std::size_t kPairs = kSide * kSide;
  nn::Graph<double> graph({});
  const auto q = graph.input(kPairs, 2);
  const auto y = graph.input(kPairs, 1);
  const auto tau = graph.input(kPairs, 2);
  const auto weight = graph.input(kPairs, 1);
  for (std::size_t i = 0; i < kPairs; ++i) {
    const double x = (static_cast<double>(i / kSide) + 0.5) / kSide;
    const double u = -1.0 + 2.0 * (static_cast<double>(i % kSide) + 0.5) / kSide;
    y.value()[i] = u * x;
    weight.value()[i] = 1.0;
    q.value()[2 * i] = -upper(x);
    q.value()[2 * i + 1] = upper(x);
    tau.value()[2 * i] = 0.25;
    tau.value()[2 * i + 1] = 0.75;
  }
  const auto calibration = mean(calibration_errors(q, y, tau, weight));
  const auto sharpness = mean(interval_lengths(q));
  graph.forward();
  return {calibration.value()[0], sharpness.value()[0]};
}

/// The squared MMD between draws of normal distributions and targets, and their calibration error.
std::vector<double> mmd_row(const Problem& problem, const Sample& data,
                            std::span<const std::size_t> law_of_row,
                            std::span<const double> noise) {
  const std::vector<Level> levels = metric_levels();
  const std::array<double, 3> bandwidths = {0.5, 1.0, 2.0};
  nn::Graph<double> graph({});
  const auto drawn = graph.input(data.y.size(), 1);
  const auto target = graph.input(data.y.size(), 1);
  Matrix quantiles(data.y.size(), levels.size());
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    const std::size_t from = law_of_row[i];
    const Law law = problem.law(data.x.row(from));
    drawn.value()[i] = law.location + law.scale * noise[from];
    target.value()[i] = data.y[i];
    for (std::size_t j = 0; j < levels.size(); ++j)
      quantiles(i, j) = law.quantile(levels[j].value());
  }
  const auto discrepancy = nn::squared_mmd(drawn, target, std::span<const double>(bandwidths));
  graph.forward();
  return {discrepancy.value()[0], individual_calibration_error(problem, data.x, quantiles, levels)};
}

}  // namespace

FailureTable sharpness_failure(Seed seed) {
  constexpr double kLevel = 0.9;
  const Problem& wedge = find_problem("uniform_wedge");
  FailureTable table;
  table.title = "Example 1: the sharpest quantile that is calibrated on average";
  table.words =
      "Y given x is uniform on [0, x]. Taking the 90 % quantile as x up to 0.9 and as 0 beyond is "
      "calibrated on average and sharper than the truth; where x is large it covers nothing.";
  table.heading = {"90 % quantile", "covered", "where x <= 0.9", "where x > 0.9", "mean", "ICE"};
  table.names = {"the truth", "sharpest", "SNQ, 4,000 rows"};
  table.values.push_back(wedge_row(wedge, kLevel, kLevel, [](double x) { return kLevel * x; }));
  table.values.push_back(
      wedge_row(wedge, kLevel, kLevel, [](double x) { return x <= kLevel ? x : 0.0; }));
  const Sample data = draw(wedge, 4'000, seed);
  FitInput input{.x = data.x, .y = data.y};
  input.seed = seed;
  const auto model = fit_method(find_method("pure_kernel"), input, {}, one_thread());
  constexpr std::size_t kPlaces = 1'000;
  Matrix places(kPlaces, 1);
  for (std::size_t i = 0; i < kPlaces; ++i) {
    places(i, 0) = (static_cast<double>(i) + 0.5) / kPlaces;
  }
  const Matrix q = model->predict({places}, {{Level{kLevel}}}, one_thread()).quantiles;
  table.values.push_back(wedge_row(wedge, kLevel, kLevel, [&](double x) {
    return q(std::min(kPlaces - 1, static_cast<std::size_t>(x * kPlaces)), 0);
  }));
  return table;
}

FailureTable ccl_loss_failure() {
  FailureTable table;
  table.title = "CCL on Y = uX: what its loss prefers";
  table.words =
      "u is uniform on [-1, 1], and the levels are 1/4 and 3/4. The jump covers all of Y below x = "
      "1/2 and nothing above. With any weight on sharpness it has a lower loss than the truth, and "
      "from a weight of 1/3 on the zero forecast has the lowest.";
  table.heading = {"weight of sharpness", "truth", "jump", "zero"};
  const std::array terms = {ccl_terms(scaled_truth), ccl_terms(scaled_jump),
                            ccl_terms(scaled_zero)};
  for (const double weight : {0.0, 0.1, 0.3, 0.35, 0.5}) {
    table.names.push_back(fmt::format("{}", weight));
    table.values.emplace_back();
    for (const auto& [calibration, sharpness] : terms) {
      table.values.back().push_back((1.0 - weight) * calibration + weight * sharpness);
    }
  }
  return table;
}

FailureTable ccl_network_failure(Seed seed) {
  FailureTable table;
  table.title = "CCL on Y = uX: what a network reaches";
  table.words =
      "Mean distance of the fitted quantiles at 0.6 to 0.9 from the truth, (2 tau - 1) x, and from "
      "zero (2,000 rows). More sharpness moves the quantiles away from the truth and towards zero.";
  table.heading = {"weight of sharpness", "from the truth", "from zero"};
  const Problem& problem = find_problem("scaled_uniform");
  const std::vector<Level> levels = {Level{0.6}, Level{0.7}, Level{0.8}, Level{0.9}};
  const Sample data = draw(problem, 2'000, split(seed, 0));
  const Sample fresh = draw(problem, 500, split(seed, 1));
  FitInput input{.x = data.x, .y = data.y};
  input.seed = seed;
  for (const char* weight : {"0", "0.1", "0.3", "0.8"}) {
    const auto model = fit_method(find_method("ccl"), input,
                                  Params::parse(fmt::format("sharpness={}", weight)), one_thread());
    const Matrix q = model->predict({fresh.x}, levels, one_thread()).quantiles;
    double truth = 0.0, zero = 0.0;
    for (std::size_t i = 0; i < q.rows(); ++i) {
      for (std::size_t j = 0; j < levels.size(); ++j) {
        truth += std::abs(q(i, j) - (2.0 * levels[j].value() - 1.0) * fresh.x(i, 0));
        zero += std::abs(q(i, j));
      }
    }
    const auto count = static_cast<double>(q.rows() * levels.size());
    table.names.emplace_back(weight);
    table.values.push_back({truth / count, zero / count});
  }
  return table;
}

FailureTable mmd_failure(Seed seed) {
  FailureTable table;
  table.title = "MMD: does not see which distribution belongs to which row";
  table.words =
      "The true distributions of 512 rows (hetero_1), and the same distributions permuted over the "
      "rows: the discrepancy between their draws and the targets is the same, the calibration is "
      "not.";
  table.heading = {"distributions", "squared MMD", "ICE"};
  table.names = {"each row its own", "permuted"};
  const Problem& problem = find_problem("hetero_1");
  const Sample data = draw(problem, 512, split(seed, 0));
  Rng rng(split(seed, 1));
  std::vector<double> noise(data.y.size());
  for (double& value : noise) value = rng.normal();
  std::vector<std::size_t> law_of_row(data.y.size());
  for (std::size_t i = 0; i < law_of_row.size(); ++i) law_of_row[i] = i;
  table.values.push_back(mmd_row(problem, data, law_of_row, noise));
  table.values.push_back(mmd_row(problem, data, random_permutation(data.y.size(), rng), noise));
  return table;
}

std::vector<FailureTable> all_failures(Seed seed) {
  return {sharpness_failure(split(seed, 1)), ccl_loss_failure(),
          ccl_network_failure(split(seed, 2)), mmd_failure(split(seed, 3))};
}

}  // namespace tare
