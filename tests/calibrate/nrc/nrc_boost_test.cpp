// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc/nrc_boost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "io/tensor_store.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"

namespace tare {
namespace {

const std::vector<Level> kEnds = {Level{0.05}, Level{0.5}, Level{0.95}};

struct Around {
  Matrix x;
  Matrix given;
  std::vector<double> y;

  Rows rows() const { return {x, given}; }
  FitInput input() const { return {.x = x, .y = y, .given = given, .seed = Seed{3}}; }
};

/// A prediction that is off by x0 and whose error is wider with x1: y = f + x0 + (0.2 + 2 x1) e.
Around drawn(std::size_t rows, std::uint64_t seed) {
  Around data{Matrix(rows, 4), Matrix(rows, 1), std::vector<double>(rows)};
  Rng rng(Seed{seed});
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : data.x.row(i)) value = rng.uniform();
    data.given(i, 0) = 10.0 * data.x(i, 2);
    data.y[i] = data.given(i, 0) + data.x(i, 0) + (0.2 + 2.0 * data.x(i, 1)) * rng.normal();
  }
  return data;
}

std::unique_ptr<QuantileModel> fitted(const FitInput& input, const std::string& params = "",
                                      const Execution& how = {}) {
  return fit_method(find_method("nrc_boost"), input, Params::parse(params), how);
}

TEST(NrcBoost, CoversInEverySliceOfWhatMatters) {
  const auto model = fitted(drawn(4'000, 1).input());
  const Around fresh = drawn(20'000, 2);
  const Prediction p = model->predict(fresh.rows(), kEnds);
  for (std::size_t j = 0; j < 4; ++j) {
    for (int part = 0; part < 5; ++part) {
      double inside = 0.0;
      double all = 0.0;
      for (std::size_t i = 0; i < fresh.y.size(); ++i) {
        if (static_cast<int>(5.0 * fresh.x(i, j)) != part) continue;
        all += 1.0;
        inside += fresh.y[i] >= p.quantiles(i, 0) && fresh.y[i] <= p.quantiles(i, 2) ? 1.0 : 0.0;
      }
      // 4,000 test rows of a slice tell coverage to 0.005; 800 calibration rows to 0.011. Intervals
      // of one width for all would cover all of the lowest fifth of x1 and 0.73 of the highest.
      EXPECT_NEAR(inside / all, 0.9, 0.04) << "column " << j << ", part " << part;
    }
  }
}

TEST(NrcBoost, CorrectsWhatThePredictionGotWrong) {
  const auto model = fitted(drawn(4'000, 1).input());
  const Around fresh = drawn(2'000, 2);
  const Prediction p = model->predict(fresh.rows(), kEnds);
  double square = 0.0;
  for (std::size_t i = 0; i < fresh.y.size(); ++i) {
    square += std::pow(p.quantiles(i, 1) - fresh.given(i, 0) - fresh.x(i, 0), 2) / 2'000.0;
  }
  // Without correction the median is off by x0 less a constant, whose variance is 1/12.
  EXPECT_LT(square, 0.03);
}

TEST(NrcBoost, TakesAllColumnsWhereTreesSeeTooLittle) {
  // What is left of a product of four signs no single column shows, nor any two.
  Around data{Matrix(3'000, 4), Matrix(3'000, 1), std::vector<double>(3'000)};
  Rng rng(Seed{5});
  for (std::size_t i = 0; i < 3'000; ++i) {
    double sign = 1.0;
    for (double& value : data.x.row(i)) {
      value = (rng.uniform() < 0.5 ? -1.0 : 1.0) + 0.1 * rng.normal();
      sign = value < 0.0 ? -sign : sign;
    }
    data.y[i] = 5.0 * sign + rng.normal();
  }
  const auto model = fitted(data.input());
  const Prediction p = model->predict(data.rows(), kEnds);
  std::size_t right = 0;
  for (std::size_t i = 0; i < 3'000; ++i) {
    if (p.quantiles(i, 2) - p.quantiles(i, 0) < 8.0) ++right;
  }
  EXPECT_GT(right, 2'900U);  // one law for all is 13 wide
}

TEST(NrcBoost, IsTheSameFromItsFileAndWithAnyThreads) {
  const Around data = drawn(600, 7);
  Execution one;
  one.threads = 1;
  Execution many;
  many.threads = 5;
  for (const std::string params : {"", "guarantee=split", "guarantee=cross:3"}) {
    FittedModel saved;
    saved.method = "nrc_boost";
    saved.params = Params::parse(params);
    saved.rows = 600;
    saved.model = fitted(data.input(), params, one);
    const std::string path = testing::TempDir() + "nrc_boost.tare";
    save_model(path, saved, Replace::kReplace);
    const FittedModel loaded = load_model(path);
    const Prediction expected = saved.model->predict(data.rows(), kEnds, one);
    const auto expect_same = [&](const Prediction& actual) {
      EXPECT_TRUE(std::ranges::equal(actual.quantiles.values(), expected.quantiles.values()));
      EXPECT_EQ(actual.nearest, expected.nearest);
      EXPECT_EQ(actual.outside, expected.outside);
    };
    expect_same(loaded.model->predict(data.rows(), kEnds, many));
    expect_same(fitted(data.input(), params, many)->predict(data.rows(), kEnds, many));
  }
}

TEST(NrcBoost, SaysWhatIsOutside) {
  const auto model = fitted(drawn(1'000, 8).input());
  Around fresh = drawn(1'000, 9);
  fresh.x(0, 3) = 20.0;  // a column on which nothing depends: the trees have not been there either
  const Prediction p = model->predict(fresh.rows(), kEnds);
  EXPECT_EQ(p.outside[0], 1);
  EXPECT_LT(std::ranges::count(p.outside, 1), 40);
  EXPECT_GT(p.nearest[0], 10.0);
}

TEST(NrcBoost, SeesOnlyColumnsThatAreNamed) {
  FitInput input;
  const Around data = drawn(1'000, 10);
  input = data.input();
  input.calibrate_columns = {0, 3};
  const auto model = fitted(input);
  Around fresh = drawn(2, 11);
  for (std::size_t j : {0U, 3U}) fresh.x(1, j) = fresh.x(0, j);
  fresh.given(1, 0) = fresh.given(0, 0);
  const Prediction p = model->predict(fresh.rows(), kEnds);
  EXPECT_TRUE(std::ranges::equal(p.quantiles.row(0), p.quantiles.row(1)));
}

TEST(NrcBoost, TrainsAModelWhereNoneIsGiven) {
  const Around data = drawn(800, 12);
  const auto model = fitted({.x = data.x, .y = data.y, .seed = Seed{1}}, "regressor=ridge");
  const Around fresh = drawn(4'000, 13);
  const Prediction p = model->predict({fresh.x}, kEnds);
  std::size_t inside = 0;
  for (std::size_t i = 0; i < 4'000; ++i) {
    if (fresh.y[i] >= p.quantiles(i, 0) && fresh.y[i] <= p.quantiles(i, 2)) ++inside;
  }
  // 800 rows tell coverage to 0.011, and trees add a little.
  EXPECT_NEAR(static_cast<double>(inside) / 4'000.0, 0.9, 0.04);
}

TEST(NrcBoost, RowsOfNoWeightAreNotThere) {
  const Around data = drawn(700, 14);
  std::vector<double> weight(700, 3.0);
  for (std::size_t i = 500; i < 700; ++i) weight[i] = 0.0;
  FitInput all = data.input();
  all.weight = weight;
  FitInput some = data.input();
  some.x = data.x.view().middle_rows(0, 500);
  some.given = data.given.view().middle_rows(0, 500);
  some.y = std::span(data.y).first(500);
  some.weight = std::span<const double>(weight).first(500);
  const Prediction a = fitted(all)->predict(data.rows(), kEnds);
  const Prediction b = fitted(some)->predict(data.rows(), kEnds);
  EXPECT_TRUE(std::ranges::equal(a.quantiles.values(), b.quantiles.values()));
}

TEST(NrcBoost, KeepsALawThatIsRight) {
  // A mean and an sd that are right: residuals are standard normal, and nothing is left to find.
  Around data = drawn(1'500, 15);
  Matrix law(1'500, 2);
  for (std::size_t i = 0; i < 1'500; ++i) {
    law(i, 0) = data.given(i, 0) + data.x(i, 0);
    law(i, 1) = 0.2 + 2.0 * data.x(i, 1);
  }
  FitInput input = data.input();
  input.given = law;
  input.given_form.kind = GivenKind::kMeanSd;
  const Prediction p = fitted(input)->predict({data.x, law}, kEnds);
  double off = 0.0;
  for (std::size_t i = 0; i < 1'500; ++i) {
    off += std::abs((p.quantiles(i, 2) - law(i, 0)) / law(i, 1) - 1.645) / 1'500.0;
  }
  EXPECT_LT(off, 0.2);
}

TEST(NrcBoost, TakesWhateverRowsThereAre) {
  // Few rows, one column, columns and residuals that do not vary, huge and tiny units.
  for (const std::size_t rows : {10U, 11U, 39U, 41U, 200U}) {
    for (int shape = 0; shape < 6; ++shape) {
      Around data = drawn(rows, 20 + rows);
      for (std::size_t i = 0; i < rows; ++i) {
        if (shape == 1) std::ranges::fill(data.x.row(i), 7.0);
        if (shape == 2) data.y[i] = data.given(i, 0);
        if (shape == 3) data.y[i] *= 1e200;
        if (shape == 4) data.y[i] = data.given(i, 0) + 1e-200 * data.y[i];
        if (shape == 5) data.y[i] = data.given(i, 0) + (i % 2 == 0 ? 0.0 : 1.0);
      }
      const Prediction p = fitted(data.input())->predict(data.rows(), kEnds);
      for (std::size_t i = 0; i < rows; ++i) {
        EXPECT_TRUE(std::ranges::is_sorted(p.quantiles.row(i)));
        for (const double q : p.quantiles.row(i)) EXPECT_TRUE(std::isfinite(q)) << shape;
        EXPECT_TRUE(shape != 2 || p.quantiles(i, 0) == data.given(i, 0));
      }
    }
  }
}

TEST(NrcBoost, RefusesTooFewRowsAndSeries) {
  const Around few = drawn(9, 30);
  expect_error(ErrorCode::kBadData, "too few", [&] { fitted(few.input()); });
  const Around data = drawn(100, 31);
  FitInput series = data.input();
  series.window = 2;
  expect_error(ErrorCode::kInvalidArgument, "does not support series", [&] { fitted(series); });
  expect_error(ErrorCode::kInvalidArgument, "does not support series",
               [&] { fitted({.x = data.x, .y = data.y}, "split=time"); });
}

}  // namespace
}  // namespace tare
