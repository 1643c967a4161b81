// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tare/base/error.h"

namespace tare {

/// Expects that `body` throws an Error with this code whose text holds `part`.
template <class Body>
void expect_error(ErrorCode code, const std::string& part, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "'" << error.what() << "' does not say '" << part << "'";
    return;
  }
  ADD_FAILURE() << "nothing was thrown, and '" << part << "' was expected";
}

}  // namespace tare
