// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/masses/rank_scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

using automatic::RankScale;

TEST(RankScale, APlaceIsTheShareBelowAndHalfOfTheShareThatIsEqual) {
  Rng rng(Seed{1});
  std::vector<double> values;
  for (int i = 0; i < 300; ++i) values.push_back(std::floor(20.0 * rng.uniform() * rng.uniform()));
  const RankScale scale = RankScale::of(values, values.size());
  for (const double value : values) {
    double below = 0.0;
    double equal = 0.0;
    for (const double other : values) {
      below += other < value ? 1.0 : 0.0;
      equal += other == value ? 1.0 : 0.0;
    }
    EXPECT_NEAR(scale.place(value), (below + 0.5 * equal) / 300.0, 1e-12);
    EXPECT_EQ(scale.value_at(scale.place(value)), value);
  }
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(scale.place(-infinite), scale.place(0.0));
  EXPECT_EQ(scale.place(infinite), scale.place(std::ranges::max(values)));
}

TEST(RankScale, FewKnotsAreNearlyAsGood) {
  Rng rng(Seed{2});
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) values.push_back(std::exp(3.0 * rng.normal()));
  const RankScale all = RankScale::of(values, values.size());
  const RankScale some = RankScale::of(values, 201);
  for (const double value : values) {
    EXPECT_NEAR(some.place(value), all.place(value), 0.006);
    EXPECT_LE(some.place(value), some.place(1.1 * value));
  }
}

TEST(RankScale, AFileKeepsItAndDamageIsNoticed) {
  const RankScale scale = RankScale::of(std::vector<double>{3.0, 1.0, 1.0, 2.0}, 10);
  TensorStore store;
  scale.save(TensorWriter(store), "y");
  EXPECT_EQ(RankScale::load(TensorReader(store), "y").place(1.5), scale.place(1.5));
  TensorStore damaged = store;
  TensorWriter(damaged).tensor("y_values", std::vector<double>{1.0, 1.0, 2.0});
  expect_error(ErrorCode::kCorruptFile, "'y_values'",
               [&] { RankScale::load(TensorReader(damaged), "y"); });
}

}  // namespace
}  // namespace tare
