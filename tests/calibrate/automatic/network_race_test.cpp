// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/network_race.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tare::automatic {
namespace {

/// Rows of one feature, and targets with a given noise around a wave.
struct Waves {
  Matrix x;
  std::vector<double> y;

  Waves(std::size_t rows, double height, double noise) : x(rows, 1) {
    Rng rng(Seed{4});
    for (std::size_t i = 0; i < rows; ++i) {
      x(i, 0) = rng.uniform(-2.0, 2.0);
      y.push_back(height * std::sin(3.0 * x(i, 0)) + noise * rng.normal());
    }
  }
};

NetworkRace race(const Waves& waves, std::span<const NetworkShape> ladder,
                 const RaceRule& rule = {}) {
  const RegressionData data{waves.x, waves.y, {}};
  const Folds folds = Folds::random(waves.y.size(), 4, Seed{5});
  CrossFit fit(data, folds);
  Progress progress({}, 1.0);
  return race_networks({fit, Seed{6}, {}, progress}, ladder, rule, 1);
}

TEST(NetworkRace, AShapeMustBeBetterToBeTrainedOnManyRows) {
  const std::vector<NetworkShape> ladder = {{8, 60}, {24, 700}};
  const NetworkRace noise = race(Waves(4100, 0.0, 1.0), ladder);
  EXPECT_EQ(noise.columns.size(), 1U);
  EXPECT_EQ(noise.winner.units, 8U);
  const NetworkRace wave = race(Waves(4100, 1.0, 0.1), ladder);
  EXPECT_EQ(wave.columns.size(), 2U);
  EXPECT_EQ(wave.winner.units, 24U);
}

TEST(NetworkRace, OnFewRowsAllShapesRunAndTheBestWins) {
  const std::vector<NetworkShape> ladder = {{8, 60}, {24, 700}, {8, 40}};
  const NetworkRace wave = race(Waves(300, 1.0, 0.1), ladder);
  EXPECT_EQ(wave.columns.size(), 3U);
  EXPECT_EQ(wave.winner.units, 24U);
}

/// A shape that errs a tenth more than the one before is the last one, unless there is little
/// noise.
TEST(NetworkRace, EndsWhereNetworksLearnTheNoise) {
  const std::vector<NetworkShape> ladder = {{4, 20}, {32, 2500}, {32, 2600}};
  const Waves noise(30, 0.0, 1.0);
  EXPECT_EQ(race(noise, ladder).columns.size(), 2U);
  EXPECT_EQ(race(noise, ladder, {.little_noise = true}).columns.size(), 3U);
}

TEST(NetworkRace, OtherShapesMustBeWorthIt) {
  const std::vector<NetworkShape> ladder = {{4, 10}, {24, 700}, {32, 900}};
  const Waves wave(300, 1.0, 0.1);
  EXPECT_EQ(race(wave, ladder, {.sure_units = 24, .rival = 1e9}).columns.size(), 3U);
  EXPECT_EQ(race(wave, ladder, {.sure_units = 24, .rival = 1e-9}).columns.size(), 2U);
  const std::vector<NetworkShape> same = {{24, 700}, {24, 710}, {32, 720}};
  EXPECT_EQ(race(wave, same, {.sure_units = 24, .rival = 1e9}).columns.size(), 2U);
}

TEST(NetworkRace, ShapesGrowAndNoneComesTwice) {
  for (const std::size_t rows : {20U, 500U, 8'000U, 1'000'000U}) {
    const std::vector<NetworkShape> ladder = network_ladder(rows, 4);
    EXPECT_GE(ladder.size(), 3U);
    for (std::size_t k = 1; k < ladder.size(); ++k) {
      EXPECT_GE(ladder[k].units, ladder[k - 1].units);
      EXPECT_GT(ladder[k].units * ladder[k].steps, ladder[k - 1].units * ladder[k - 1].steps);
    }
    EXPECT_EQ(network_ladder(rows, 1).size(), 1U);
  }
}

TEST(NetworkRace, FewRowsTakeFewerStepsUnlessThereIsLittleNoise) {
  const auto first_steps = [](std::size_t rows, bool little_noise) {
    return network_ladder(rows, 4, 0, little_noise).front().steps;
  };
  EXPECT_EQ(first_steps(500, false), 1000U);
  EXPECT_EQ(first_steps(250, false), 500U);
  EXPECT_EQ(first_steps(20, false), first_steps(150, false));
  for (const std::size_t rows : {20U, 250U, 500U}) EXPECT_EQ(first_steps(rows, true), 1000U);
  EXPECT_EQ(network_ladder(20, 4, 77).front().steps, 77U);
}

}  // namespace
}  // namespace tare::automatic
