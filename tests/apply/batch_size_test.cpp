// SPDX-License-Identifier: BSD-3-Clause
#include "apply/batch_size.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(BatchRows, AreThoseAskedForUntilARowIsWide) {
  EXPECT_EQ(batch_rows(65'536, 0), 65'536U);
  EXPECT_EQ(batch_rows(65'536, 64), 65'536U);
  EXPECT_EQ(batch_rows(65'536, 128), 32'768U);
  EXPECT_EQ(batch_rows(65'536, 200'000), kMostBatchCells / 200'000);
  EXPECT_EQ(batch_rows(65'536, 2 * kMostBatchCells), 1U) << "a row is read whatever it takes";
}

}  // namespace
}  // namespace tare
