// SPDX-License-Identifier: BSD-3-Clause
// No method answers with a number that is not finite, with thousands of rows, with every guarantee,
// and with bands. For few rows methods_test.cpp asks the same.
#include <gtest/gtest.h>

#include "every_method.h"
#include "expect_finite.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

class FiniteAnswers : public testing::TestWithParam<std::string> {};

TEST_P(FiniteAnswers, OfThousandsOfRows) {
  const Method& method = find_method(GetParam());
  const Sample data = draw(find_problem("hetero_2"), 3'000, Seed{3});
  for (const char* guarantee : {"none", "split", "cross:2"}) {
    SCOPED_TRACE(guarantee);
    Params params = quick_params(method);
    params.set("guarantee", guarantee);
    if (!method.slow) params.set("bands", "on");
    FitInput input{.x = data.x, .y = data.y};
    input.seed = Seed{7};
    expect_finite(*fit_method(method, input, params), data.x.view().middle_rows(0, 60));
  }
}

INSTANTIATE_TEST_SUITE_P(All, FiniteAnswers, testing::ValuesIn(all_method_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tare
