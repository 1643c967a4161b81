// SPDX-License-Identifier: BSD-3-Clause
#include "model/boosting/quantile_boosting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "io/tensor_store.h"
#include "model/sample.h"

namespace tare {
namespace {

const std::vector<Level> kThree = {Level{0.1}, Level{0.5}, Level{0.9}};

Matrix predicted(const QuantileBoosting& model, MatrixView x, std::size_t threads = 1) {
  Matrix out(x.rows(), model.levels());
  model.predict(x, out, {.threads = threads, .progress = {}});
  return out;
}

QuantileBoosting fit(const Sample& sample, const QuantileBoostingOptions& options = {},
                     std::size_t threads = 1) {
  return QuantileBoosting::fit(sample.data(), kThree, options, Seed{3},
                               {.threads = threads, .progress = {}});
}

/// x is 0 or 1; y is U[0, 1] at 0 and U[10, 30] at 1.
Sample two_groups(std::size_t rows) {
  Sample sample{Matrix(rows, 1), {}, {}};
  Rng rng(Seed{8});
  for (std::size_t i = 0; i < rows; ++i) {
    sample.x(i, 0) = static_cast<double>(i % 2);
    sample.y.push_back(i % 2 == 0 ? rng.uniform() : rng.uniform(10.0, 30.0));
  }
  return sample;
}

TEST(QuantileBoosting, FindsTheQuantilesOfEachGroup) {
  const Sample sample = two_groups(4000);
  const Matrix q = predicted(fit(sample), sample.x.view().middle_rows(0, 2));
  for (std::size_t k = 0; k < 3; ++k) {
    const double tau = kThree[k].value();
    // Four standard deviations of the quantile of 2,000 uniform values; what a rate of 0.2 leaves
    // of the way is far less.
    const double slack = 4.0 * std::sqrt(tau * (1.0 - tau) / 2000.0);
    EXPECT_NEAR(q(0, k), tau, slack);
    EXPECT_NEAR(q(1, k), 10.0 + 20.0 * tau, 20.0 * slack);
  }
}

TEST(QuantileBoosting, OneFullStepIsTheQuantileOfTheLeaf) {
  // One round at rate 1 with nothing held back puts each leaf on an order statistic of its rows.
  Sample sample = two_groups(30);  // one member holds out 4 rows of 30; which, it does not say
  const Matrix q = predicted(fit(sample, {.rounds = 1,
                                          .learning_rate = 1.0,
                                          .depth = 1,
                                          .min_leaf = 1.0,
                                          .rows = 1.0,
                                          .shrink = 0.0,
                                          .members = 1,
                                          .patience = 5}),
                             sample.x.view().middle_rows(0, 2));
  for (std::size_t g = 0; g < 2; ++g) {
    for (std::size_t k = 0; k < 3; ++k) {
      const bool is_a_target = std::ranges::any_of(
          sample.y, [&](double y) { return std::abs(y - q(g, k)) < 1e-5; });  // floats
      EXPECT_TRUE(is_a_target) << q(g, k);
      EXPECT_EQ(q(g, k) > 5.0, g == 1);
    }
  }
}

TEST(QuantileBoosting, RowsOfNoWeightToSpeakOfSayNothing) {
  Sample sample = two_groups(4000);
  for (std::size_t i = 0; i < 4000; ++i) {
    const bool junk = i % 4 >= 2;
    sample.weight.push_back(junk ? 1e-9 : 2.0);
    if (junk) sample.y[i] = -50.0;
  }
  const Matrix q = predicted(fit(sample), sample.x.view().middle_rows(0, 2));
  for (std::size_t k = 0; k < 3; ++k) {
    const double tau = kThree[k].value();
    const double slack = 4.0 * std::sqrt(tau * (1.0 - tau) / 1000.0);
    EXPECT_NEAR(q(0, k), tau, slack);
    EXPECT_NEAR(q(1, k), 10.0 + 20.0 * tau, 20.0 * slack);
  }
}

TEST(QuantileBoosting, ThreadsChangeNothing) {
  const Sample sample = make_sample(300, 3, Seed{1});
  const Matrix one = predicted(fit(sample), sample.x);
  const Matrix four = predicted(fit(sample, {}, 4), sample.x, 4);
  EXPECT_TRUE(std::ranges::equal(one.values(), four.values()));
}

TEST(QuantileBoosting, AConstantTargetNeedsNoTree) {
  Sample sample = make_sample(50, 2, Seed{1});
  std::ranges::fill(sample.y, 0.1);
  const QuantileBoosting model = fit(sample);
  EXPECT_EQ(model.trees(), 0U);
  const Matrix answers = predicted(model, sample.x);
  for (const double q : answers.values()) EXPECT_EQ(q, 0.1);
}

TEST(QuantileBoosting, FewRowsAndNoColumnsGiveQuantilesOfTheTarget) {
  Sample sample{Matrix(2, 0), {1.0, 2.0}, {}};
  const Matrix answers = predicted(fit(sample), sample.x);
  for (const double q : answers.values()) {
    EXPECT_GE(q, 1.0);
    EXPECT_LE(q, 2.0);
  }
  Sample one = make_sample(1, 2, Seed{1});
  EXPECT_EQ(predicted(fit(one), one.x)(0, 1), one.y[0]);
  expect_error(ErrorCode::kBadData, "row", [] { fit(Sample{Matrix(0, 2), {}, {}}); });
}

TEST(QuantileBoosting, StopsWhereThereIsNothingToLearn) {
  Sample sample = make_sample(500, 2, Seed{1}, 1.0);
  Rng rng(Seed{2});
  for (double& y : sample.y) y = rng.normal();
  // Five members that wait 30 rounds each would have 150 trees if they did not go back.
  EXPECT_LT(fit(sample).trees(), 150U);
}

TEST(QuantileBoosting, OptionsOutsideTheirRangeAreRefused) {
  for (const char* wrong : {"rounds=0", "learning_rate=0", "depth=0", "depth=17", "min_leaf=-1",
                            "rows=0", "rows=2", "shrink=-1", "members=0", "patience=0"}) {
    expect_error(ErrorCode::kInvalidArgument, std::string(wrong).substr(0, 4),
                 [&] { QuantileBoostingOptions::parse(Params::parse(wrong)); });
  }
  // The list that users see says what parse takes where nothing is given.
  Params listed;
  for (const ParamInfo& option : kQuantileBoostingOptions) {
    listed.set(std::string(option.name), std::string(option.fallback));
  }
  const auto a = QuantileBoostingOptions::parse(listed), b = QuantileBoostingOptions::parse({});
  EXPECT_EQ(std::tuple(a.rounds, a.learning_rate, a.depth, a.min_leaf),
            std::tuple(b.rounds, b.learning_rate, b.depth, b.min_leaf));
  EXPECT_EQ(std::tuple(a.rows, a.shrink, a.members, a.patience),
            std::tuple(b.rows, b.shrink, b.members, b.patience));
}

TEST(QuantileBoosting, SavedAndLoadedPredictsTheSameAndDamageIsSeen) {
  const Sample sample = make_sample(200, 2, Seed{1});
  const QuantileBoosting model = fit(sample);
  TensorStore store;
  model.save(TensorWriter(store));
  const Matrix before = predicted(model, sample.x);
  const Matrix after = predicted(QuantileBoosting::load(TensorReader(store)), sample.x);
  EXPECT_TRUE(std::ranges::equal(before.values(), after.values()));

  const auto refused = [&](const std::function<void(TensorStore&)>& damage) {
    TensorStore damaged = store;
    damage(damaged);
    expect_error(ErrorCode::kCorruptFile, "model file",
                 [&] { QuantileBoosting::load(TensorReader(damaged)); });
  };
  const Shape leaves = store.tensors.at("leaf").shape;
  const auto put_leaf = [&](TensorStore& s, float value, Shape shape) {
    s.tensors.erase("leaf");
    const std::vector<float> values(shape[0] * shape[1], value);
    TensorWriter(s).tensor<float>("leaf", values, std::move(shape));
  };
  refused([&](TensorStore& s) { put_leaf(s, std::nanf(""), leaves); });
  refused([&](TensorStore& s) { put_leaf(s, 0.0F, {leaves[0] - 1, leaves[1]}); });
  refused([&](TensorStore& s) { put_leaf(s, 0.0F, {leaves[0], leaves[1] + 1}); });
  const auto put_base = [](TensorStore& s, const std::vector<double>& base) {
    s.tensors.erase("base");
    TensorWriter(s).tensor("base", base);
  };
  refused([&](TensorStore& s) { put_base(s, {}); });
  refused([&](TensorStore& s) { put_base(s, {0.0, std::nan(""), 0.0}); });
  refused([&](TensorStore& s) { put_base(s, {1e308, 1e308, 1e308}); });
  refused([](TensorStore& s) { s.values["scale"] = 0.0; });
  refused([](TensorStore& s) { s.values["mean"] = "x"; });
  refused([](TensorStore& s) { s.tensors.erase("trees.root"); });
}

TEST(QuantileBoosting, WrongShapesAreRefused) {
  const Sample sample = make_sample(60, 2, Seed{1});
  const QuantileBoosting model = fit(sample);
  Matrix out(60, 3), narrow(60, 2);
  expect_error(ErrorCode::kShapeMismatch, "2 features",
               [&] { model.predict(Matrix(60, 5), out, {}); });
  expect_error(ErrorCode::kShapeMismatch, "2 places", [&] { model.predict(sample.x, narrow, {}); });
}

}  // namespace
}  // namespace tare
