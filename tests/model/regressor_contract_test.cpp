// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "draws.h"
#include "io/tensor_store.h"
#include "model/sample.h"
#include "tare/base/error.h"
#include "tare/model/regressor.h"

namespace tare {
namespace {

bool available(const RegressorKind& kind) {
#ifdef TARE_WITH_XGBOOST
  (void)kind;
  return true;
#else
  return kind.name != "forest" && kind.name != "boosting";
#endif
}

/// What holds for every row of the table.
class RegressorContract : public testing::TestWithParam<RegressorKind> {
 protected:
  void SetUp() override {
    if (!available(GetParam())) GTEST_SKIP() << "needs XGBoost";
  }

  bool predicts_zero() const { return GetParam().name == "zero"; }

  std::unique_ptr<Regressor> fit(const Sample& sample, Seed seed = {}, std::size_t threads = 1,
                                 const Params& params = {}) const {
    Execution how;
    how.threads = threads;
    return GetParam().fit(sample.data(), params, seed, how);
  }

  static ErrorCode code_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::kIo;
  }
};

TEST_P(RegressorContract, SameSeedGivesTheSameBytes) {
  const Sample sample = make_sample(400, 3, Seed{1});
  EXPECT_EQ(predictions(*fit(sample, Seed{5}), sample.x),
            predictions(*fit(sample, Seed{5}), sample.x));
}

TEST_P(RegressorContract, ThreadsDoNotChangeAByte) {
  const Sample sample = make_sample(draws(3000), 3, Seed{2});
  const auto one = predictions(*fit(sample, Seed{5}, 1), sample.x, 1);
  for (const std::size_t threads : {2U, 8U}) {
    EXPECT_EQ(predictions(*fit(sample, Seed{5}, threads), sample.x, threads), one) << threads;
  }
}

TEST_P(RegressorContract, SavedAndLoadedPredictsTheSameBytes) {
  const Sample sample = make_sample(300, 4, Seed{3});
  const auto model = fit(sample);
  TensorStore store;
  model->save(TensorWriter(store).part("model"));
  for (auto& [name, value] : store.values) value = Json::parse(value.dump());
  const auto loaded = GetParam().load(TensorReader(store).part("model"));
  EXPECT_EQ(loaded->features(), 4U);
  EXPECT_EQ(predictions(*loaded, sample.x), predictions(*model, sample.x));
}

TEST_P(RegressorContract, ConstantTargetIsPredictedExactly) {
  for (const double constant : {0.1, -3e12, 7e-12}) {
    Sample sample = make_sample(80, 3, Seed{4});
    sample.weight.assign(80, 0.7);
    std::ranges::fill(sample.y, constant);
    const double expected = predicts_zero() ? 0.0 : constant;
    EXPECT_THAT(predictions(*fit(sample), sample.x), testing::Each(expected));
  }
}

TEST_P(RegressorContract, NoColumnsPredictTheWeightedMean) {
  const Sample sample{Matrix(4, 0), {1.0, 2.0, 3.0, 6.0}, {1.0, 1.0, 1.0, 3.0}};
  const double expected = predicts_zero() ? 0.0 : 4.0;
  EXPECT_THAT(predictions(*fit(sample), sample.x), testing::Each(testing::DoubleEq(expected)));
}

TEST_P(RegressorContract, UnitsDoNotMatter) {
  const Sample sample = make_sample(500, 2, Seed{6});
  const auto plain = predictions(*fit(sample), sample.x);
  for (const double unit : {1e12, 1e-12}) {
    Sample scaled = sample;
    for (double& value : scaled.x.values()) value *= 1.0 / unit;
    for (double& value : scaled.y) value *= unit;
    const auto same = predictions(*fit(scaled), scaled.x);
    double gap = 0.0;
    for (std::size_t i = 0; i < plain.size(); ++i)
      gap += std::abs(same[i] / unit - plain[i]) / 500.0;
    // Rounding to float can move a row across a threshold, hence the mean and not the largest.
    EXPECT_LT(gap, 0.02) << unit;
  }
}

TEST_P(RegressorContract, LearnsFromALargeOffset) {
  // Seconds since 1970 within a day: float has steps of 128 s there.
  const Sample plain = make_sample(600, 1, Seed{7}, 0.05);
  Sample shifted = plain;
  for (double& value : shifted.x.values()) value = 1.7e9 + 10.0 * value;
  const auto expected = predictions(*fit(plain), plain.x);
  const auto actual = predictions(*fit(shifted), shifted.x);
  double gap = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    gap += std::abs(actual[i] - expected[i]) / 600.0;
  EXPECT_LT(gap, 0.02);
}

TEST_P(RegressorContract, FewRowsDuplicatesAndConstantColumnsWork) {
  for (const std::size_t rows : {1U, 2U, 10U, 49U, 50U}) {
    Sample sample = make_sample(rows, 4, Seed{rows});
    for (std::size_t i = 0; i < rows; ++i) {
      sample.x(i, 2) = 5.0;
      sample.x(i, 3) = sample.x(i, 0);
      if (i % 2 == 1) std::ranges::copy(sample.x.row(i - 1), sample.x.row(i).begin());
    }
    const auto [low, high] = std::ranges::minmax(sample.y);
    const double room = high - low + 1e-9;
    for (const double value : predictions(*fit(sample), sample.x)) {
      EXPECT_TRUE(predicts_zero() || (value > low - room && value < high + room)) << value;
    }
  }
}

TEST_P(RegressorContract, WeightsPullThePrediction) {
  const double expected = predicts_zero() ? 0.0 : 0.8;
  Sample sample{Matrix(400, 1, 1.0), std::vector<double>(400), std::vector<double>(400, 1.0)};
  Rng rng(Seed{8});
  for (std::size_t i = 0; i < 400; ++i) {
    sample.x(i, 0) = static_cast<double>(i % 7);
    sample.y[i] = i % 2 == 0 ? 0.0 : 1.0;
    sample.weight[i] = i % 2 == 0 ? 1.0 : 4.0;
  }
  for (const double value : predictions(*fit(sample), sample.x)) EXPECT_NEAR(value, expected, 0.1);
}

TEST_P(RegressorContract, WeightsMatterOnlyRelativeToEachOther) {
  Sample sample = make_sample(200, 2, Seed{9});
  sample.weight.assign(200, 1.0);
  for (std::size_t i = 0; i < 200; i += 3) sample.weight[i] = 2.0;
  const auto expected = predictions(*fit(sample), sample.x);
  for (double& weight : sample.weight) weight *= 1024.0;  // a power of two rounds nothing
  const auto actual = predictions(*fit(sample), sample.x);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-9);
}

TEST_P(RegressorContract, UnknownOptionIsAnError) {
  const Sample sample = make_sample(20, 2, Seed{10});
  EXPECT_EQ(code_of([&] { fit(sample, {}, 1, Params::parse("no_such_option=1")); }),
            ErrorCode::kInvalidArgument);
}

TEST_P(RegressorContract, EveryOptionRejectsNonsense) {
  const Sample sample = make_sample(20, 2, Seed{10});
  for (const ParamInfo& option : GetParam().options) {
    Params params;
    params.set(std::string(option.name), "-1");
    EXPECT_EQ(code_of([&] { fit(sample, {}, 1, params); }), ErrorCode::kInvalidArgument)
        << option.name;
  }
}

TEST_P(RegressorContract, EveryOptionAcceptsItsOwnDefaultAndChangesNothing) {
  const Sample sample = make_sample(100, 2, Seed{11});
  Params params;
  for (const ParamInfo& option : GetParam().options) {
    params.set(std::string(option.name), std::string(option.fallback));
  }
  EXPECT_EQ(predictions(*fit(sample, {}, 1, params), sample.x),
            predictions(*fit(sample), sample.x));
}

TEST_P(RegressorContract, ShapesThatDisagreeAreRejected) {
  Sample sample = make_sample(20, 2, Seed{12});
  const auto model = fit(sample);
  EXPECT_EQ(code_of([&] { predictions(*model, Matrix(3, 1)); }), ErrorCode::kShapeMismatch);
  sample.y.pop_back();
  EXPECT_EQ(code_of([&] { fit(sample); }), ErrorCode::kShapeMismatch);
  EXPECT_EQ(code_of([&] { fit(Sample{Matrix(0, 2), {}, {}}); }), ErrorCode::kBadData);
}

INSTANTIATE_TEST_SUITE_P(All, RegressorContract,
                         testing::ValuesIn(regressors().begin(), regressors().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(RegressorTable, IsFoundWhateverTheCase) {
  for (const RegressorKind& kind : regressors()) {
    EXPECT_EQ(find_regressor(kind.name).name, kind.name);
  }
  EXPECT_EQ(find_regressor("Ridge").name, "ridge");
}

TEST(RegressorTable, UnknownNameListsTheKnownOnesAndTheClosest) {
  try {
    find_regressor("forrest");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean forest?"));
    EXPECT_THAT(error.what(), testing::HasSubstr("ridge, forest, extra_trees, boosting, gp, zero"));
  }
}

}  // namespace
}  // namespace tare
