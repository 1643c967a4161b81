// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/fit_in_time.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fail.h"
namespace tare {
namespace {

constexpr double kEver = 1e6;

/// A model that knows how it was made.
class NamedModel final : public QuantileModel {
 public:
  NamedModel(std::string_view named, std::size_t fitted) : budget(named), rows(fitted) {}
  std::size_t features() const override { return 1; }
  std::size_t given() const override { return 0; }
  void describe(Description&) const override {}
  void save(const TensorWriter&) const override {}

  std::string budget;
  std::size_t rows;

 protected:
  Prediction predict_ascending(const Rows&, std::span<const Level>,
                               const Execution&) const override {
    return {};
  }
};

/// Fits that take no time, but for one that lasts until it is stopped.
struct FakeFits {
  std::string endless;
  std::vector<std::string> begun = {};

  FitWithBudget fit() {
    return [this](const FitInput& input, std::string_view budget, const Execution& how) {
      begun.emplace_back(budget);
      while (budget == endless) {
        if (how.stop && *how.stop) throw Stopped();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return std::make_unique<NamedModel>(budget, input.x.rows());
    };
  }
};

struct SomeRows {
  Matrix x;
  std::vector<double> y;

  explicit SomeRows(std::size_t rows) : x(rows, 1), y(rows) {}
  FitInput input() const { return {.x = x, .y = y}; }
};

const NamedModel& named(const std::unique_ptr<QuantileModel>& model) {
  return dynamic_cast<const NamedModel&>(*model);
}

TEST(FitInTime, TheLastBudgetThatIsDoneCounts) {
  const SomeRows rows(100);
  FakeFits quick_ones;
  EXPECT_EQ(named(fit_in_time(rows.input(), kEver, quick_ones.fit(), {})).budget, "best");
  EXPECT_EQ(quick_ones.begun, (std::vector<std::string>{"quick", "default", "best"}));
  FakeFits slow{.endless = "best"};
  EXPECT_EQ(named(fit_in_time(rows.input(), 0.2, slow.fit(), {})).budget, "default");
  FakeFits slower{.endless = "default"};
  EXPECT_EQ(named(fit_in_time(rows.input(), 0.2, slower.fit(), {})).budget, "quick");
}

TEST(FitInTime, SomeRowsAreFittedFirstWhereAllCouldTakeTooLong) {
  const SomeRows rows(10'000);
  FakeFits slow{.endless = "default"};
  EXPECT_EQ(named(fit_in_time(rows.input(), 0.2, slow.fit(), {})).rows, 10'000U);
  EXPECT_EQ(slow.begun, (std::vector<std::string>{"quick", "quick", "default"}));
  FakeFits stuck;
  std::optional<std::size_t> first;
  const auto only_few = [&](const FitInput& input, std::string_view budget, const Execution& how) {
    if (!first) first = input.x.rows();
    stuck.endless = input.x.rows() == 10'000 ? "quick" : "";
    return stuck.fit()(input, budget, how);
  };
  EXPECT_LT(named(fit_in_time(rows.input(), 0.2, only_few, {})).rows, 10'000U);
  EXPECT_LT(first.value_or(10'000), 10'000U);
  FakeFits enough;
  fit_in_time(rows.input(), kEver, enough.fit(), {});
  EXPECT_EQ(enough.begun.size(), 3U);  // no fit on some rows
}

TEST(FitInTime, WhoeverStopsTheWorkStopsAllOfIt) {
  const SomeRows rows(100);
  FakeFits slow{.endless = "default"};
  std::atomic<bool> stop = false;
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  Execution how;
  how.stop = &stop;
  EXPECT_THROW(fit_in_time(rows.input(), kEver, slow.fit(), how), Stopped);
  user.join();
}

TEST(FitInTime, AnErrorOfTheRowsIsNotHidden) {
  const SomeRows rows(100);
  const auto refuse = [](const FitInput&, std::string_view,
                         const Execution&) -> std::unique_ptr<QuantileModel> {
    fail(ErrorCode::kBadData, "too few rows");
  };
  EXPECT_THROW(fit_in_time(rows.input(), 1.0, refuse, {}), Error);
}

TEST(FitInTime, ReadsSecondsMinutesAndHours) {
  EXPECT_EQ(parse_time_limit("30"), 30.0);
  EXPECT_EQ(parse_time_limit("0.5s"), 0.5);
  EXPECT_EQ(parse_time_limit("2m"), 120.0);
  EXPECT_EQ(parse_time_limit("1.5h"), 5400.0);
  for (const char* bad : {"", "s", "-3s", "0", "nan", "inf", "1e300h", "3d", "quick"}) {
    EXPECT_THROW(parse_time_limit(bad), Error) << bad;
  }
}

TEST(FitInTime, AModelIsThatOfItsBudget) {
  Rng rng(Seed{61});
  SomeRows rows(60);
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    rows.x(i, 0) = rng.uniform();
    rows.y[i] = rows.x(i, 0) + 0.1 * rng.normal();
  }
  const Method& method = find_method("auto");
  FitInput input = rows.input();
  input.seed = Seed{5};
  // Steps bound the time of budget best.
  const Params timed = Params::parse("time=1h steps=20 folds=2");
  const Params budget = Params::parse("budget=best steps=20 folds=2");
  const std::vector<Level> levels = {Level(0.1), Level(0.9)};
  const Matrix a =
      fit_method(method, input, timed, {})->predict({.x = rows.x}, levels, {}).quantiles;
  const Matrix b =
      fit_method(method, input, budget, {})->predict({.x = rows.x}, levels, {}).quantiles;
  EXPECT_TRUE(std::ranges::equal(a.values(), b.values()));
  EXPECT_THROW(fit_method(method, input, Params::parse("time=1s budget=quick"), {}), Error);
}

}  // namespace
}  // namespace tare
