// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "tare/base/matrix.h"
#include "tare/calibrate/snq.h"

namespace tare::oracle {

/// A level as a fraction, so that the oracle's ranks need no rounding.
struct Fraction {
  std::int64_t numerator = 1;
  std::int64_t denominator = 2;
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

/// What SNQ must answer for one query, by the definition and nothing else: naive loops, long
/// double, a full sort per level. Shares no code with the library.
struct Answer {
  double lowest =
      0.0;  // the smallest answer that rounding in the library may give, and the largest;
  double highest = 0.0;  // equal where every weight is a whole number and ranks are the paper's
  long double effective_n = 0.0;
  double nearest = 0.0;
  bool fallback = false;
};

Answer answer(MatrixView z, const std::vector<double>& u, const std::vector<double>& weight,
              const SnqOptions& options, const std::vector<double>& query, Fraction tau);

}  // namespace tare::oracle
