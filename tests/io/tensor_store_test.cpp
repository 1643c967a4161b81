// SPDX-License-Identifier: BSD-3-Clause
#include "io/tensor_store.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "expect_error.h"

namespace tare {
namespace {

TEST(TensorReader, TakesNoNumberForACountThatIsNotOne) {
  TensorStore store;
  const TensorWriter out(store);
  out.value("seed", std::size_t{7});
  out.value("units", std::vector<std::size_t>{3, 4});
  const TensorReader in(store);
  EXPECT_EQ(in.count("seed", 100), 7U);
  EXPECT_EQ(in.get<std::vector<std::size_t>>("units"), (std::vector<std::size_t>{3, 4}));
  for (const Json& wrong : {Json(1e300), Json(-1), Json(0.5), Json(true), Json("7"), Json()}) {
    store.values["seed"] = wrong;
    store.values["units"] = Json::array({3, wrong});
    expect_error(ErrorCode::kCorruptFile, "'seed'", [&] { in.count("seed", 100); });
    expect_error(ErrorCode::kCorruptFile, "'units'",
                 [&] { in.get<std::vector<std::size_t>>("units"); });
  }
}

}  // namespace
}  // namespace tare
