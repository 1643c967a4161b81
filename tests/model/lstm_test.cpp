// SPDX-License-Identifier: BSD-3-Clause
#include "model/network/lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "io/tensor_store.h"
#include "model/sample.h"
#include "tare/base/error.h"

namespace tare {
namespace {

std::size_t window_of(std::size_t cols, const char* options) {
  const Sample sample = make_sample(30, cols, Seed{1});
  TensorStore store;
  fit_lstm(sample.data(), Params::parse(options), {}, {})->save(TensorWriter(store));
  return store.values.at("window").get<std::size_t>();
}

TEST(Lstm, WindowIsFiveWhereTheColumnsAllowIt) {
  EXPECT_EQ(window_of(10, "epochs=1"), 5U);
  EXPECT_EQ(window_of(55, "epochs=1"), 5U);
  EXPECT_EQ(window_of(7, "epochs=1"), 1U);
  EXPECT_EQ(window_of(12, "epochs=1 window=4"), 4U);
  try {
    window_of(12, "epochs=1 window=5");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  }
}

TEST(Lstm, RemembersWhatHappenedStepsAgo) {
  // The target is the oldest step's sign times the newest value: neither end of the window is
  // enough.
  Sample sample{Matrix(3000, 5), std::vector<double>(3000), {}};
  Rng rng(Seed{2});
  for (std::size_t i = 0; i < 3000; ++i) {
    for (std::size_t t = 0; t < 5; ++t) sample.x(i, t) = rng.uniform(-1.0, 1.0);
    sample.y[i] = sample.x(i, 0) > 0.0 ? sample.x(i, 4) : -sample.x(i, 4);
  }
  const RegressionData all = sample.data();
  const Params params = Params::parse("units=16 epochs=60 learning_rate=0.01");
  const auto model =
      fit_lstm({all.x.middle_rows(0, 2500), all.y.first(2500), {}}, params, Seed{3}, {});
  const auto predicted = predictions(*model, all.x.middle_rows(2500, 500));
  double squares = 0.0;
  for (std::size_t i = 0; i < 500; ++i) squares += std::pow(predicted[i] - sample.y[2500 + i], 2.0);
  EXPECT_LT(std::sqrt(squares / 500.0), 0.2);  // the target's standard deviation is 0.58
}

}  // namespace
}  // namespace tare
