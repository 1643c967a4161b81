// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tare/base/matrix.h"
#include "tare/base/rng.h"

namespace tare::peers {

/// Calibration rows and queries, both uniform on the unit cube; the spread of u depends on z.
struct Data {
  Matrix z;
  std::vector<double> u;
  Matrix queries;
};

Data draw_data(std::size_t rows, std::size_t dims, std::size_t queries, Seed seed);

/// The radius whose ball holds `neighbours` rows on average over the first few queries.
double radius_for(const Data& data, std::size_t neighbours);

/// What a program in another language reads: float64, row by row, without a header.
void write_raw(const std::string& path, std::span<const double> values);

}  // namespace tare::peers
