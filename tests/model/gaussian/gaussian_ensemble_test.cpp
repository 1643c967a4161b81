// SPDX-License-Identifier: BSD-3-Clause
#include "model/gaussian/gaussian_ensemble.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "expect_error.h"
#include "io/tensor_store.h"
#include "model/sample.h"

namespace tare {
namespace {

EnsembleOptions options(const char* params, std::size_t members) {
  return {GaussianOptions::feed_forward(Params::parse(params)), members};
}

TEST(MixtureMoments, AreTheFormula) {
  Rng rng(Seed{1});
  std::vector<double> mean(7);
  std::vector<double> sd(7);
  MixtureMoments moments(1, 1e200);
  double center = 0.0;
  for (std::size_t k = 0; k < 7; ++k) {
    mean[k] = 1e6 + rng.normal();
    sd[k] = rng.uniform(0.1, 2.0);
    center += (mean[k] - 1e6) / 7.0;
    moments.add(0, 1e200 * mean[k], 1e200 * sd[k]);  // squares of these overflow
  }
  double variance = 0.0;
  for (std::size_t k = 0; k < 7; ++k)
    variance += (sd[k] * sd[k] + std::pow(mean[k] - 1e6 - center, 2.0)) / 7.0;
  const Gaussians law = moments.result();
  EXPECT_NEAR(law.mean[0] / 1e200, 1e6 + center, 1e-9);
  EXPECT_NEAR(law.sd[0] / 1e200, std::sqrt(variance), 1e-9);  // an offset of 1e6 costs six digits
}

TEST(MixtureMoments, OfEqualLawsAreThatLaw) {
  MixtureMoments moments(1, 0.3);
  for (int k = 0; k < 5; ++k) moments.add(0, 0.1, 0.3);
  EXPECT_EQ(moments.result().mean[0], 0.1);
  EXPECT_DOUBLE_EQ(moments.result().sd[0], 0.3);
}

TEST(GaussianEnsemble, IsTheMixtureOfMembersWithTheirOwnSeeds) {
  const Sample sample = make_sample(300, 2, Seed{2});
  const EnsembleOptions three = options("epochs=4", 3);
  const GaussianEnsemble ensemble = fit_gaussian_ensemble(sample.data(), three, Seed{5}, {});
  const Gaussians together = ensemble.predict(sample.x);
  std::vector<Gaussians> each;
  for (std::uint64_t k = 0; k < 3; ++k) {
    const auto alone = fit_gaussian_network(sample.data(), three.network, split(Seed{5}, k),
                                            {.threads = 1, .progress = {}});
    each.push_back(alone.predict(sample.x));
  }
  for (std::size_t i = 0; i < 300; ++i) {
    double mean = 0.0;
    for (const Gaussians& one : each) mean += one.mean[i] / 3.0;
    double variance = 0.0;
    for (const Gaussians& one : each)
      variance += (one.sd[i] * one.sd[i] + std::pow(one.mean[i] - mean, 2.0)) / 3.0;
    EXPECT_NEAR(together.mean[i], mean, 1e-12);
    EXPECT_NEAR(together.sd[i], std::sqrt(variance), 1e-12);
  }
  EXPECT_NE(each[0].mean, each[1].mean);
  EXPECT_NE(each[1].mean, each[2].mean);
}

TEST(GaussianEnsemble, ReportsItsProgressAsOne) {
  const Sample sample = make_sample(200, 2, Seed{3});
  std::atomic<int> inside = 0;
  double last = 0.0;
  Execution how;
  how.threads = 4;
  how.progress = [&](std::string_view, double share) {
    EXPECT_EQ(++inside, 1);
    EXPECT_GE(share, last - 1e-12);  // a sum of shares
    last = share;
    --inside;
  };
  fit_gaussian_ensemble(sample.data(), options("epochs=5", 4), Seed{1}, how);
  EXPECT_NEAR(last, 1.0, 1e-12);
}

TEST(GaussianEnsemble, DamagedFilesAreRefused) {
  const Sample sample = make_sample(60, 2, Seed{4});
  const auto ensemble = fit_gaussian_ensemble(sample.data(), options("epochs=1", 2), Seed{1}, {});
  TensorStore good;
  ensemble.save(TensorWriter(good));
  EXPECT_EQ(GaussianEnsemble::load(TensorReader(good)).members().size(), 2U);
  for (const Json& count : {Json(0U), Json(3U), Json(5000U), Json("two")}) {
    TensorStore bad = good;
    bad.values.at("members") = count;
    expect_error(ErrorCode::kCorruptFile, "", [&] { GaussianEnsemble::load(TensorReader(bad)); });
  }
}

/// Mean loss of the rows at the worse end of a step to either side.
double worst_loss(const GaussianNetwork& network, const Sample& sample, double step) {
  double sum = 0.0;
  std::vector<double> loss(sample.y.size(), -1e9);
  for (const double move : {-step, step}) {
    Matrix x = sample.x;
    for (double& value : x.values()) value += move;
    const Gaussians laws = network.predict(x);
    for (std::size_t i = 0; i < loss.size(); ++i) {
      const double score = (sample.y[i] - laws.mean[i]) / laws.sd[i];
      loss[i] = std::max(loss[i], std::log(laws.sd[i]) + 0.5 * score * score);
    }
  }
  for (const double value : loss) sum += value / static_cast<double>(loss.size());
  return sum;
}

TEST(AdversarialExamples, MakeANetworkBetterWhereInputsAreMovedAgainstIt) {
  const Sample sample = make_sample(400, 1, Seed{5}, 0.05);
  // A tenth of the range of [-2, 2]: enough to move a steep wave by several of its noise's sds.
  const auto plain = options("epochs=40", 1).network;
  const auto hardened = options("epochs=40 adversarial=0.1", 1).network;
  const auto fit = [&](const GaussianOptions& how) {
    return fit_gaussian_network(sample.data(), how, Seed{2}, {});
  };
  EXPECT_LT(worst_loss(fit(hardened), sample, 0.4), worst_loss(fit(plain), sample, 0.4) - 0.5);
}

TEST(AdversarialExamples, OfColumnsWithoutARangeAreTheRowsThemselves) {
  Sample sample = make_sample(100, 1, Seed{6});
  std::ranges::fill(sample.x.values(), 3.0);
  const auto parameters = [&](const char* params) {
    return fit_gaussian_network(sample.data(), options(params, 1).network, Seed{2}, {})
        .fitted()
        .result.parameters;
  };
  const auto plain = parameters("epochs=5");
  const auto moved = parameters("epochs=5 adversarial=0.5");
  // Gradients are the same but for the order of float sums, over 45 steps of at most 0.005.
  for (std::size_t k = 0; k < plain.size(); ++k) EXPECT_NEAR(plain[k], moved[k], 1e-4) << k;
}

}  // namespace
}  // namespace tare
