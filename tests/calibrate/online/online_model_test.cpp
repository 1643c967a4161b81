// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/online/online_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "draws.h"
#include "expect_error.h"
#include "online/methods/method_table.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

/// Rows of a stream with two features and, as a given prediction, the mean without its noise.
struct OnlineData {
  Matrix x, given;
  std::vector<double> y;

  explicit OnlineData(std::size_t rows, std::uint64_t seed) : x(rows, 2), given(rows, 1), y(rows) {
    Rng rng(Seed{seed});
    for (std::size_t i = 0; i < rows; ++i) {
      x(i, 0) = rng.normal();
      x(i, 1) = rng.uniform();
      given(i, 0) = 2.0 * x(i, 0);
      y[i] = given(i, 0) + (0.2 + x(i, 1)) * rng.normal();
    }
  }
  Rows rows(std::size_t first, std::size_t count, bool with_given) const {
    return {.x = MatrixView(x).middle_rows(first, count),
            .given = with_given ? MatrixView(given).middle_rows(first, count) : MatrixView{},
            .group = {}};
  }
};

StreamOptions online_options(const std::string& method = "snq", const std::string& params = {}) {
  StreamOptions options;
  options.method = method;
  for (const double level : {0.05, 0.5, 0.95}) options.levels.emplace_back(level);
  options.features = 2;
  options.start = 10;
  options.params = Params::parse(params);
  return options;
}

FittedModel wrapped(std::shared_ptr<OnlineModel> model) {
  FittedModel fitted;
  fitted.method = kOnline;
  fitted.rows = model->stream().time();
  fitted.model = std::move(model);
  return fitted;
}

FittedModel ridge_base(const OnlineData& data) {
  FittedModel base;
  base.method = "nrc";
  base.params = Params::parse("regressor=ridge bandwidth=1 guarantee=none");
  base.seed = Seed{4};
  base.rows = data.y.size();
  base.model = fit_method(find_method("nrc"), {.x = data.x, .y = data.y}, base.params);
  return base;
}

const std::vector<Level>& asked_levels() {
  static const std::vector<Level> levels = {Level(0.01), Level(0.05), Level(0.2),
                                            Level(0.5),  Level(0.95), Level(0.999)};
  return levels;
}

bool same_answers(const OnlineModel& a, const OnlineModel& b, const Rows& rows) {
  const Matrix qa = a.predict(rows, asked_levels(), {}).quantiles;
  const Matrix qb = b.predict(rows, asked_levels(), {}).quantiles;
  for (std::size_t i = 0; i < qa.rows(); ++i) {
    if (std::memcmp(qa.row(i).data(), qb.row(i).data(), qa.cols() * sizeof(double)) != 0) {
      return false;
    }
  }
  return true;
}

std::shared_ptr<OnlineModel> through_a_file(const std::shared_ptr<OnlineModel>& model) {
  return online_in(load_model_from_memory(save_model_to_memory(wrapped(model))));
}

TEST(OnlineModel, DoesNotAnswerBeforeTwoTargetsAreKnown) {
  const OnlineData data(20, 3);
  const std::array levels = {Level(0.05), Level(0.95)};
  for (const OnlineMethodInfo& method : online_methods()) {
    StreamOptions options = online_options(std::string(method.name));
    options.start = 0;
    OnlineModel model(2, true, options);
    for (std::size_t known = 0; known < 2; ++known) {
      expect_error(ErrorCode::kInvalidArgument, "fewer than 2 targets",
                   [&] { model.predict(data.rows(5, 3, true), levels); });
      EXPECT_EQ(model.predictions(data.rows(5, 1, true))[0], data.given(5, 0));
      model.learn_rows(data.rows(known, 1, true), std::span(&data.y[known], 1));
    }
    EXPECT_EQ(model.predict(data.rows(5, 3, true), levels).quantiles.rows(), 3U) << method.name;
  }
}

TEST(OnlineModel, AFileWhoseTargetsComeAfterTheStartIsStillRead) {
  const OnlineData data(40, 3);
  StreamOptions options = online_options();
  options.delay = 30;
  const auto model = std::make_shared<OnlineModel>(2, true, options);
  model->learn_rows(data.rows(0, 40, true), data.y);
  const FittedModel again = load_model_from_memory(save_model_to_memory(wrapped(model)));
  const std::array levels = {Level(0.05), Level(0.95)};
  const Matrix answers = again.model->predict(data.rows(0, 1, true), levels).quantiles;
  EXPECT_LT(answers(0, 0), answers(0, 1));
}

TEST(OnlineModel, EveryMethodGoesOnAfterItsFileIsRead) {
  const OnlineData data(70, 501);
  for (const OnlineMethodInfo& method : online_methods()) {
    auto whole = std::make_shared<OnlineModel>(2, true, online_options(std::string(method.name)));
    auto restarted =
        std::make_shared<OnlineModel>(2, true, online_options(std::string(method.name)));
    for (std::size_t i = 0; i < 60; i += 12) {
      const Rows rows = data.rows(i, 12, true);
      const std::span<const double> y = std::span(data.y).subspan(i, 12);
      whole->learn_rows(rows, y);
      restarted->learn_rows(rows, y);
      restarted = through_a_file(restarted);
      ASSERT_NE(restarted, nullptr);
      ASSERT_TRUE(same_answers(*whole, *restarted, data.rows(60, 10, true)))
          << method.name << ", row " << i;
    }
    EXPECT_EQ(restarted->given(), 1U);
    EXPECT_EQ(restarted->stream().time(), 60U);
  }
}

TEST(OnlineModel, AnswersAroundAModelAndWithItsOwnGoOnAfterARestart) {
  const OnlineData data(150, 502);
  const auto check = [&](std::shared_ptr<OnlineModel> whole, std::shared_ptr<OnlineModel> again) {
    for (const std::size_t end : {40U, 99U, 101U, 125U, 140U}) {  // around the first fits
      const std::size_t first = whole->stream().time();
      const Rows rows = data.rows(first, end - first, false);
      const std::span<const double> y = std::span(data.y).subspan(first, end - first);
      whole->learn_rows(rows, y);
      for (std::size_t i = 0; i < y.size(); ++i) {  // one by one, and not in a block
        again->learn_rows(data.rows(first + i, 1, false), y.subspan(i, 1));
      }
      again = through_a_file(again);
      ASSERT_TRUE(same_answers(*whole, *again, data.rows(140, 10, false))) << end;
    }
  };
  check(std::make_shared<OnlineModel>(2, false, online_options()),
        std::make_shared<OnlineModel>(2, false, online_options()));
  const FittedModel base = ridge_base(OnlineData(80, 503));
  check(std::make_shared<OnlineModel>(base, online_options()),
        std::make_shared<OnlineModel>(base, online_options()));
}

TEST(OnlineModel, LevelsOfTheStreamAreTheStreamsAndOthersAscendBetweenThem) {
  const OnlineData data(120, 504);
  OnlineModel model(2, true, online_options());
  model.learn_rows(data.rows(0, 100, true), std::span(data.y).first(100));
  std::vector<Level> levels;
  for (int i = 1; i < 200; ++i) levels.emplace_back(i / 200.0);
  const Rows rows = data.rows(100, 20, true);
  const Matrix q = model.predict(rows, levels, {}).quantiles;
  for (std::size_t i = 0; i < 20; ++i) {
    const PendingRow row = model.answer(data.given(100 + i, 0), data.x.row(100 + i));
    EXPECT_EQ(q(i, 9), row.answer.quantiles[0]);    // 0.05
    EXPECT_EQ(q(i, 99), row.answer.quantiles[1]);   // 0.5
    EXPECT_EQ(q(i, 189), row.answer.quantiles[2]);  // 0.95
    for (std::size_t j = 1; j < levels.size(); ++j) ASSERT_LE(q(i, j - 1), q(i, j));
    // Linear in the quantile of a normal distribution: 0.25 lies 0.41 of the way to 0.05.
    const double share = 0.6744897501960817 / 1.6448536269514722;
    const double expected =
        row.answer.quantiles[1] - share * (row.answer.quantiles[1] - row.answer.quantiles[0]);
    EXPECT_NEAR(q(i, 49), expected, 1e-9 * (1.0 + std::abs(expected)));
  }
}

TEST(OnlineModel, AnswersAreNumbersAfterTargetsOfAnySize) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const OnlineData data(60, 505);
  for (const double size : {0.0, 1e-300, 1e300, kMost}) {
    OnlineModel model(2, true, online_options("snq", "window=50"));
    Matrix zero(60, 1);
    std::vector<double> y;
    for (std::size_t i = 0; i < 60; ++i) y.push_back(i % 3 == 0 ? -size : size);
    const Rows rows{.x = data.x, .given = zero, .group = {}};
    model.learn_rows(rows, y);
    const Matrix q = model.predict(rows, asked_levels(), {}).quantiles;
    for (std::size_t i = 0; i < q.rows(); ++i) {
      for (std::size_t j = 0; j < q.cols(); ++j) {
        ASSERT_TRUE(std::isfinite(q(i, j)));
        if (j > 0) {
          ASSERT_LE(q(i, j - 1), q(i, j));
        }
      }
    }
  }
}

TEST(OnlineModel, ItsOwnModelSeesNothingThatIsKnownLater) {
  const OnlineData data(130, 7);
  StreamOptions options = online_options();
  options.known_later = {1};
  OnlineModel model(2, false, options);
  model.learn_rows(data.rows(0, 130, false), data.y);  // its first fit is after 100 rows
  Matrix row(2, 2);
  row(0, 0) = row(1, 0) = 0.5;
  row(0, 1) = 0.1;
  row(1, 1) = 0.9;
  const std::vector<double> own = model.predictions({.x = row, .given = {}, .group = {}});
  EXPECT_NE(own[0], 0.0);
  EXPECT_EQ(own[0], own[1]);
}

TEST(OnlineModel, AModelNeedsAllOfItsColumnsAtOnce) {
  const OnlineData data(60, 8);
  StreamOptions options = online_options();
  options.known_later = {1};
  expect_error(ErrorCode::kInvalidArgument, "known later",
               [&] { OnlineModel(ridge_base(data), options); });
}

TEST(OnlineModel, RowsThatDoNotFitAreRefused) {
  const OnlineData data(20, 506);
  OnlineModel model(2, true, online_options());
  expect_error(ErrorCode::kShapeMismatch, "19 targets",
               [&] { model.learn_rows(data.rows(0, 20, true), std::span(data.y).first(19)); });
  expect_error(ErrorCode::kShapeMismatch, "given",
               [&] { model.learn_rows(data.rows(0, 20, false), data.y); });
  EXPECT_EQ(model.stream().time(), 0U);
}

TEST(OnlineModel, ATeachableCopyLeavesTheOtherAlone) {
  const OnlineData data(80, 507);
  const FittedModel base = ridge_base(data);
  const auto first = teachable(base, {});
  EXPECT_EQ(first->stream().options().levels.size(), usual_stream_levels().size());
  first->learn_rows(data.rows(0, 40, false), std::span(data.y).first(40));
  const auto second = teachable(wrapped(first), {});
  ASSERT_NE(second, first);
  EXPECT_TRUE(same_answers(*first, *second, data.rows(60, 20, false)));
  second->learn_rows(data.rows(40, 20, false), std::span(data.y).subspan(40, 20));
  EXPECT_EQ(first->stream().time(), 40U);
  EXPECT_EQ(second->stream().time(), 60U);
  EXPECT_FALSE(same_answers(*first, *second, data.rows(60, 20, false)));
  EXPECT_EQ(online_in(base), nullptr);
}

TEST(OnlineModel, DescribesItsStream) {
  const OnlineData data(60, 508);
  auto model = std::make_shared<OnlineModel>(2, true, online_options());
  model->learn_rows(data.rows(0, 60, true), data.y);
  const Description description = describe(wrapped(model));
  ASSERT_TRUE(description.online.has_value());
  EXPECT_EQ(description.online->source, "column");
  EXPECT_EQ(description.online->rows, 60U);
  EXPECT_EQ(description.online->answered, 50U);
  ASSERT_EQ(description.online->levels.size(), 3U);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(description.online->levels[j].share_below, model->stream().share_below(j));
    EXPECT_EQ(description.online->levels[j].bound, model->stream().bound(j));
  }
}

TEST(OnlineModel, MayBeAskedWhileItIsTaught) {
  const OnlineData data(200, 509);
  OnlineModel model(2, true, online_options("snq", "window=60"));
  // A stream answers once it knows two targets, so these come before anyone asks.
  model.learn_rows(data.rows(0, 2, true), std::span(data.y).first(2));
  std::atomic<bool> done = false;
  std::vector<std::thread> askers;
  std::atomic<std::size_t> answers = 0;
  for (int t = 0; t < 2; ++t) {
    askers.emplace_back([&] {
      do {
        const Matrix q = model.predict(data.rows(0, 5, true), asked_levels(), {}).quantiles;
        answers += q.rows();
      } while (!done);
    });
  }
  model.learn_rows(data.rows(2, 198, true), std::span(data.y).subspan(2));
  done = true;
  for (std::thread& asker : askers) asker.join();
  EXPECT_GT(answers, 0U);
  OnlineModel alone(2, true, online_options("snq", "window=60"));
  alone.learn_rows(data.rows(0, 200, true), data.y);
  EXPECT_TRUE(same_answers(model, alone, data.rows(0, 20, true)));
}

TEST(OnlineModel, ADamagedFileIsRefused) {
  const OnlineData data(130, 510);
  auto model = std::make_shared<OnlineModel>(2, false, online_options("snq", "window=50"));
  model->learn_rows(data.rows(0, 120, false), std::span(data.y).first(120));
  TensorStore good;
  model->save(TensorWriter(good));
  const auto load = [](const TensorStore& store) {
    return OnlineModel::load(TensorReader(store),
                             [](const TensorReader&) -> FittedModel { return {}; });
  };
  ASSERT_NO_THROW(load(good));
  const auto refuse = [&](const std::string& name, auto&& damage) {
    TensorStore bad = good;
    damage(bad);
    EXPECT_THROW(load(bad), Error) << name;
  };
  for (const auto& [name, tensor] : good.tensors) {
    refuse(name, [&, of = name](TensorStore& bad) { bad.tensors.erase(of); });
  }
  refuse("a value", [](TensorStore& bad) { bad.values["source"] = "oracle"; });
  refuse("a value", [](TensorStore& bad) { bad.values["own.learned"] = 5; });
  refuse("a value",
         [](TensorStore& bad) { bad.values["own.kinds"] = Json::array({"no such trees"}); });
  refuse("a value", [](TensorStore& bad) { bad.values["stream.features"] = 3; });
  refuse("own.y",
         [](TensorStore& bad) { TensorWriter(bad).tensor("own.y", std::vector<double>(7, 1.0)); });
}

TEST(OwnModel, PredictsZeroBeforeItsFirstFitAndLearnsAfterwards) {
  const OnlineData data(300, 511);
  OwnModel own(2, Seed{1});
  std::vector<double> out(300);
  for (std::size_t i = 0; i < 250; ++i) {
    if (i == OwnModel::kFirstFit - 1) {
      own.predict(data.x, out);
      for (const double p : out) ASSERT_EQ(p, 0.0);
    }
    own.learn(data.x.row(i), data.y[i]);
  }
  own.predict(data.x, out);
  double errors = 0.0;
  double sizes = 0.0;
  for (std::size_t i = 250; i < 300; ++i) {
    errors += std::abs(data.y[i] - out[i]);
    sizes += std::abs(data.y[i]);
  }
  EXPECT_LT(errors, 0.7 * sizes);
}

TEST(OwnModel, TargetsOfAnySizeGiveNumbers) {
  const OnlineData data(120, 512);
  for (const double size : {0.0, 1e-300, 1e150, 1e300}) {
    OwnModel own(2, Seed{1});
    for (std::size_t i = 0; i < 120; ++i) own.learn(data.x.row(i), size * data.y[i]);
    std::vector<double> out(120);
    own.predict(data.x, out);
    for (const double p : out) ASSERT_TRUE(std::isfinite(p)) << size;
  }
}

}  // namespace
}  // namespace tare
