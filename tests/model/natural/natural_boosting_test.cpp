// SPDX-License-Identifier: BSD-3-Clause
#include "model/natural/natural_boosting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "../sample.h"
#include "expect_error.h"
#include "io/tensor_store.h"
#include "math/normal.h"
#include "model/natural/natural_gradient.h"

namespace tare {
namespace {

using Score = std::function<double(const NormalParameters&, double)>;

constexpr double kDifference = 1e-4;

NormalParameters moved(NormalParameters theta, std::size_t parameter, double by) {
  theta[parameter] += by;
  return theta;
}

NormalParameters numeric_gradient(const Score& score, const NormalParameters& theta, double y) {
  NormalParameters result{};
  for (std::size_t p = 0; p < 2; ++p) {
    result[p] = (score(moved(theta, p, kDifference), y) - score(moved(theta, p, -kDifference), y)) /
                (2.0 * kDifference);
  }
  return result;
}

/// The Fisher information of a score at theta: the mean of the gradient's outer product over draws
/// of the distribution itself, here at 20,000 levels in equal steps.
std::array<double, 3> numeric_information(const Score& score, const NormalParameters& theta,
                                          const std::function<double(double)>& target_at) {
  constexpr std::size_t kLevels = 20'000;
  std::array<double, 3> sum{};
  for (std::size_t k = 0; k < kLevels; ++k) {
    const double level = (static_cast<double>(k) + 0.5) / kLevels;
    const auto g = numeric_gradient(score, theta, target_at(level));
    sum[0] += g[0] * g[0] / kLevels;
    sum[1] += g[0] * g[1] / kLevels;
    sum[2] += g[1] * g[1] / kLevels;
  }
  return sum;
}

/// information^-1 gradient, all by differences of the score.
NormalParameters numeric_natural_gradient(const Score& score, const NormalParameters& theta,
                                          double y,
                                          const std::function<double(double)>& target_at) {
  const auto [a, b, c] = numeric_information(score, theta, target_at);
  const auto g = numeric_gradient(score, theta, y);
  const double determinant = a * c - b * b;
  return {(c * g[0] - b * g[1]) / determinant, (a * g[1] - b * g[0]) / determinant};
}

// The tolerance is that of 20,000 levels in place of an integral: the fourth moment that the
// information of the log sd needs loses 0.2 % in the tails.
TEST(NaturalGradient, IsTheGradientDividedByTheFisherInformation) {
  for (const NormalParameters theta : {NormalParameters{0.0, 0.0}, {1.5, -0.7}, {-3.0, 1.2}}) {
    const auto normal_at = [&](double level) {
      return theta[0] + std::exp(theta[1]) * normal_quantile(level);
    };
    const auto lognormal_at = [&](double level) { return std::exp(normal_at(level)); };
    const Score lognormal = [](const NormalParameters& at, double y) {
      const double z = (std::log(y) - at[0]) / std::exp(at[1]);
      return std::log(y) + at[1] + 0.5 * z * z + 0.5 * std::log(2.0 * std::numbers::pi);
    };
    for (const double y : {-2.0, 0.1, 4.0}) {
      const auto expected = numeric_natural_gradient(log_score, theta, y, normal_at);
      const auto own = natural_gradient(theta, y);
      // A lognormal target has the natural gradient of its logarithm.
      const auto of_log = numeric_natural_gradient(lognormal, theta, std::exp(y), lognormal_at);
      for (std::size_t p = 0; p < 2; ++p) {
        EXPECT_NEAR(own[p], expected[p], 0.005 * (1.0 + std::abs(own[p])));
        EXPECT_NEAR(own[p], of_log[p], 0.005 * (1.0 + std::abs(own[p])));
      }
    }
  }
}

TEST(NaturalGradient, AnSdBeyondTheLimitsIsTheLimit) {
  EXPECT_TRUE(std::isfinite(log_score({0.0, -1e9}, 1.0)));
  EXPECT_TRUE(std::isfinite(log_score({0.0, 1e9}, 1.0)));
  EXPECT_TRUE(std::isfinite(natural_gradient({0.0, -1e9}, 1.0)[1]));
}

/// x uniform, the mean a step and a line, the sd 0.3 below x_0 = 0.5 and 1.2 above.
struct KnownLaw {
  Sample sample;
  std::vector<double> mean, sd;
};

KnownLaw known_law(std::size_t rows, Seed seed) {
  KnownLaw law{{Matrix(rows, 3), std::vector<double>(rows), {}}, {}, {}};
  Rng rng(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : law.sample.x.row(i)) value = rng.uniform();
    const auto x = law.sample.x.row(i);
    law.mean.push_back(2.0 * x[1] + (x[2] > 0.6 ? 1.0 : 0.0));
    law.sd.push_back(x[0] < 0.5 ? 0.3 : 1.2);
    law.sample.y[i] = law.mean[i] + law.sd[i] * rng.normal();
  }
  return law;
}

double mean_score(const NaturalBoosting& model, const Sample& sample) {
  const Gaussians laws = model.predict(sample.x, {});
  double sum = 0.0;
  for (std::size_t i = 0; i < sample.y.size(); ++i) {
    sum += log_score({laws.mean[i], std::log(laws.sd[i])}, sample.y[i]);
  }
  return sum / static_cast<double>(sample.y.size());
}

TEST(NaturalBoosting, RecoversTheMeanAndSdOfANormalLaw) {
  const KnownLaw train = known_law(4000, Seed{1});
  const KnownLaw test = known_law(1000, Seed{2});
  const auto model = NaturalBoosting::fit(train.sample.data(), {}, Seed{1}, {});
  const Gaussians laws = model.predict(test.sample.x, {});
  double mean_error = 0.0, sd_error = 0.0;
  for (std::size_t i = 0; i < 1000; ++i) {
    mean_error += std::pow(laws.mean[i] - test.mean[i], 2) / 1000.0;
    sd_error += std::abs(std::log(laws.sd[i] / test.sd[i])) / 1000.0;
  }
  // The mean's own sd is 0.76, and a constant sd would be off by a factor of 2 (0.69) on average.
  EXPECT_LT(std::sqrt(mean_error), 0.15);
  EXPECT_LT(sd_error, 0.1);
}

TEST(NaturalBoosting, TheScoreOfTheRowsFallsRoundByRound) {
  const KnownLaw train = known_law(500, Seed{3});
  double before = 1e9;
  for (const std::size_t rounds : {1U, 2U, 5U, 20U, 100U, 300U}) {
    const auto model = NaturalBoosting::fit(train.sample.data(), {.rounds = rounds}, Seed{1}, {});
    EXPECT_EQ(model.rounds(), rounds);
    const double now = mean_score(model, train.sample);
    EXPECT_LT(now, before) << rounds;
    before = now;
  }
}

TEST(NaturalBoosting, RowsLeftOutChooseTheNumberOfRounds) {
  const KnownLaw train = known_law(300, Seed{4});
  const KnownLaw test = known_law(3000, Seed{5});
  NaturalBoostingOptions options{.rounds = 2000, .learning_rate = 0.05};
  const auto overfitted = NaturalBoosting::fit(train.sample.data(), options, Seed{1}, {});
  options.validation = 0.2;
  const auto stopped = NaturalBoosting::fit(train.sample.data(), options, Seed{1}, {});
  EXPECT_LT(stopped.rounds(), 500U);
  EXPECT_GT(stopped.rounds(), 5U);
  EXPECT_LT(mean_score(stopped, test.sample), mean_score(overfitted, test.sample));
}

TEST(NaturalBoosting, LearnsFromAShareOfTheRowsInEachRound) {
  const KnownLaw train = known_law(2000, Seed{6});
  const KnownLaw test = known_law(1000, Seed{7});
  const auto all = NaturalBoosting::fit(train.sample.data(), {}, Seed{1}, {});
  const auto half = NaturalBoosting::fit(train.sample.data(), {.rows = 0.5}, Seed{1}, {});
  EXPECT_NE(mean_score(all, test.sample), mean_score(half, test.sample));
  EXPECT_NEAR(mean_score(all, test.sample), mean_score(half, test.sample), 0.03);
}

TEST(NaturalBoosting, AWeightCountsAsRepeatedRows) {
  const KnownLaw law = known_law(200, Seed{8});
  Sample weighted = law.sample, repeated;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < 200; ++i) {
    weighted.weight.push_back(1.0 + static_cast<double>(i % 3));
    rows.insert(rows.end(), 1 + i % 3, i);
  }
  repeated.x = Matrix(rows.size(), 3);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::ranges::copy(law.sample.x.row(rows[k]), repeated.x.row(k).begin());
    repeated.y.push_back(law.sample.y[rows[k]]);
  }
  const NaturalBoostingOptions options{.rounds = 30, .min_leaf = 0.0};
  const Gaussians a =
      NaturalBoosting::fit(weighted.data(), options, Seed{1}, {}).predict(law.sample.x, {});
  const Gaussians b =
      NaturalBoosting::fit(repeated.data(), options, Seed{1}, {}).predict(law.sample.x, {});
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_NEAR(a.mean[i], b.mean[i], 1e-3);
    EXPECT_NEAR(a.sd[i], b.sd[i], 1e-3);
  }
}

TEST(NaturalBoosting, WithoutColumnsItIsTheSample) {
  const Sample train{Matrix(30, 0), make_sample(30, 1, Seed{2}).y, {}};
  const auto model = NaturalBoosting::fit(train.data(), {}, Seed{1}, {});
  const Gaussians laws = model.predict(Matrix(2, 0), {});
  double mean = 0.0, variance = 0.0;
  for (const double y : train.y) mean += y / 30.0;
  for (const double y : train.y) variance += (y - mean) * (y - mean) / 30.0;
  EXPECT_NEAR(laws.mean[1], mean, 1e-12);
  EXPECT_NEAR(laws.sd[1], std::sqrt(variance), 1e-12);
}

TEST(NaturalBoosting, DamagedFilesAreRefused) {
  TensorStore store;
  NaturalBoosting::fit(known_law(100, Seed{1}).sample.data(), {.rounds = 3}, Seed{1}, {})
      .save(TensorWriter(store));
  EXPECT_NO_THROW(NaturalBoosting::load(TensorReader(store)));
  const auto refused = [&](const std::function<void(TensorStore&)>& damage) {
    TensorStore damaged = store;
    damage(damaged);
    expect_error(ErrorCode::kCorruptFile, "model file",
                 [&] { NaturalBoosting::load(TensorReader(damaged)); });
  };
  refused([](TensorStore& s) { s.values["unit"] = -1.0; });
  refused([](TensorStore& s) { s.values["unit"] = "one"; });
  refused([](TensorStore& s) { s.tensors.erase("mean.root"); });
  refused([](TensorStore& s) {
    for (const char* name : {"root", "feature", "left", "right"}) {
      s.tensors.erase(std::string("log_sd.") + name);
      TensorWriter(s).part("log_sd").tensor(name, std::vector<std::int32_t>{});
    }
    s.tensors.erase("log_sd.value");
    TensorWriter(s).part("log_sd").tensor("value", std::vector<float>{});
  });
}

}  // namespace
}  // namespace tare
