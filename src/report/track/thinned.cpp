// SPDX-License-Identifier: BSD-3-Clause
#include "report/track/thinned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/html/numbers.h"

namespace tare {

Thinned thin(std::span<const double> x, std::span<const double> y) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Thinned out;
  out.rows = std::max<std::size_t>(1, (x.size() + Thinned::kMostPoints - 1) / Thinned::kMostPoints);
  std::vector<double> part;
  for (std::size_t first = 0; first < x.size(); first += out.rows) {
    const std::size_t last = std::min(x.size(), first + out.rows);
    part.clear();
    for (std::size_t i = first; i < last; ++i) {
      if (std::isfinite(y[i])) part.push_back(y[i]);
    }
    std::ranges::sort(part);
    out.x.push_back(x[last - 1]);
    out.middle.push_back(part.empty() ? kNone : part[(part.size() - 1) / 2]);
    out.low.push_back(part.empty() ? kNone : part.front());
    out.high.push_back(part.empty() ? kNone : part.back());
  }
  return out;
}

std::string thinned_words(const Thinned& thinned) {
  if (thinned.rows == 1) return {};
  return fmt::format("Each point is the median of {}, and the area spans their values.",
                     rows_text(thinned.rows));
}

std::vector<std::size_t> spaced(std::size_t count, std::size_t most) {
  std::vector<std::size_t> places;
  const std::size_t step = std::max<std::size_t>(1, (count + most - 1) / most);
  for (std::size_t back = 0; back < count; back += step) places.push_back(count - 1 - back);
  std::ranges::reverse(places);
  return places;
}

std::vector<double> moving_share(std::span<const unsigned char> inside, std::size_t width) {
  std::vector<double> shares;
  std::size_t recent = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    recent += inside[i] != 0 ? 1U : 0U;
    if (i >= width) recent -= inside[i - width] != 0 ? 1U : 0U;
    if (i + 1 >= width) {
      shares.push_back(static_cast<double>(recent) / static_cast<double>(width));
    }
  }
  return shares;
}

std::vector<double> moving_quantile(std::span<const double> values, std::size_t width,
                                    double level) {
  std::vector<double> found;
  std::vector<double> sorted;  // the last `width` values
  const double wanted = level * static_cast<double>(width);
  const std::size_t rank = std::clamp<std::size_t>(
      static_cast<std::size_t>(std::ceil(wanted * (1.0 - 1e-12))), 1, width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i >= width) sorted.erase(std::ranges::lower_bound(sorted, values[i - width]));
    sorted.insert(std::ranges::upper_bound(sorted, values[i]), values[i]);
    if (sorted.size() == width) found.push_back(sorted[rank - 1]);
  }
  return found;
}

}  // namespace tare
