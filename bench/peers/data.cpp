// SPDX-License-Identifier: BSD-3-Clause
#include "peers/data.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/fail.h"

namespace tare::peers {
namespace {

constexpr std::size_t kRadiusQueries = 32;
constexpr std::size_t kKept = 16;  // times the mean: no ball holds more, edges make most hold less

Matrix uniform_rows(std::size_t rows, std::size_t dims, Rng& rng) {
  Matrix z(rows, dims);
  for (double& value : z.values()) value = rng.uniform();
  return z;
}

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

}  // namespace

Data draw_data(std::size_t rows, std::size_t dims, std::size_t queries, Seed seed) {
  Rng of_rows(split(seed, 0));
  Rng of_queries(split(seed, 1));
  Data data{uniform_rows(rows, dims, of_rows), std::vector<double>(rows),
            uniform_rows(queries, dims, of_queries)};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto z = data.z.row(i);
    const double spread = 0.2 + z[0] + std::abs(std::sin(6.0 * z[dims - 1]));
    data.u[i] = spread * of_rows.normal();
  }
  return data;
}

double radius_for(const Data& data, std::size_t neighbours) {
  const std::size_t queries = std::min(kRadiusQueries, data.queries.rows());
  const std::size_t kept = std::min(data.z.rows(), kKept * neighbours + 1);
  std::vector<double> near;
  std::vector<double> all(data.z.rows());
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k] = squared_distance(data.z.row(k), data.queries.row(i));
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept - 1), all.end());
    near.insert(near.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  const std::size_t wanted = std::min(near.size(), queries * neighbours) - 1;
  std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(wanted), near.end());
  // A little wider than to that row: on the rim itself each library's rounding would decide.
  return (1.0 + 1e-9) * std::sqrt(near[wanted]);
}

void write_raw(const std::string& path, std::span<const double> values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size_bytes()));
  if (!out.flush()) fail(ErrorCode::kIo, "{} cannot be written", path);
}

}  // namespace tare::peers
