// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/warnings.h"

#include <gtest/gtest.h>

#include <set>

#include "expect_error.h"
#include "infinity.h"

namespace tare {
namespace {

/// A model whose guarantee keeps what it is told: `kept` per group, or nothing is known.
class KeepingModel final : public QuantileModel {
 public:
  /// The share that an upper bound keeps at most in each group; `folds`: what is proven is half of
  /// what is missed, everywhere.
  KeepingModel(std::vector<double> most, bool folds) : most_(std::move(most)), folds_(folds) {}
  std::size_t features() const override { return 1; }
  std::size_t given() const override { return 0; }
  void save(const TensorWriter&) const override {}
  Matrix delivered(const Rows& rows, std::span<const Level> levels) const override {
    if (most_.empty()) return {};
    Matrix kept(rows.x.rows(), levels.size());
    for (std::size_t i = 0; i < kept.rows(); ++i) {
      const double most = most_[rows.group.empty() ? 0 : rows.group[i]];
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const double tau = levels[j].value();
        const double level = tau < 0.5 ? std::max(tau, 1.0 - most) : std::min(tau, most);
        const double missed = tau < 0.5 ? level : 1.0 - level;
        kept(i, j) = !folds_ ? level : tau < 0.5 ? 2.0 * missed : 1.0 - 2.0 * missed;
      }
    }
    return kept;
  }

 protected:
  Prediction predict_ascending(const Rows&, std::span<const Level>,
                               const Execution&) const override {
    return {};
  }

 private:
  std::vector<double> most_;
  bool folds_;
};

const std::vector<Level> kLevels = {Level{0.001}, Level{0.5}, Level{0.99}};

Prediction finite_prediction(std::size_t rows) {
  Prediction p;
  p.quantiles = Matrix(rows, kLevels.size(), 1.0);
  return p;
}

TEST(Warnings, OfPlainAnswersThereAreNone) {
  const KeepingModel model({}, false);
  const Matrix x(3, 1);
  Prediction p = finite_prediction(3);
  p.fallback = {0, 0, 0};
  EXPECT_TRUE(prediction_warnings(model, {x}, kLevels, p).empty());
  ASSERT_EQ(model_warnings(model).size(), 1u);
  EXPECT_EQ(model_warnings(model)[0].code, WarningCode::kNoGuarantee);
  EXPECT_EQ(model_warnings(model)[0].rows, 0u);
}

TEST(Warnings, CountRowsAndNameLevels) {
  const KeepingModel model({}, false);
  const Matrix x(4, 1);
  Prediction p = finite_prediction(4);
  p.quantiles(1, 0) = -kInf;
  p.quantiles(1, 2) = kInf;
  p.quantiles(3, 0) = -kInf;
  p.fallback = {0, 1, 0, 0};
  p.nearest = {0.1, 9.0, 0.1, 9.0};
  p.effective_n = {19.9, 20.0, 3.0, 100.0};
  p.outside = {0, 1, 0, 1};
  const auto warnings = prediction_warnings(model, {x}, kLevels, p);
  ASSERT_EQ(warnings.size(), 4u);
  EXPECT_EQ(warnings[0].code, WarningCode::kInfiniteAnswer);
  EXPECT_EQ(warnings[0].rows, 2u);
  EXPECT_EQ(warnings[0].levels, (std::vector<double>{0.001, 0.99}));
  EXPECT_EQ(warnings[0].text,
            "2 of 4 rows have an infinite answer at levels 0.001, 0.99: the fit has too few rows "
            "to bound "
            "such a level.");
  EXPECT_EQ(warnings[1].code, WarningCode::kFallback);
  EXPECT_EQ(warnings[1].rows, 1u);
  EXPECT_EQ(warnings[2].code, WarningCode::kFewEffectiveRows);
  EXPECT_EQ(warnings[2].rows, 2u);
  EXPECT_EQ(warnings[3].code, WarningCode::kOutside);
  EXPECT_EQ(warnings[3].rows, 2u);
}

TEST(Warnings, LevelsBeyondTheGuarantee) {
  const Matrix x(5, 1);
  const auto of = [&](std::vector<double> most, bool folds) {
    return prediction_warnings(KeepingModel(std::move(most), folds), {x}, kLevels,
                               finite_prediction(5));
  };
  // 0.001 is beyond 1 - 0.995, 0.99 is not beyond 0.995.
  const auto split = of({0.995}, false);
  ASSERT_EQ(split.size(), 1u);
  EXPECT_EQ(split[0].code, WarningCode::kBeyondKeptLevels);
  EXPECT_EQ(split[0].rows, 5u);
  EXPECT_EQ(split[0].levels, (std::vector<double>{0.001}));
  EXPECT_TRUE(of({0.9999}, false).empty());
  // Of folds less is proven than the level says; that alone is no warning.
  EXPECT_TRUE(of({0.9999}, true).empty());
  EXPECT_EQ(of({0.95}, true)[0].levels, (std::vector<double>{0.001, 0.99}));
}

TEST(Warnings, GroupsAreKeptToTheirOwnLevels) {
  const KeepingModel model({0.9999, 0.95}, false);
  const Matrix x(4, 1);
  const std::vector<std::uint32_t> group = {0, 1, 1, 0};
  const auto warnings = prediction_warnings(model, {x, {}, group}, kLevels, finite_prediction(4));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].rows, 2u);
}

TEST(Warnings, BatchesAddUp) {
  const KeepingModel model({0.995}, false);
  Prediction all = finite_prediction(6);
  const Matrix x(6, 1);
  all.fallback = {1, 0, 0, 1, 0, 1};
  all.quantiles(4, 1) = kInf;
  WarningTally tally(model, kLevels);
  for (std::size_t first = 0; first < 6; first += 2) {
    Prediction part = finite_prediction(2);
    for (std::size_t i = 0; i < 2; ++i) {
      std::ranges::copy(all.quantiles.row(first + i), part.quantiles.row(i).begin());
      part.fallback.push_back(all.fallback[first + i]);
    }
    tally.add({x.view().middle_rows(first, 2)}, part);
  }
  const auto whole = prediction_warnings(model, {x}, kLevels, all);
  const auto parts = tally.list();
  ASSERT_EQ(parts.size(), 3u);
  ASSERT_EQ(whole.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(parts[k].code, whole[k].code);
    EXPECT_EQ(parts[k].rows, whole[k].rows);
    EXPECT_EQ(parts[k].text, whole[k].text);
  }
  expect_error(ErrorCode::kShapeMismatch, "warnings",
               [&] { tally.add({x}, finite_prediction(2)); });
}

TEST(Warnings, NamesDiffer) {
  std::set<std::string_view> names;
  for (const WarningCode code :
       {WarningCode::kNoGuarantee, WarningCode::kInfiniteAnswer, WarningCode::kBeyondKeptLevels,
        WarningCode::kFallback, WarningCode::kFewEffectiveRows, WarningCode::kOutside}) {
    EXPECT_FALSE(warning_name(code).empty());
    names.insert(warning_name(code));
  }
  EXPECT_EQ(names.size(), 6u);
}

}  // namespace
}  // namespace tare
