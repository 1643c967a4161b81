// SPDX-License-Identifier: BSD-3-Clause
#include "model/quantile/quantile_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "expect_error.h"
#include "io/tensor_store.h"
#include "math/normal.h"
#include "model/nn/graph/operations.h"
#include "model/sample.h"

namespace tare {
namespace {

QuantileTask pinball_task(const char* options) {
  QuantileTask task(Params::parse(options));
  task.loss = pinball_loss;
  return task;
}

QuantileNetwork fitted(const Sample& sample, const char* options = "epochs=3") {
  return QuantileNetwork::fit(sample.data(), pinball_task(options), Seed{1}, {});
}

std::vector<Level> some_levels() {
  return {Level{0.01}, Level{0.1}, Level{0.25}, Level{0.5}, Level{0.75}, Level{0.9}, Level{0.99}};
}

TEST(QuantileNetwork, AnswersAscendAndDoNotDependOnTheRowsAround) {
  const Sample sample = make_sample(600, 3, Seed{1});
  const QuantileNetwork network = fitted(sample);
  const auto levels = some_levels();
  const Matrix all = network.quantiles(sample.x, levels, {});
  for (std::size_t i = 0; i < all.rows(); ++i) EXPECT_TRUE(std::ranges::is_sorted(all.row(i))) << i;
  for (const std::size_t i : {0U, 255U, 256U, 599U}) {
    const Matrix one = network.quantiles(sample.x.view().middle_rows(i, 1), levels, {});
    EXPECT_TRUE(std::ranges::equal(all.row(i), one.row(0))) << i;
  }
}

TEST(QuantileNetwork, LearnsTheLawOfATargetWithoutFeatures) {
  Sample sample;
  sample.x = Matrix(1000, 0);
  Rng rng(Seed{5});
  for (int i = 0; i < 1000; ++i) sample.y.push_back(10.0 + 3.0 * rng.normal());
  const QuantileNetwork network = fitted(sample, "epochs=30");
  const auto levels = some_levels();
  const Matrix q = network.quantiles(sample.x.view().middle_rows(0, 1), levels, {});
  // The error of a sample quantile of 850 rows at level 0.1 is 0.06 standard deviations; four of
  // them, at levels that are not the extreme ones.
  for (std::size_t k = 1; k + 1 < levels.size(); ++k) {
    EXPECT_NEAR((q(0, k) - 10.0) / 3.0, normal_quantile(levels[k].value()), 0.24) << k;
  }
}

TEST(QuantileNetwork, FollowsATargetOfItsOwnInsteadOfTheRows) {
  const Sample sample = make_sample(500, 1, Seed{2});
  QuantileTask task(Params::parse("epochs=60"));
  task.loss = [](const LevelBatch& batch) {
    return nn::mean(square(batch.quantile - batch.target));
  };
  task.target = [&](std::size_t row, double tau) { return sample.x(row, 0) + tau; };
  const auto network = QuantileNetwork::fit(sample.data(), task, Seed{1}, {});
  const auto levels = some_levels();
  const Matrix q = network.quantiles(sample.x, levels, {});
  double worst = 0.0;
  for (std::size_t i = 0; i < q.rows(); ++i) {
    for (std::size_t k = 0; k < levels.size(); ++k)
      worst = std::max(worst, std::abs(q(i, k) - sample.x(i, 0) - levels[k].value()));
  }
  // x spans 4 and tau 1; a network that followed the rows, a wave, would be off by more than 1.
  EXPECT_LT(worst, 0.3);
}

TEST(QuantileNetwork, AConstantTargetIsAnsweredExactly) {
  Sample sample = make_sample(50, 2, Seed{3});
  std::ranges::fill(sample.y, 0.1);
  const Matrix q = fitted(sample).quantiles(sample.x, some_levels(), {});
  for (const double value : q.values()) EXPECT_EQ(value, 0.1);
}

TEST(QuantileNetwork, FarAwayRowsGetFiniteAnswers) {
  const Sample sample = make_sample(100, 2, Seed{4});
  const Matrix far(1, 2, std::numeric_limits<double>::max());
  const Matrix q = fitted(sample).quantiles(far, some_levels(), {});
  for (const double value : q.values()) EXPECT_TRUE(std::isfinite(value));
}

TEST(QuantileNetwork, WeightsCountAsRepeatedRowsDo) {
  // Half the rows are at 0 with weight 3, half at 1 with weight 1: the 0.6-quantile is 0, and would
  // be 1 without weights.
  Sample sample;
  sample.x = Matrix(400, 1);
  std::vector<double> weight;
  for (int i = 0; i < 400; ++i) {
    sample.y.push_back(i % 2);
    weight.push_back(i % 2 == 0 ? 3.0 : 1.0);
  }
  RegressionData data = sample.data();
  data.weight = weight;
  const auto network = QuantileNetwork::fit(data, pinball_task("epochs=40"), Seed{1}, {});
  const std::vector<Level> levels = {Level{0.6}};
  const Matrix x(1, 1);
  EXPECT_LT(network.quantiles(x, levels, {})(0, 0), 0.3);
  EXPECT_GT(fitted(sample, "epochs=40").quantiles(x, levels, {})(0, 0), 0.7);
}

TEST(QuantileNetwork, ReportsThePinballLossOfItsValidationRows) {
  const Sample sample = make_sample(400, 2, Seed{6});
  TensorStore store;
  const QuantileNetwork network = fitted(sample, "epochs=20");
  network.save(TensorWriter(store));
  // Its own loss is the pinball loss, before sorting: sorting never raises it, and seldom matters.
  const auto loss = store.values.at("validation_loss").get<double>();
  EXPECT_LE(network.validation_pinball(), loss * 1.0001);
  EXPECT_GT(network.validation_pinball(), loss * 0.95);
}

TEST(QuantileNetwork, SavedAndLoadedAnswersTheSame) {
  const Sample sample = make_sample(100, 2, Seed{7});
  const QuantileNetwork network = fitted(sample, "epochs=2 hidden=7,5,3 activation=tanh");
  TensorStore store;
  network.save(TensorWriter(store));
  const QuantileNetwork loaded = QuantileNetwork::load(TensorReader(store));
  const auto levels = some_levels();
  EXPECT_TRUE(std::ranges::equal(network.quantiles(sample.x, levels, {}).values(),
                                 loaded.quantiles(sample.x, levels, {}).values()));
}

TEST(QuantileNetwork, ADamagedFileIsRefused) {
  TensorStore whole;
  fitted(make_sample(60, 2, Seed{8}), "epochs=1").save(TensorWriter(whole));
  const auto expect_corrupt = [](const TensorStore& store) {
    expect_error(ErrorCode::kCorruptFile, "", [&] { QuantileNetwork::load(TensorReader(store)); });
  };
  for (const auto& [name, tensor] : whole.tensors) {
    TensorStore store = whole;
    store.tensors.erase(name);
    expect_corrupt(store);
    store = whole;
    store.tensors[name].shape.push_back(2);
    expect_corrupt(store);
    store = whole;
    std::vector<std::byte> bytes(tensor.bytes.span().begin(), tensor.bytes.span().end());
    std::ranges::fill(bytes, std::byte{0xff});  // NaN in every place
    store.tensors[name].bytes = Buffer<std::byte>(bytes);
    expect_corrupt(store);
  }
  for (const auto& [name, value] : whole.values) {
    TensorStore store = whole;
    store.values.erase(name);
    expect_corrupt(store);
  }
}

TEST(QuantileNetwork, OptionsOutOfRangeAreRefused) {
  for (const char* options : {"levels=3", "levels=0", "hidden=0", "activation=step", "grid=all"}) {
    expect_error(ErrorCode::kInvalidArgument, "", [&] { pinball_task(options); });
  }
}

}  // namespace
}  // namespace tare
