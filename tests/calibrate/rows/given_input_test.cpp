// SPDX-License-Identifier: BSD-3-Clause
// NRC on what another model gives: a mean and an sd, or quantiles.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "calibrate/bandwidth/bandwidth.h"
#include "calibrate/rows/given_law.h"
#include "expect_error.h"
#include "io/temp_folder.h"
#include "io/tensor_store.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"
#include "tare/calibrate/snq.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

const std::vector<Level> kFive = {Level{0.01}, Level{0.05}, Level{0.5}, Level{0.95}, Level{0.99}};
const GivenForm kMeanAndSd{GivenKind::kMeanSd, {}};
const GivenForm kThreeQuantiles{GivenKind::kQuantiles, {0.1, 0.5, 0.9}};

/// Rows of a problem with an overconfident law beside them.
struct Case {
  Sample data;
  Matrix given;
  GivenForm form;

  FitInput input() const { return {.x = data.x, .y = data.y, .given = given, .given_form = form}; }
  Rows rows() const { return {data.x, given}; }
  std::unique_ptr<QuantileModel> fit(const std::string& params, std::size_t threads = 0) const {
    return fit_method(find_method("nrc"), input(), Params::parse(params),
                      {.threads = threads, .progress = {}});
  }
};

Case make_case(const GivenForm& form, std::size_t rows, std::string_view name = "hetero_2") {
  const Problem& problem = find_problem(name);
  Case made{draw(problem, rows, Seed{3}), Matrix(rows, form.columns()), form};
  for (std::size_t i = 0; i < rows; ++i) {
    const Law law = problem.law(made.data.x.row(i));
    if (form.kind == GivenKind::kMeanSd) {
      made.given(i, 0) = law.location + 0.1;
      made.given(i, 1) = 0.5 * law.scale;
    }
    for (std::size_t j = 0; j < form.levels.size(); ++j)
      made.given(i, j) = law.location + 0.5 * (law.quantile(form.levels[j]) - law.location);
  }
  return made;
}

std::size_t kernel_dims(const QuantileModel& model) {
  TensorStore store;
  model.save(TensorWriter(store).part("model"));
  return store.values.at("model.snq.dims").get<std::size_t>();
}

TEST(GivenInput, AMeanAndASdAreUndoneAndPutBack) {
  const Case c = make_case(kMeanAndSd, 300);
  std::vector<double> u(300);
  for (std::size_t i = 0; i < 300; ++i) u[i] = (c.data.y[i] - c.given(i, 0)) / c.given(i, 1);
  const auto model = c.fit("bandwidth=0.2 scale=none features_of_input=none ranks=paper");
  const Matrix actual = model->predict(c.rows(), kFive).quantiles;
  const Matrix local = Snq(c.data.x, u, {}, {.bandwidth = 0.2}).predict(c.data.x, kFive).quantiles;
  for (std::size_t i = 0; i < 300; ++i) {
    for (std::size_t j = 0; j < kFive.size(); ++j) {
      EXPECT_EQ(actual(i, j), c.given(i, 0) + c.given(i, 1) * local(i, j));
    }
  }
}

TEST(GivenInput, WithAllRowsAlikeTheLevelIsThatOfThePits) {
  // By hand: the level at which each row's curve passes y, their quantile, the curve there.
  const Case c = make_case(kThreeQuantiles, 200);
  const double step = std::log(9.0);  // the logit of 0.9
  std::vector<double> u(200);
  for (std::size_t i = 0; i < 200; ++i) {
    const double from_median = c.data.y[i] - c.given(i, 1);
    const double half =
        from_median < 0.0 ? c.given(i, 1) - c.given(i, 0) : c.given(i, 2) - c.given(i, 1);
    u[i] = from_median / half * step;
  }
  std::vector<double> sorted = u;
  std::sort(sorted.begin(), sorted.end());
  const Matrix actual = c.fit("bandwidth=infinite ranks=paper")->predict(c.rows(), kFive).quantiles;
  const std::size_t rank[] = {2, 10, 100, 190, 198};
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t j = 0; j < kFive.size(); ++j) {
      const double level = sorted[rank[j] - 1];
      const double half =
          level < 0.0 ? c.given(i, 1) - c.given(i, 0) : c.given(i, 2) - c.given(i, 1);
      EXPECT_NEAR(actual(i, j), c.given(i, 1) + level / step * half, 1e-9);
    }
  }
}

TEST(GivenInput, TheBandwidthsLossIsThatOfTheAnswerInUnitsOfTheTarget) {
  const Case c = make_case(kMeanAndSd, 60);
  const std::vector<Level> levels = metric_levels();
  TensorStore store;
  c.fit("features_of_input=none scale=none")->save(TensorWriter(store).part("model"));
  const Json& path = store.values.at("model.bandwidth_path");
  for (const std::size_t place : {std::size_t{8}, path.size() / 2, path.size() - 1}) {
    const double bandwidth = path[place][0].get<double>();
    double loss = 0.0;
    for (std::size_t out = 0; out < 60; ++out) {
      Matrix z(59, 2);
      std::vector<double> u;
      for (std::size_t i = 0; i < 60; ++i) {
        if (i == out) continue;
        z(u.size(), 0) = c.data.x(i, 0);
        z(u.size(), 1) = c.data.x(i, 1);
        u.push_back((c.data.y[i] - c.given(i, 0)) / c.given(i, 1));
      }
      const Matrix q = Snq(z, u, {}, {.bandwidth = bandwidth})
                           .predict(MatrixView(c.data.x.row(out).data(), 1, 2), levels)
                           .quantiles;
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const double answer = c.given(out, 0) + c.given(out, 1) * q(0, j);
        loss += pinball(c.data.y[out], answer, levels[j].value()) / 60.0 / 100.0;
      }
    }
    EXPECT_NEAR(path[place][1].get<double>(), loss, 1e-9 * loss) << bandwidth;
  }
}

TEST(GivenInput, AWindowOfAllRowsIsAmongTheBandwidths) {
  for (const GivenForm& form : {kMeanAndSd, kThreeQuantiles}) {
    const Case c = make_case(form, 83);  // of which no level is a whole number
    for (const char* kernel : {"gaussian", "naive", "laplace"}) {
      const auto model = c.fit(std::string("ranks=paper kernel=") + kernel);
      TensorStore store;
      model->save(TensorWriter(store).part("model"));
      const Json& path = store.values.at("model.bandwidth_path");
      const double widest = path.back()[0].get<double>();
      const auto wide =
          c.fit("bandwidth=" + std::to_string(widest) + " ranks=paper kernel=" + kernel);
      const auto all = c.fit(std::string("bandwidth=infinite ranks=paper kernel=") + kernel);
      const Matrix one = wide->predict(c.rows(), kFive).quantiles;
      const Matrix other = all->predict(c.rows(), kFive).quantiles;
      std::size_t different = 0;
      for (std::size_t k = 0; k < one.values().size(); ++k)
        different += one.values()[k] != other.values()[k] ? 1U : 0U;
      EXPECT_EQ(different, 0U) << kernel;
    }
  }
}

TEST(GivenInput, TheKernelSeesTheInputWhereItIsTold) {
  const Case c = make_case(kThreeQuantiles, 60);
  EXPECT_EQ(kernel_dims(*c.fit("bandwidth=1")), 4U);
  EXPECT_EQ(kernel_dims(*c.fit("bandwidth=1 features_of_input=none")), 2U);
  EXPECT_EQ(kernel_dims(*c.fit("bandwidth=1 features_of_input=only")), 2U);
  FitInput named = c.input();
  named.calibrate_columns = {1};
  const auto dims = [&](const std::string& params) {
    return kernel_dims(*fit_method(find_method("nrc"), named, Params::parse(params)));
  };
  EXPECT_EQ(dims("bandwidth=1"), 1U) << "named columns are all the kernel sees";
  EXPECT_EQ(dims("bandwidth=1 features_of_input=also"), 3U);
  EXPECT_EQ(dims("bandwidth=1 features_of_input=only"), 2U);
  EXPECT_EQ(dims("bandwidth=1 features_of_input=also reducer=projection dims=2"), 2U);
}

TEST(GivenInput, SeenAloneOnlyTheInputMatters) {
  Case c = make_case(kThreeQuantiles, 60);
  const auto model = c.fit("bandwidth=0.5 features_of_input=only");
  const Matrix before = model->predict(c.rows(), kFive).quantiles;
  for (double& x : c.data.x.values()) x += 100.0;
  const Matrix after = model->predict(c.rows(), kFive).quantiles;
  for (std::size_t k = 0; k < before.values().size(); ++k)
    EXPECT_EQ(before.values()[k], after.values()[k]);
}

TEST(GivenInput, NoFeatureIsNeeded) {
  for (const GivenForm& form : {kMeanAndSd, kThreeQuantiles}) {
    Case c = make_case(form, 100);
    c.data.x = Matrix(100, 0);
    const auto model = c.fit("");
    EXPECT_EQ(kernel_dims(*model), 2U);
    EXPECT_EQ(model->predict(c.rows(), kFive).quantiles.rows(), 100U);
  }
}

TEST(GivenInput, AFileKeepsIt) {
  const TempFolder folder;
  for (const GivenForm& form : {kMeanAndSd, kThreeQuantiles}) {
    for (const char* params : {"bandwidth=0.5", "bandwidth=0.5 features_of_input=none"}) {
      const Case c = make_case(form, 60);
      FittedModel fitted;
      fitted.method = "nrc";
      fitted.rows = 60;
      fitted.model = c.fit(params);
      const std::string path = folder / "model.tare";
      save_model(path, fitted, Replace::kReplace);
      const FittedModel loaded = load_model(path);
      EXPECT_EQ(loaded.model->given(), form.columns());
      EXPECT_EQ(loaded.model->given_form().levels, form.levels);
      const Matrix one = fitted.model->predict(c.rows(), kFive).quantiles;
      const Matrix other = loaded.model->predict(c.rows(), kFive).quantiles;
      for (std::size_t k = 0; k < one.values().size(); ++k)
        EXPECT_EQ(one.values()[k], other.values()[k]);
    }
  }
}

TEST(GivenInput, ThreadsDoNotMatterAndQuantilesDoNotCross) {
  Case c = make_case(kThreeQuantiles, 300);
  for (std::size_t i = 0; i < 300; i += 5) std::swap(c.given(i, 0), c.given(i, 2));
  for (std::size_t i = 0; i < 300; i += 7) c.given(i, 1) = c.given(i, 0) = c.given(i, 2);
  const auto one =
      c.fit("", 1)->predict(c.rows(), metric_levels(), {.threads = 1, .progress = {}}).quantiles;
  const auto eight =
      c.fit("", 8)->predict(c.rows(), metric_levels(), {.threads = 8, .progress = {}}).quantiles;
  for (std::size_t k = 0; k < one.values().size(); ++k)
    ASSERT_EQ(one.values()[k], eight.values()[k]);
  for (std::size_t i = 0; i < 300; ++i) EXPECT_TRUE(std::ranges::is_sorted(one.row(i)));
}

TEST(GivenInput, WhatDoesNotFitIsAnError) {
  const Case c = make_case(kMeanAndSd, 60);
  const auto model = c.fit("bandwidth=1");
  Matrix bad = c.given;
  bad(7, 1) = 0.0;
  expect_error(ErrorCode::kBadData, "row 7, given column 1: the standard deviation 0", [&] {
    model->predict({c.data.x, bad}, kFive);
  });
  FitInput input = c.input();
  input.given = bad;
  expect_error(ErrorCode::kBadData, "row 7, given column 1",
               [&] { fit_method(find_method("nrc"), input, {}); });
  input = c.input();
  input.given_form = {};
  expect_error(ErrorCode::kShapeMismatch, "2 given columns where their form has 1",
               [&] { fit_method(find_method("nrc"), input, {}); });
  for (const char* name : {"nrc_rf", "pure_kernel", "hnn", "cqr", "cqr_boost"}) {
    expect_error(ErrorCode::kInvalidArgument, "a prediction is given",
                 [&] { fit_method(find_method(name), c.input(), {}); });
  }
  expect_error(ErrorCode::kInvalidArgument, "features_of_input must be auto, none, also or only",
               [&] { c.fit("features_of_input=some"); });
  expect_error(ErrorCode::kInvalidArgument, "needs given predictions", [&] {
    fit_method(find_method("nrc"), {.x = c.data.x, .y = c.data.y},
               Params::parse("features_of_input=also regressor=zero"));
  });
}

}  // namespace
}  // namespace tare
