// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/distribution_calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "expect_error.h"
#include "math/normal.h"
#include "model/gp/beta_link.h"
#include "model/gp/sparse_gp.h"
#include "model/nn/graph/operations.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

double beta_map(const BetaParameters& w, double q) {
  const double odds =
      std::exp(w[2]) * std::pow(q, std::exp(w[0])) / std::pow(1.0 - q, std::exp(w[1]));
  return 1.0 / (1.0 + 1.0 / odds);
}

TEST(MeanBetaMap, IsTheMeanOfTheMapsAndItsInverse) {
  Rng rng(Seed{1});
  for (int k = 0; k < 200; ++k) {
    std::vector<BetaParameters> maps(1 + rng.below(8));
    for (BetaParameters& w : maps) {
      for (double& value : w) value = 0.7 * rng.normal();
    }
    const MeanBetaMap map(maps);
    for (const double score : {-5.0, -2.0, -0.3, 0.0, 0.7, 1.9, 4.0}) {
      double mean = 0.0;
      for (const BetaParameters& w : maps)
        mean += beta_map(w, normal_cdf(score)) / static_cast<double>(maps.size());
      EXPECT_NEAR(map.level_of(score), mean, 1e-9);
    }
    double before = -1e9;
    for (const double tau : {1e-9, 0.001, 0.05, 0.3, 0.5, 0.500001, 0.8, 0.99, 0.999999}) {
      const double score = map.score_at(Level(tau));
      EXPECT_GE(score, before);
      EXPECT_NEAR(map.level_of(score), tau, 1e-9 * std::min(tau, 1.0 - tau) + 1e-14);
      before = score;
    }
  }
}

TEST(MeanBetaMap, TheIdentityIsTheIdentity) {
  const MeanBetaMap map(std::vector<BetaParameters>{{0.0, 0.0, 0.0}});
  for (const double tau : {0.001, 0.1, 0.5, 0.77, 0.9999})
    EXPECT_NEAR(map.score_at(Level(tau)), normal_quantile(tau), 1e-12);
}

/// Extreme parameters: within 38, and in order.
TEST(MeanBetaMap, IsFiniteForExtremeParameters) {
  for (const double a : {-1e3, 0.0, 1e3}) {
    for (const double b : {-1e3, 0.0, 1e3}) {
      for (const double c : {-1e3, 0.0, 1e3}) {
        const MeanBetaMap map(std::vector<BetaParameters>{{a, b, c}});
        double before = -38.0;
        for (const double tau : {1e-9, 0.01, 0.5, 0.99, 0.9999999}) {
          const double score = map.score_at(Level(tau));
          EXPECT_GE(score, before);
          EXPECT_LE(score, 38.0);
          before = score;
        }
      }
    }
  }
}

/// Rows whose targets follow a map that depends on the first number of their distribution.
struct LinkCase {
  Matrix law;
  std::vector<double> score;
};

BetaParameters true_map(double at) { return {0.8 * at, -0.8 * at, 0.0}; }

LinkCase link_case(std::size_t rows, std::uint64_t seed) {
  LinkCase one{Matrix(rows, 2), {}};
  Rng rng(Seed{seed});
  for (std::size_t i = 0; i < rows; ++i) {
    one.law(i, 0) = rng.uniform(-1.0, 1.0);
    one.law(i, 1) = rng.normal();
    const MeanBetaMap map(std::vector<BetaParameters>{true_map(one.law(i, 0))});
    one.score.push_back(map.score_at(Level(std::clamp(rng.uniform(), 1e-12, 1.0 - 1e-12))));
  }
  return one;
}

BetaLink fit_link(const LinkCase& one) {
  return BetaLink::fit(
      {one.law, one.score, {}},
      {.points = 20, .training = nn::FitOptions(Params::parse("epochs=100"), 0.01, 128)}, Seed{1},
      {});
}

/// 3,000 rows: a level is estimated within about 0.5 / sqrt(3000 / 5) = 0.02, as if five constants
/// were learned; the identity is off by 0.1 on average.
TEST(BetaLink, LearnsAMapThatDependsOnTheDistribution) {
  const BetaLink link = fit_link(link_case(3000, 1));
  double error = 0.0, of_identity = 0.0, count = 0.0;
  for (double at = -0.95; at < 1.0; at += 0.1) {
    const MeanBetaMap learned(BetaLink::draws(link.posterior(std::array{at, 0.3})));
    const MeanBetaMap truth(std::vector<BetaParameters>{true_map(at)});
    for (const double score : {-1.5, -0.5, 0.0, 0.5, 1.5}) {
      error += std::abs(learned.level_of(score) - truth.level_of(score));
      of_identity += std::abs(normal_cdf(score) - truth.level_of(score));
      count += 1.0;
    }
  }
  EXPECT_LT(error / count, 0.03);
  EXPECT_GT(of_identity / count, 0.08);
}

TEST(BetaLink, FarFromAllRowsItIsUncertainAndFinite) {
  const BetaLink link = fit_link(link_case(500, 2));
  const auto near = link.posterior(std::array{0.0, 0.0});
  const auto far = link.posterior(std::array{1e3, -1e3});
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_GT(far.sd[j], near.sd[j]);
    EXPECT_NEAR(far.mean[j], 0.0, 1e-12);
  }
}

/// The posterior in plain loops is that of the layer that is trained.
TEST(BetaLink, HasThePosteriorOfItsLayer) {
  nn::Layout layout;
  const SparseGpLayer layer(layout, 7, 2, BetaLink::kOutputs);
  std::vector<float> values(layout.size());
  Rng rng(Seed{3});
  for (float& value : values) value = static_cast<float>(rng.normal());
  for (const nn::Block& block : layer.factor) {  // lower triangles
    const auto s = block.of(std::span(values));
    for (std::size_t i = 0; i < 7; ++i)
      std::fill_n(s.begin() + static_cast<std::ptrdiff_t>(7 * i + i + 1), 6 - i, 0.0F);
  }
  const BetaLink link = BetaLink::of(layer, values);
  const std::vector<double> same(values.begin(), values.end());
  nn::Graph<double> graph(same);
  const auto x = graph.input(5, 2);
  for (double& value : x.value()) value = rng.normal();
  const auto law = layer(x);
  graph.forward();
  for (std::size_t i = 0; i < 5; ++i) {
    const auto posterior = link.posterior(x.value().subspan(2 * i, 2));
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(posterior.mean[j], law.mean.value()[3 * i + j], 1e-9);
      EXPECT_NEAR(posterior.sd[j], std::sqrt(law.variance.value()[3 * i + j]), 1e-9);
    }
  }
}

/// Skewed to the left where the mean is low and to the right where it is high: a normal
/// distribution is wrong in a way that depends on its mean, and a correction that is the same for
/// all rows finds that both errors cancel.
Law turning_law(double x) { return {LawShape::kSkewed, 4.0 * x, 1.0, 0.0}; }

Sample turning_sample(std::size_t rows, std::uint64_t seed) {
  Sample data{Matrix(rows, 1), {}};
  Rng rng(Seed{seed});
  for (std::size_t i = 0; i < rows; ++i) {
    data.x(i, 0) = rng.uniform();
    const double noise = turning_law(0.0).draw(rng);
    data.y.push_back(4.0 * data.x(i, 0) + (data.x(i, 0) < 0.5 ? -noise : noise));
  }
  return data;
}

double turning_cdf(double x, double y) {
  const Law law = turning_law(x);
  return x < 0.5 ? 1.0 - law.cdf(2.0 * law.location - y) : law.cdf(y);
}

struct Miscalibration {
  double overall = 0.0;  // mean over levels of |share of targets below - level|
  double by_law = 0.0;   // the same within tenths of the rows by predicted median, mean
};

Miscalibration miscalibration(const char* method) {
  const Sample data = turning_sample(10'000, 1);
  FitInput input{.x = data.x, .y = data.y};
  input.seed = Seed{2};
  const auto model = find_method(method).fit(input, Params::parse("batch=128 epochs=60"), {});
  const Sample fresh = turning_sample(1000, 3);
  const std::vector<Level> levels = metric_levels();
  const Prediction p = model->predict({fresh.x}, levels);
  std::vector<std::size_t> order(1000);
  for (std::size_t i = 0; i < 1000; ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return p.quantiles(i, 50); });
  Miscalibration result;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    double all = 0.0;
    for (std::size_t tenth = 0; tenth < 10; ++tenth) {
      double share = 0.0;
      for (std::size_t k = 100 * tenth; k < 100 * (tenth + 1); ++k)
        share += turning_cdf(fresh.x(order[k], 0), p.quantiles(order[k], j)) / 100.0;
      result.by_law += std::abs(share - levels[j].value()) / 1000.0;
      all += share / 10.0;
    }
    result.overall += std::abs(all - levels[j].value()) / 100.0;
  }
  return result;
}

/// Measured: 0.033 within tenths, where hnn and isr have 0.07; overall 0.020, hnn 0.03 and isr,
/// which is made for that alone, 0.005. A beta map cannot make an exponential distribution exactly.
TEST(DistributionCalibration, IsCalibratedAmongRowsWithTheSamePrediction) {
  const Miscalibration base = miscalibration("hnn"), isotonic = miscalibration("isr");
  const Miscalibration mapped = miscalibration("distribution_calibration");
  EXPECT_LT(mapped.by_law, 0.65 * base.by_law);
  EXPECT_LT(mapped.by_law, 0.65 * isotonic.by_law);
  EXPECT_LT(mapped.overall, base.overall);
}

TEST(DistributionCalibration, OptionsAreChecked) {
  const Sample data = draw(find_problem("hetero_2"), 100, Seed{1});
  for (const char* wrong : {"inducing=0", "inducing=5000", "link_batch=0", "link_learning_rate=-1",
                            "split=2", "link_epochs=3"}) {
    const FitInput input{.x = data.x, .y = data.y};
    const std::string option = std::string(wrong).substr(0, std::string(wrong).find('='));
    expect_error(ErrorCode::kInvalidArgument, option, [&] {
      fit_method(find_method("distribution_calibration"), input, Params::parse(wrong));
    });
  }
}

}  // namespace
}  // namespace tare
