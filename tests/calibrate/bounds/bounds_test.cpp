// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bounds/bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "expect_error.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"
#include "tare/calibrate/reliability.h"

namespace tare {
namespace {

std::string found(std::span<const double> y) { return find_bounds(y).text(); }

std::vector<double> drawn(std::size_t rows, auto&& next) {
  Rng rng(Seed{rows});
  std::vector<double> y;
  for (std::size_t i = 0; i < rows; ++i) y.push_back(next(rng));
  return y;
}

TEST(Bounds, AreFoundWhereTargetsPileUpAtThem) {
  const auto count = [](Rng& rng) { return std::floor(4.0 * rng.uniform() * rng.uniform()); };
  EXPECT_EQ(found(drawn(500, count)), "0,");
  EXPECT_EQ(found(drawn(500, [&](Rng& rng) { return 1.0 + count(rng); })), "0,");
  EXPECT_EQ(found(drawn(500, [](Rng& rng) { return std::max(0.0, rng.normal()); })), "0,");
  const auto share = [](Rng& rng) { return std::pow(std::sin(3.0 * rng.uniform()), 2); };
  EXPECT_EQ(found(drawn(2000, share)), "0,1");
  EXPECT_EQ(found(drawn(500, [](Rng& rng) { return std::clamp(0.5 + rng.normal(), 0.0, 1.0); })),
            "0,1");
}

TEST(Bounds, AreNotFoundWhereChanceWouldDo) {
  // Whole degrees of a warm month, amounts that are all positive, a target scaled to 0 and 1, a few
  // rows, a count with a negative value.
  EXPECT_EQ(found(drawn(2000, [](Rng& rng) { return std::round(20.0 + 5.0 * rng.normal()); })),
            "none");
  EXPECT_EQ(found(drawn(2000, [](Rng& rng) { return std::exp(rng.normal()); })), "none");
  std::vector<double> scaled = drawn(2000, [](Rng& rng) { return rng.normal(); });
  const auto [low, high] = std::ranges::minmax(scaled);
  for (double& value : scaled) value = (value - low) / (high - low);
  EXPECT_EQ(found(scaled), "none");
  EXPECT_EQ(found(drawn(15, [](Rng&) { return 0.0; })), "none");
  std::vector<double> counts(500, 0.0);
  counts[7] = -1.0;
  EXPECT_EQ(found(counts), "none");
  EXPECT_EQ(found({}), "none");
}

TEST(Bounds, TextsAreRead) {
  const auto text = [](const char* value) {
    Params params;
    params.set("bounds", value);
    return parse_bounds(params).given.text();
  };
  EXPECT_TRUE(parse_bounds({}).find);
  EXPECT_EQ(text("none"), "none");
  EXPECT_EQ(text("0,"), "0,");
  EXPECT_EQ(text(",1.5"), ",1.5");
  EXPECT_EQ(text("-2,3"), "-2,3");
  for (const char* wrong : {"", ",", "1", "1,0", "1,1", "a,b", "0,1,2", "nan,", "inf,"}) {
    expect_error(ErrorCode::kInvalidArgument, "bounds", [&] { text(wrong); });
  }
}

TEST(Bounds, ATargetOutsideIsNamed) {
  Params params;
  params.set("bounds", "0,1");
  const BoundsRule rule = parse_bounds(params);
  const std::vector<double> y = {0.0, 1.0, 1.5, 2.5};
  expect_error(ErrorCode::kBadData, "row 3: the target 1.5", [&] { resolve_bounds(rule, y, {}); });
  const std::vector<double> weight = {1.0, 1.0, 0.0, 1.0};
  expect_error(ErrorCode::kBadData, "row 4", [&] { resolve_bounds(rule, y, weight); });
}

/// A count that is often 0, with a wrong prediction of it beside it.
struct Counts {
  Matrix x, given;
  std::vector<double> y;

  explicit Counts(std::size_t rows) : x(rows, 2), given(rows, 1) {
    Rng rng(Seed{5});
    for (std::size_t i = 0; i < rows; ++i) {
      x(i, 0) = rng.uniform();
      x(i, 1) = rng.normal();
      const double mean = 4.0 * x(i, 0) * x(i, 0);
      double count = 0.0;
      for (double t = -std::log(1.0 - rng.uniform()); t < mean; t -= std::log(1.0 - rng.uniform()))
        count += 1.0;
      y.push_back(count);
      given(i, 0) = mean;
    }
  }
};

/// Small enough to train every method in a moment.
Params small(const Method& method) {
  Params params;
  const auto known = [&](std::string_view name) {
    return std::ranges::any_of(method.options, [&](const ParamInfo& o) { return o.name == name; });
  };
  for (const auto& [name, value] : {std::pair{"epochs", "3"},
                                    {"rounds", "20"},
                                    {"trees", "10"},
                                    {"members", "2"},
                                    {"steps", "60"},
                                    {"folds", "2"},
                                    {"passes", "5"},
                                    {"inducing", "10"}}) {
    if (known(name)) params.set(name, value);
  }
  if (known("budget")) params.set("budget", "quick");
  return params;
}

TEST(Bounds, NoMethodAnswersOutsideThem) {
  const Counts data(240);
  const std::vector<Level> levels = {Level(0.001), Level(0.05), Level(0.5), Level(0.95),
                                     Level(0.999)};
  for (const Method& method : methods()) {
    if (method.window > 1) continue;
    const FitInput input{.x = data.x, .y = data.y};
    const auto model = fit_method(method, input, small(method));
    const Prediction p = model->predict({data.x}, levels);
    for (std::size_t i = 0; i < p.quantiles.rows(); ++i) {
      EXPECT_TRUE(std::ranges::is_sorted(p.quantiles.row(i))) << method.name;
      EXPECT_GE(p.quantiles(i, 0), 0.0) << method.name;
    }
  }
}

TEST(Bounds, InfiniteEndsAndBandsBecomeTheBound) {
  Counts data(240);
  // Targets that none shares: nrc has no bands beside masses that it passes by.
  for (std::size_t i = 0; i < data.y.size(); ++i) data.y[i] += 1e-3 * static_cast<double>(i);
  FitInput input{.x = data.x, .y = data.y};
  input.given = data.given;
  const auto params = Params::parse("guarantee=split:0.1,strict bounds=0, bands=on");
  const auto model = fit_method(find_method("nrc"), input, params);
  ASSERT_TRUE(model->has_guarantee());
  Params free = params;
  free.set("bounds", "none");
  const auto unbounded = fit_method(find_method("nrc"), input, free);
  const std::vector<Level> levels = {Level(0.01), Level(0.5), Level(0.99)};
  const Prediction before = predict_with_reliability(*unbounded, {data.x, data.given}, levels);
  const Prediction after = predict_with_reliability(*model, {data.x, data.given}, levels);
  EXPECT_EQ(before.quantiles(0, 0), -std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < before.quantiles.values().size(); ++k) {
    EXPECT_EQ(after.quantiles.values()[k], std::max(0.0, before.quantiles.values()[k]));
    EXPECT_EQ(after.band_low.values()[k], std::max(0.0, before.band_low.values()[k]));
    EXPECT_EQ(after.band_high.values()[k], std::max(0.0, before.band_high.values()[k]));
  }
  EXPECT_EQ(after.delivered.values().size(), before.delivered.values().size());
}

TEST(Bounds, AFileKeepsThemAndTheMasses) {
  const Counts data(300);
  FitInput input{.x = data.x, .y = data.y};
  input.given = data.given;
  const std::vector<Level> levels = metric_levels();
  for (const char* guarantee : {"none", "split:0.2", "cross:2"}) {
    FittedModel fitted;
    fitted.method = "nrc_boost";
    fitted.params.set("guarantee", guarantee);
    fitted.rows = 300;
    fitted.model = fit_method(find_method("nrc_boost"), input, fitted.params);
    const auto path = std::filesystem::temp_directory_path() /
                      fmt::format("tare_bounds_{}.tare", std::string(guarantee).substr(0, 5));
    save_model(path.string(), fitted, Replace::kReplace);
    const FittedModel again = load_model(path.string());
    std::filesystem::remove(path);
    ASSERT_TRUE(describe(again).bounds.has_value());
    EXPECT_EQ(again.model->has_guarantee(), std::string_view(guarantee) != "none");
    const auto a = fitted.model->predict({data.x, data.given}, levels);
    const auto b = again.model->predict({data.x, data.given}, levels);
    EXPECT_TRUE(std::ranges::equal(a.quantiles.values(), b.quantiles.values()));
  }
}

}  // namespace
}  // namespace tare
