// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/cross_fit/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/parallel.h"
#include "calibrate/automatic/cross_fit/cross_fit.h"
#include "expect_error.h"
#include "tare/data/problem.h"

namespace tare::automatic {
namespace {

using Kind = Step::Kind;

FoldModel ridge_on(const RegressionData& data, Seed seed) {
  return FoldModel(NamedRegressor{"ridge", find_regressor("ridge").fit(data, {}, seed, {})});
}

struct Fixture {
  Sample sample = draw(find_problem("hetero_2"), 60, Seed{1});
  RegressionData rows{sample.x, sample.y, {}};
  Folds folds = Folds::random(60, 4, Seed{2});
  CrossFit fit{rows, folds};

  std::size_t add_ridge(std::vector<std::size_t> inputs = {}) {
    const Matrix x = fit.x_and(inputs);
    return fit.add_models(train_folds({x, sample.y, {}}, folds, 1, ridge_on, Seed{3}, {}), folds,
                          std::move(inputs), {});
  }
};

TEST(Statistics, FormulasAreWhatTheySay) {
  const std::vector<double> row = {1.0, 4.0, 17.0};
  EXPECT_DOUBLE_EQ((Step{Kind::kBlend, {0, 2}, {0.25, 0.75}, {}}.formula(row)), 13.0);
  EXPECT_DOUBLE_EQ((Step{Kind::kLogSpread, {0, 1}, {0.5}, {}}.formula(row)), std::log(2.0));
  EXPECT_DOUBLE_EQ((Step{Kind::kLogSd, {1, 2}, {1e-3}, {}}.formula(row)), 0.0);
  EXPECT_DOUBLE_EQ((Step{Kind::kLogSd, {2, 1}, {1e-3}, {}}.formula(row)), std::log(1e-3));
  EXPECT_DOUBLE_EQ((Step{Kind::kLogWidth, {0, 1}, {1.0}, {}}.formula(row)), std::log(4.0));
  EXPECT_DOUBLE_EQ((Step{Kind::kLogWidth, {1, 0}, {1.0}, {}}.formula(row)), 0.0);
}

/// Behind other statistics the columns are the same, whatever is in front.
TEST(Statistics, AppendedOnesAreTheSameColumnsFurtherBack) {
  const auto make = [](Fixture& f) {
    const std::size_t center = f.add_ridge();
    f.add_ridge({center});
    f.fit.add_formula(Kind::kLogSpread, {0, 1}, {0.5});
    return f.fit.take_program();
  };
  Fixture f;
  Fixture same;
  Statistics joined = make(f);
  const Matrix alone = joined.compute(f.sample.x, Matrix(), {});
  EXPECT_EQ(joined.append(make(same)), 3U);
  const Matrix both = joined.compute(f.sample.x, Matrix(), {});
  ASSERT_EQ(both.cols(), 6U);
  for (std::size_t i = 0; i < both.rows(); ++i) {
    for (std::size_t j = 0; j < both.cols(); ++j) EXPECT_EQ(both(i, j), alone(i, j % 3));
  }
}

TEST(Statistics, ARowOfTheFitIsJudgedByModelsThatHaveNotSeenIt) {
  Fixture f;
  const std::size_t column = f.add_ridge();
  for (std::size_t i = 0; i < 60; i += 7) {
    std::vector<double> y;
    Matrix x(f.folds.outside(f.folds.of_row[i]).size(), f.sample.x.cols());
    std::size_t next = 0;
    for (std::size_t r = 0; r < 60; ++r) {
      if (f.folds.of_row[r] == f.folds.of_row[i]) continue;
      std::ranges::copy(f.sample.x.row(r), x.row(next++).begin());
      y.push_back(f.sample.y[r]);
    }
    const auto model = find_regressor("ridge").fit({x, y, {}}, {}, Seed{9}, {});
    std::vector<double> expected(1);
    model->predict(f.sample.x.view().middle_rows(i, 1), expected, {});
    EXPECT_NEAR(f.fit.column(column)[i], expected[0], 1e-12) << "row " << i;
  }
}

TEST(Statistics, FoldsAreOfEqualSizeAndHoldEachRowOnce) {
  for (const std::size_t rows : {10U, 11U, 37U}) {
    for (const Folds& folds : {Folds::random(rows, 5, Seed{1}), Folds::stretches(rows, 5, 1),
                               Folds::shifted_stretches(rows, 5, 1)}) {
      std::size_t total = 0;
      for (std::size_t k = 0; k < 5; ++k) {
        const std::size_t size = folds.inside(k).size();
        EXPECT_GE(size, rows / 5);
        EXPECT_LE(size, rows / 5 + 1);
        if (!folds.in_time()) {
          EXPECT_EQ(folds.outside(k).size(), rows - size);
        }
        total += size;
      }
      EXPECT_EQ(total, rows);
    }
  }
}

/// A chain in which the last column needs some of the others.
struct Chain {
  Fixture f;
  std::size_t first = f.add_ridge();
  std::size_t unused = f.add_ridge();
  std::size_t blend = f.fit.add_formula(Kind::kBlend, {first}, {2.0});
  std::size_t second = f.add_ridge({blend});
  std::size_t spread = f.fit.add_formula(Kind::kLogSpread, {first, second}, {0.1});
};

TEST(Statistics, WhatIsNotNeededIsDroppedAndTheRestStaysTheSame) {
  Chain chain;
  Statistics all = chain.f.fit.take_program();
  const Matrix before = all.compute(chain.f.sample.x, {}, {});
  std::vector<std::size_t> columns = {chain.spread, chain.blend};
  all.keep_only(columns);
  EXPECT_EQ(all.steps().size(), 4U);
  const Matrix after = all.compute(chain.f.sample.x, {}, {});
  for (std::size_t i = 0; i < before.rows(); ++i) {
    EXPECT_EQ(after(i, columns[0]), before(i, chain.spread));
    EXPECT_EQ(after(i, columns[1]), before(i, chain.blend));
  }
}

TEST(Statistics, SavedAndLoadedTheyAreTheSame) {
  Chain chain;
  const Statistics program = chain.f.fit.take_program();
  TensorStore store;
  program.save(TensorWriter(store));
  const Statistics loaded = Statistics::load(TensorReader(store), 2, 0);
  const Matrix before = program.compute(chain.f.sample.x, {}, {});
  const Matrix after = loaded.compute(chain.f.sample.x, {}, {});
  EXPECT_TRUE(std::ranges::equal(before.values(), after.values()));
}

TEST(Statistics, ADamagedFileIsNoticed) {
  Chain chain;
  TensorStore good;
  chain.f.fit.take_program().save(TensorWriter(good));
  const auto refuse = [&](const std::string& name, const Json& value) {
    TensorStore bad = good;
    bad.values[name] = value;
    expect_error(ErrorCode::kCorruptFile, "", [&] { Statistics::load(TensorReader(bad), 2, 0); });
  };
  refuse("2.inputs", Json::array({std::size_t{5}}));  // a column that comes later
  refuse("2.inputs", Json::array());
  refuse("2.step", std::size_t{9});
  refuse("2.step", std::size_t{5});   // a given feature where nothing is given
  refuse("3.inputs", Json::array());  // its models see one column more
  refuse("0.folds", std::size_t{0});
  refuse("0.0.kind", "magic");
  expect_error(ErrorCode::kCorruptFile, "", [&] { Statistics::load(TensorReader(good), 3, 0); });
}

}  // namespace
}  // namespace tare::automatic
