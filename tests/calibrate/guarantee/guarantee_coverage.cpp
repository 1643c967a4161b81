// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/guarantee_coverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "calibrate/guarantee/guarantee.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

/// True mean probability between a fit's 5 % and 95 % quantiles, over new rows.
double coverage_of_draw(std::size_t rows, const std::string& options, Seed seed) {
  constexpr std::size_t kNew = 20;
  const Problem& problem = find_problem("hetero_1");
  const Sample data = draw(problem, rows + kNew, seed);
  const Params params = Params::parse("bandwidth=rate " + options);
  FitInput input{.x = data.x.view().middle_rows(0, rows),
                 .y = std::span<const double>(data.y).first(rows)};
  input.seed = seed;
  const auto model =
      fit_method(find_method("pure_kernel"), input, params, {.threads = 1, .progress = {}});
  const auto [low, high] = interval_levels(0.9);
  const std::vector<Level> levels = {low, high};
  const MatrixView fresh = data.x.view().middle_rows(rows, kNew);
  const Prediction p = model->predict({fresh}, levels, {.threads = 1, .progress = {}});
  double covered = 0.0;
  for (std::size_t i = 0; i < kNew; ++i) {
    const Law law = problem.law(fresh.row(i));
    covered += (law.cdf(p.quantiles(i, 1)) - law.cdf_below(p.quantiles(i, 0))) / kNew;
  }
  return covered;
}

struct MeanCoverage {
  double mean = 0.0;
  double error = 0.0;  // its standard error
};

MeanCoverage mean_coverage(std::size_t rows, const std::string& options, Seed seed,
                           std::uint64_t draws) {
  double sum = 0.0;
  double squares = 0.0;
  for (std::uint64_t s = 0; s < draws; ++s) {
    const double covered = coverage_of_draw(rows, options, split(seed, s));
    sum += covered;
    squares += covered * covered;
  }
  const auto count = static_cast<double>(draws);
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / count)};
}

/// One model for many guarantees.
class SharedModel final : public QuantileModel {
 public:
  explicit SharedModel(const QuantileModel& model) : model_(model) {}
  std::size_t features() const override { return model_.features(); }
  std::size_t given() const override { return model_.given(); }
  void save(const TensorWriter& out) const override { model_.save(out); }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    return model_.predict(rows, levels, how);
  }

 private:
  const QuantileModel& model_;
};

}  // namespace

void expect_tight_coverage(const std::string& method, const std::string& options, std::size_t rows,
                           std::size_t held_out, std::uint64_t draws) {
  constexpr std::size_t kNew = 100;
  const std::vector<double> shares = {0.5, 0.6, 0.8, 0.9};
  const Problem& problem = find_problem("skewed_1");
  const Sample data = draw(problem, rows, Seed{31});
  const auto model = fit_method(find_method(method), {.x = data.x, .y = data.y},
                                Params::parse(options + " guarantee=none"));
  std::vector<Level> levels;
  for (const double share : shares) {
    const auto [low, high] = interval_levels(share);
    levels.push_back(low);
    levels.push_back(high);
  }
  std::vector<double> sum(shares.size()), squares(shares.size());
  for (std::uint64_t s = 0; s < draws; ++s) {
    const Sample held = draw(problem, held_out, split(Seed{32}, s));
    const GuaranteedModel guaranteed(std::make_unique<SharedModel>(*model),
                                     {.x = held.x, .y = held.y}, {});
    const Sample fresh = draw(problem, kNew, split(Seed{33}, s));
    const Prediction p = guaranteed.predict({fresh.x}, levels);
    for (std::size_t k = 0; k < shares.size(); ++k) {
      double covered = 0.0;
      for (std::size_t i = 0; i < kNew; ++i) {
        const Law law = problem.law(fresh.x.row(i));
        covered +=
            (law.cdf(p.quantiles(i, 2 * k + 1)) - law.cdf_below(p.quantiles(i, 2 * k))) / kNew;
      }
      sum[k] += covered;
      squares[k] += covered * covered;
    }
  }
  const auto count = static_cast<double>(draws);
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const double mean = sum[k] / count;
    const double error = std::sqrt((squares[k] / count - mean * mean) / count);
    const std::string what = method + " " + options + ", " + std::to_string(held_out) + " rows, " +
                             std::to_string(shares[k]);
    std::printf("%s: coverage %.5f, standard error %.5f\n", what.c_str(), mean, error);
    std::fflush(stdout);
    EXPECT_GT(mean, shares[k] - 3.0 * error) << what;
    EXPECT_LT(mean, shares[k] + 2.0 / static_cast<double>(held_out + 1) + 3.0 * error) << what;
    EXPECT_LT(error, 0.01) << "too few draws to tell";
  }
}

void expect_guaranteed_coverage(std::size_t held_out, std::uint64_t draws) {
  constexpr std::size_t kFitted = 100;
  const std::size_t rows = kFitted + held_out;
  const auto [mean, error] =
      mean_coverage(rows,
                    "guarantee=split:" +
                        std::to_string(static_cast<double>(held_out) / static_cast<double>(rows)),
                    Seed{held_out}, draws);
  testing::Test::RecordProperty("coverage_" + std::to_string(held_out), std::to_string(mean));
  EXPECT_GT(mean, 0.9 - 4.0 * error) << held_out << " rows, standard error " << error;
  EXPECT_LT(mean, 0.9 + 2.0 / static_cast<double>(held_out + 1) + 4.0 * error)
      << held_out << " rows, standard error " << error;
  EXPECT_LT(error, 0.01) << "too few draws to tell";
}

void expect_cross_coverage(std::size_t rows, std::uint64_t draws) {
  const auto [mean, error] =
      mean_coverage(rows, "guarantee=cross split=cross", Seed{1000 + rows}, draws);
  testing::Test::RecordProperty("cross_coverage_" + std::to_string(rows), std::to_string(mean));
  EXPECT_GT(mean, 0.88) << rows << " rows, standard error " << error;
  EXPECT_LT(error, 0.01) << "too few draws to tell";
}

}  // namespace tare
