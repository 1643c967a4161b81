// SPDX-License-Identifier: BSD-3-Clause
// All forgeries of all models, but every k-th where a model has many parts that are alike;
// forged_models_test.cpp draws some of them.
#include <gtest/gtest.h>

#include <cstddef>
#include <iostream>

#include "forged_models.h"
#include "small_models.h"

namespace tare {
namespace {

class AllForgedModels : public testing::TestWithParam<std::string> {};

TEST_P(AllForgedModels, AreRefusedOrAnswered) {
  const ForgedModel model(small_model(GetParam()));
  ASSERT_EQ(model.outcome_of_good(), "");
  constexpr std::size_t kMost = 6'000;
  const std::size_t step = (model.forgeries().size() + kMost - 1) / kMost;
  for (std::size_t k = 0; k < model.forgeries().size(); k += step) {
    EXPECT_EQ(model.outcome(k), "") << model.forgeries()[k].name;
  }
  std::cout << model.summary() << "\n";
}

INSTANTIATE_TEST_SUITE_P(All, AllForgedModels, testing::ValuesIn(small_model_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace tare
