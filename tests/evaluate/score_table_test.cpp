// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/score_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "expect_error.h"
#include "function_model.h"
#include "tare/evaluate/metrics.h"
#include "tare/evaluate/scorecard.h"

namespace tare {
namespace {

TEST(ScoreTable, NamesAreDifferentAndWhatIsPerfectIsKnown) {
  std::set<std::string_view> names;
  for (const ScoreInfo& info : score_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_NE(info.measure, nullptr) << info.name;
    EXPECT_EQ(info.title.empty(), info.meaning.empty()) << info.name;
  }
  for (const ScoreInfo& info : score_table()) {
    if (info.perfect.empty() || parse_number(info.perfect)) continue;
    EXPECT_TRUE(names.contains(info.perfect)) << info.name;
  }
}

// Against the functions themselves, on a forecaster that is off.
TEST(ScoreTable, HasTheMetricsOfTheSameName) {
  const FunctionModel model(1,
                            [](std::span<const double> x, double tau) { return x[0] + 2.0 * tau; });
  Rng rng(Seed{3});
  Matrix x(300, 1);
  std::vector<double> y(300);
  for (std::size_t i = 0; i < y.size(); ++i) {
    x(i, 0) = rng.normal();
    y[i] = x(i, 0) + 3.0 * rng.uniform();
  }
  Scorecard card;
  card.add(model, {x}, y);
  const Scores scores = card.finish(Seed{5});
  const std::vector<Level> levels = metric_levels();
  const Matrix q = model.predict({x}, levels).quantiles;
  EXPECT_EQ(scores.rows, 300U);
  EXPECT_DOUBLE_EQ(scores.at("mace"), mace(y, q, levels));
  EXPECT_DOUBLE_EQ(scores.at("mace_counted"), mace_counted(y, q, levels));
  EXPECT_DOUBLE_EQ(scores.at("mace_floor"), mace_floor(300, levels));
  EXPECT_DOUBLE_EQ(scores.at("agce"), agce(y, q, levels, split(Seed{5}, 0)));
  EXPECT_DOUBLE_EQ(scores.at("check_score"), check_score(y, q, levels));
  EXPECT_NEAR(scores.at("crps"), crps(y, model.predict({x}, crps_levels()).quantiles), 1e-12);
  EXPECT_NEAR(scores.at("length_90"), 1.8, 1e-12);
  const auto inside = std::ranges::count_if(y, [&](const double& value) {
    const double below = value - x(static_cast<std::size_t>(&value - y.data()), 0);
    return 0.1 <= below && below <= 1.9;
  });
  EXPECT_NEAR(scores.at("coverage_90"), static_cast<double>(inside) / 300.0, 1e-12);
  EXPECT_EQ(scores.at("hit_share"), 0.0);
  EXPECT_EQ(scores.at("fallback_rows"), 0.0);
  EXPECT_FALSE(scores.find("effective_n_median").has_value());  // the model has no bands
  expect_error(ErrorCode::kInvalidArgument, "no score 'macs'", [&] { scores.at("macs"); });
}

}  // namespace
}  // namespace tare
