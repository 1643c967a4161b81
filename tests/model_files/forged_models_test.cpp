// SPDX-License-Identifier: BSD-3-Clause
// Model files that are wrong in one thing, with a right checksum: each is refused with an Error or
// gives answers, within a stated amount of memory and in little time.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "draws.h"
#include "forged_models.h"
#include "small_models.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// TARE_FORGERIES asks for another number, for a long run with the sanitizers.
std::uint64_t forgeries_to_draw() {
  const char* asked = std::getenv("TARE_FORGERIES");
  return asked == nullptr ? draws(60) : std::strtoull(asked, nullptr, 10);
}

class ForgedModels : public testing::TestWithParam<std::string> {};

TEST_P(ForgedModels, SomeAreRefusedOrAnswered) {
  const ForgedModel model(small_model(GetParam()));
  ASSERT_EQ(model.outcome_of_good(), "");
  Rng rng(Seed{20});
  for (std::uint64_t k = 0; k < forgeries_to_draw(); ++k) {
    const std::size_t chosen = rng.below(model.forgeries().size());
    EXPECT_EQ(model.outcome(chosen), "") << model.forgeries()[chosen].name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ForgedModels, testing::ValuesIn(small_model_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace tare
