// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/automatic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>

#include "data/partition.h"
#include "expect_error.h"
#include "io/tensor_store.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

Params quick() { return Params::parse("budget=quick steps=150 folds=3"); }

TensorStore stored(const QuantileModel& model) {
  TensorStore store;
  model.save(TensorWriter(store));
  return store;
}

TEST(Automatic, TheTrailTellsWhatWasTriedAndKept) {
  const Sample data = draw(find_problem("hetero_2"), 200, Seed{1});
  const auto model = fit_auto({.x = data.x, .y = data.y}, quick(), {});
  const TensorStore store = stored(*model);
  double shares = 0.0;
  double best = 1e300;
  std::set<std::string> names;
  for (const Json& trial : store.values.at("trail")) {
    names.insert(trial[0].get<std::string>());
    best = std::min(best, trial[1].get<double>());
    shares += trial[3].get<double>();
  }
  EXPECT_TRUE(names.contains("mean") && names.contains("raw"));
  EXPECT_NEAR(shares, 1.0, 1e-12);
  EXPECT_LE(store.values.at("loss").get<double>(), best * (1.0 + 1e-9));
}

/// Quantiles that are smooth in the only feature: kernel quantile regression has a share of the
/// answer, which a file keeps, and the row's support is told as by other members.
TEST(Automatic, SmoothQuantilesHaveAShareWhereTheyAreGood) {
  const Problem& problem = find_problem("hetero_1");
  const Sample data = draw(problem, 300, Seed{1});
  const auto model = fit_auto({.x = data.x, .y = data.y}, Params::parse("steps=60 folds=3"), {});
  const TensorStore store = stored(*model);
  double share = 0.0;
  for (const Json& trial : store.values.at("trail")) {
    if (trial[0] == "smooth") share = trial[3].get<double>();
  }
  EXPECT_GT(share, 0.0);
  const auto loaded = load_auto(TensorReader(store));
  const Sample fresh = draw(problem, 50, Seed{2});
  const std::vector<Level> levels = metric_levels();
  const Prediction own = model->predict({fresh.x}, levels);
  const Prediction again = loaded->predict({fresh.x}, levels);
  EXPECT_TRUE(std::ranges::equal(own.quantiles.values(), again.quantiles.values()));
  EXPECT_EQ(own.window_n, again.window_n);
  EXPECT_EQ(own.window_n.size(), 50U);
  EXPECT_EQ(own.nearest.size(), 50U);
}

/// The kernel of smooth quantiles is Gaussian whatever the others have: a width is no number of
/// rows.
TEST(Automatic, EveryKernelGoesWithSmoothQuantiles) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{1});
  for (const char* kernel : {"knn", "naive"}) {
    const Params params = Params::parse(std::string("steps=20 folds=2 kernel=") + kernel);
    const auto model = fit_auto({.x = data.x, .y = data.y}, params, {});
    const std::vector<Level> levels = {Level(0.05), Level(0.95)};
    EXPECT_EQ(model->predict({data.x}, levels).quantiles.rows(), 100U) << kernel;
  }
}

/// Where predictions without a row of its own say something of its target, the rows left out
/// promise more than new rows keep (Gaussian processes that leave out single rows: 6 % more).
TEST(Automatic, TheLossOnLeftOutRowsIsThatOfNewRows) {
  const Problem& problem = find_problem("bimodal_1");
  double promised = 0.0;
  double kept = 0.0;
  for (std::uint64_t k = 0; k < 3; ++k) {
    const Sample data = draw(problem, 1000, split(Seed{3}, k));
    const auto model = fit_auto({.x = data.x, .y = data.y}, Params::parse("steps=60"), {});
    promised += stored(*model).values.at("loss").get<double>();
    const Sample fresh = draw(problem, 4000, split(Seed{4}, k));
    const std::vector<Level> levels = metric_levels();
    kept += check_score(fresh.y, model->predict({fresh.x}, levels).quantiles, levels);
  }
  // The loss of 3,000 rows has a standard error of 1.2 %.
  EXPECT_NEAR(promised / kept, 1.0, 0.03);
}

TEST(Automatic, ALawThatFollowsTheGivenPredictionIsFound) {
  // y = p + (0.2 + |p|) noise: what is known of the spread is in the given prediction alone.
  Rng rng(Seed{2});
  constexpr std::size_t kRows = 600;
  Matrix x(kRows, 1);
  Matrix given(kRows, 1);
  std::vector<double> y(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    x(i, 0) = rng.normal();
    given(i, 0) = rng.uniform(-3.0, 3.0);
    y[i] = given(i, 0) + (0.2 + std::abs(given(i, 0))) * rng.normal();
  }
  FitInput input{.x = x, .y = y};
  input.given = given;
  const auto model = fit_auto(input, quick(), {});
  EXPECT_EQ(model->given(), 1U);
  const Matrix at(2, 1, 0.0);
  const Matrix say(std::vector<double>{0.0, 2.5}, 2, 1);
  const std::vector<Level> levels = {Level(0.1), Level(0.5), Level(0.9)};
  const Prediction p = model->predict({at, say}, levels);
  const double narrow = p.quantiles(0, 2) - p.quantiles(0, 0);
  const double wide = p.quantiles(1, 2) - p.quantiles(1, 0);
  // The truth is 0.51 at 0 and 6.9 at 2.5; a window of rows blurs the first. Without the given
  // prediction both would be about 4.4.
  EXPECT_LT(narrow, 1.8);
  EXPECT_GT(wide, 4.6);
  EXPECT_NEAR(p.quantiles(1, 1), 2.5, 1.2);
}

TEST(Automatic, RowsOfZeroWeightAreNotThere) {
  Sample data = draw(find_problem("hetero_1"), 120, Seed{3});
  std::vector<double> weight(120, 1.0);
  for (std::size_t i = 100; i < 120; ++i) {
    weight[i] = 0.0;
    data.y[i] = 1e6;
  }
  const std::vector<double> ones(100, 1.0);
  FitInput all{.x = data.x, .y = data.y, .weight = weight};
  FitInput some{.x = data.x.view().middle_rows(0, 100),
                .y = std::span<const double>(data.y).first(100),
                .weight = ones};
  const std::vector<Level> levels = metric_levels();
  const auto a = fit_auto(all, quick(), {})->predict({data.x}, levels);
  const auto b = fit_auto(some, quick(), {})->predict({data.x}, levels);
  EXPECT_TRUE(std::ranges::equal(a.quantiles.values(), b.quantiles.values()));
}

/// A fit with the option `most_rows` is a fit on so many of the rows: on these alone, the answers
/// are the same.
TEST(Automatic, OfManyRowsSomeAreLearnedFrom) {
  const Sample data = draw(find_problem("hetero_2"), 300, Seed{1});
  FitInput input{.x = data.x, .y = data.y};
  const Params limited = Params::parse("budget=quick steps=60 folds=3 most_rows=120");
  const auto model = fit_auto(input, limited, {});
  Description description;
  model->describe(description);
  EXPECT_EQ(description.trail->trained, 120U);
  EXPECT_EQ(description.trail->eligible, 300U);
  Description loaded;
  load_auto(TensorReader(stored(*model)))->describe(loaded);
  EXPECT_EQ(loaded.trail->eligible, 300U);

  // The rows in use are those whose targets matter.
  const std::vector<Level> levels = {Level(0.1), Level(0.9)};
  const auto answers = [&](std::span<const double> y, const Params& params) {
    FitInput changed = input;
    changed.y = y;
    return fit_auto(changed, params, {})->predict({data.x}, levels).quantiles;
  };
  const Matrix before = answers(data.y, limited);
  std::vector<double> other = data.y;
  const std::vector<std::size_t> used = limit_rows(300, 120, 1, split(input.seed, 7));
  for (std::size_t i = 0; i < other.size(); ++i) {
    if (!std::ranges::binary_search(used, i)) other[i] = 1e6;
  }
  EXPECT_TRUE(std::ranges::equal(before.values(), answers(other, limited).values()));
  other[used.front()] = 1e6;
  EXPECT_FALSE(std::ranges::equal(before.values(), answers(other, limited).values()));

  // Without the option these are few rows: all are in use.
  const auto whole = fit_auto(input, quick(), {});
  Description all;
  whole->describe(all);
  EXPECT_EQ(all.trail->trained, 300U);
  EXPECT_EQ(all.trail->eligible, 300U);
}

/// Rows of weight 0 are not among those that a limit chooses from.
TEST(Automatic, ALimitOfRowsPassesOverThoseOfWeightZero) {
  const Sample data = draw(find_problem("hetero_2"), 300, Seed{1});
  std::vector<double> weight(300, 1.0);
  for (std::size_t i = 0; i < 300; i += 2) weight[i] = 0.0;
  FitInput input{.x = data.x, .y = data.y, .weight = weight};
  const auto model =
      fit_auto(input, Params::parse("budget=quick steps=20 folds=2 most_rows=140"), {});
  Description description;
  model->describe(description);
  EXPECT_EQ(description.trail->trained, 140U);
  EXPECT_EQ(description.trail->eligible, 150U);
}

TEST(Automatic, NamedColumnsAreWhatTheKernelSees) {
  const Sample data = draw(find_problem("hetero_2"), 150, Seed{4});
  FitInput input{.x = data.x, .y = data.y};
  input.calibrate_columns = {1};
  const TensorStore store = stored(*fit_auto(input, quick(), {}));
  EXPECT_TRUE(store.values.at("member0.kernel_columns").empty());
  EXPECT_EQ(store.values.at("member0.snq.dims"), 1);
}

TEST(Automatic, AMassIsHitExactlyAndAsOftenAsItShould) {
  // Zero or an exponential amount. Without the guide no quantile is exactly 0, the probability of
  // being below one is off wherever the law has its mass, and the error is above 0.1.
  const Problem& problem = find_problem("zeros_1");
  const Sample data = draw(problem, 600, Seed{8});
  const auto model = fit_auto({.x = data.x, .y = data.y}, quick(), {});
  const TensorStore store = stored(*model);
  EXPECT_FALSE(store.values.at("guide.name").get<std::string>().empty());
  const Sample fresh = draw(problem, 300, Seed{9});
  const std::vector<Level> levels = metric_levels();
  const Prediction p = model->predict({fresh.x}, levels);
  EXPECT_LT(individual_calibration_error(problem, fresh.x, p.quantiles, levels), 0.05);
  EXPECT_GT(std::ranges::count(p.quantiles.values(), 0.0), 3000);  // of 30,000
  const auto again = load_auto(TensorReader(store))->predict({fresh.x}, levels);
  EXPECT_TRUE(std::ranges::equal(p.quantiles.values(), again.quantiles.values()));
  TensorStore damaged = store;
  TensorWriter(damaged).part("guide").tensor("values", std::vector<double>{std::nan("")});
  expect_error(ErrorCode::kCorruptFile, "'guide.values'",
               [&] { load_auto(TensorReader(damaged)); });
}

TEST(Automatic, QuantilesOfCountsAreCounts) {
  // An average of laws lies between counts, where no target ever is.
  Rng rng(Seed{10});
  Matrix x(700, 1);
  std::vector<double> y(700);
  for (std::size_t i = 0; i < y.size(); ++i) {
    x(i, 0) = rng.uniform();
    for (int k = 0; k < 6; ++k) y[i] += rng.uniform() < 0.2 + 0.5 * x(i, 0) ? 1.0 : 0.0;
  }
  const auto model = fit_auto({.x = x, .y = y}, quick(), {});
  const Prediction p = model->predict({x}, metric_levels());
  const auto is_count = [](double q) { return q == std::round(q) && q >= 0.0 && q <= 6.0; };
  EXPECT_TRUE(std::ranges::all_of(p.quantiles.values(), is_count));
}

TEST(Automatic, QuantilesOfCountsAreCountsWhereFewRowsShareThem) {
  Rng rng(Seed{11});
  Matrix x(500, 1);
  std::vector<double> y(500);
  for (std::size_t i = 0; i < y.size(); ++i) {
    x(i, 0) = rng.uniform();
    y[i] = std::floor(-(1.0 + 30.0 * x(i, 0) * x(i, 0)) * std::log(1.0 - rng.uniform()));
  }
  const auto model = fit_auto({.x = x, .y = y}, quick(), {});
  const Prediction p = model->predict({x}, metric_levels());
  EXPECT_TRUE(
      std::ranges::all_of(p.quantiles.values(), [](double q) { return q == std::round(q); }));
  EXPECT_GT(std::ranges::max(p.quantiles.values()), 40.0);
}

TEST(Automatic, WrongOptionsAreRefusedBeforeTraining) {
  const Sample data = draw(find_problem("hetero_1"), 30, Seed{5});
  const FitInput input{.x = data.x, .y = data.y};
  for (const char* text : {"budget=huge", "folds=1", "steps=0", "kernel=magic"}) {
    expect_error(ErrorCode::kInvalidArgument, "",
                 [&] { fit_auto(input, Params::parse(text), {}); });
  }
  const FitInput few{.x = data.x.view().middle_rows(0, 9),
                     .y = std::span<const double>(data.y).first(9)};
  expect_error(ErrorCode::kBadData, "too few", [&] { fit_auto(few, {}, {}); });
}

TEST(Automatic, TenRowsAreEnough) {
  const Sample data = draw(find_problem("hetero_1"), 10, Seed{6});
  const auto model = fit_auto({.x = data.x, .y = data.y}, quick(), {});
  const Prediction p = model->predict({data.x}, metric_levels());
  for (const double q : p.quantiles.values()) {
    EXPECT_TRUE(std::isfinite(q));
  }
}

TEST(Automatic, ProgressNeverGoesBackAndMayStopTheWork) {
  const Sample data = draw(find_problem("hetero_1"), 60, Seed{7});
  double last = 0.0;
  Execution how;
  how.progress = [&](std::string_view, double share) {
    EXPECT_GE(share, last);
    last = share;
  };
  fit_auto({.x = data.x, .y = data.y}, quick(), how);
  EXPECT_EQ(last, 1.0);
  how.progress = [&](std::string_view, double) { throw std::runtime_error("enough"); };
  EXPECT_THROW(fit_auto({.x = data.x, .y = data.y}, quick(), how), std::runtime_error);
}

}  // namespace
}  // namespace tare
