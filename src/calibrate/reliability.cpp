// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/reliability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/stages.h"
#include "calibrate/level_order.h"
#include "calibrate/row_blocks.h"
#include "math/binomial.h"

namespace tare {
namespace {

constexpr double kBandTail = 0.5 * (1.0 - kBandConfidence);
constexpr std::size_t kBandBlock = 4'096;  // rows whose quantiles at all levels are in memory: 8 MB
constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

std::vector<Level> make_band_levels() {
  std::vector<double> lower = {0.000001, 0.00001, 0.0001, 0.0002, 0.0005};
  for (int k = 1; k < 20; ++k) lower.push_back(k / 1000.0);  // the double nearest to the decimal
  for (int k = 4; k < 100; ++k) lower.push_back(k / 200.0);
  return mirrored_levels(lower);
}

/// The levels asked for and the grid: ascending, each once.
std::vector<Level> levels_to_ask(std::span<const Level> levels) {
  std::vector<Level> all(levels.begin(), levels.end());
  all.insert(all.end(), band_levels().begin(), band_levels().end());
  std::ranges::sort(all, [](const Level& a, const Level& b) { return a < b; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Columns of `asked` that answer a level and the ends of its band; kNoColumn: infinite.
struct BandColumns {
  std::size_t quantile = 0;
  std::size_t low = kNoColumn;
  std::size_t high = kNoColumn;
};

BandColumns columns_of(Level level, std::uint64_t rows, std::span<const Level> asked) {
  const auto first_from = [&](double tau) {
    const auto at = std::ranges::lower_bound(asked, tau, {}, &Level::value);
    return static_cast<std::size_t>(at - asked.begin());
  };
  const BandEnds ends = band_ends(level, rows);
  BandColumns columns{.quantile = first_from(level.value())};
  if (ends.low) {
    std::size_t at = first_from(*ends.low);
    const bool is_asked = at < asked.size() && asked[at].value() == *ends.low;
    if (!is_asked) at = at > 0 ? at - 1 : kNoColumn;
    columns.low = at == kNoColumn ? at : std::min(at, columns.quantile);
  }
  if (ends.high) {
    const std::size_t at = first_from(*ends.high);
    columns.high = at == asked.size() ? kNoColumn : std::max(at, columns.quantile);
  }
  return columns;
}

/// The columns of all levels for ever new numbers of rows, each computed once.
class ColumnTable {
 public:
  ColumnTable(std::span<const Level> levels, std::span<const Level> asked)
      : levels_(levels), asked_(asked) {}

  const std::vector<BandColumns>& of(double effective_n) {
    const std::uint64_t rows = band_rows(effective_n);
    const auto [entry, is_new] = known_.try_emplace(rows);
    if (is_new) {
      for (const Level& level : levels_) entry->second.push_back(columns_of(level, rows, asked_));
    }
    return entry->second;
  }

 private:
  std::span<const Level> levels_;
  std::span<const Level> asked_;
  std::unordered_map<std::uint64_t, std::vector<BandColumns>> known_;
};

/// Moves what a block of rows was answered to its place in the whole.
void add_block(const Prediction& block, std::size_t first, ColumnTable& table, Prediction& whole) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < block.quantiles.rows(); ++i) {
    const std::span<const double> answers = block.quantiles.row(i);
    const std::vector<BandColumns>& columns = table.of(block.effective_n[i]);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const auto [quantile, low, high] = columns[j];
      whole.quantiles(first + i, j) = answers[quantile];
      whole.band_low(first + i, j) = low == kNoColumn ? -kInfinite : answers[low];
      whole.band_high(first + i, j) = high == kNoColumn ? kInfinite : answers[high];
    }
  }
  append_diagnostics(whole, block);
}

/// Whether answers come with an effective_n: one row tells, and costs less than a band for nothing.
bool has_window(const QuantileModel& model, const Rows& rows, const Execution& how) {
  if (rows.x.rows() == 0) return false;
  const Level middle(0.5);
  const Execution quiet = quietly(how);
  return !model.predict(middle_of(rows, 0, 1), {&middle, 1}, quiet).effective_n.empty();
}

Prediction predict_with_bands(const QuantileModel& model, const Rows& rows,
                              std::span<const Level> levels, const Execution& how) {
  const std::vector<Level> asked = levels_to_ask(levels);
  ColumnTable table(levels, asked);
  Prediction whole;
  const std::size_t all = rows.x.rows();
  whole.quantiles = Matrix(all, levels.size());
  whole.band_low = Matrix(all, levels.size());
  whole.band_high = Matrix(all, levels.size());
  for (std::size_t first = 0; first < all; first += kBandBlock) {
    const Rows part = middle_of(rows, first, std::min(kBandBlock, all - first));
    add_block(model.predict(part, asked, how), first, table, whole);
  }
  return whole;
}

}  // namespace

std::span<const Level> band_levels() {
  static const std::vector<Level> kLevels = make_band_levels();
  return kLevels;
}

std::uint64_t band_rows(double effective_n) {
  constexpr double kRounding = 1e-9;  // an average of whole numbers may lie a hair below one
  constexpr double kMostRows = 1e9;
  constexpr std::uint64_t kExactRows = 10'000;
  constexpr std::uint64_t kThreeDigits = 1'000;
  if (!(effective_n >= 1.0)) return 1;
  const auto rows =
      static_cast<std::uint64_t>(std::min(effective_n * (1.0 + kRounding), kMostRows));
  if (rows < kExactRows) return rows;
  // So that there are few different ones; a band gets wider by at most half a percent.
  std::uint64_t unit = 1;
  while (rows / unit >= kThreeDigits) unit *= 10;
  return rows / unit * unit;
}

BandEnds band_ends(Level level, std::uint64_t rows) {
  const auto k = static_cast<double>(rows);
  const std::uint64_t low = binomial_lower_rank(rows, level.value(), kBandTail);
  // From the other side: the draws mirrored, and the level with them.
  const std::uint64_t from_above = binomial_lower_rank(rows, 1.0 - level.value(), kBandTail);
  BandEnds ends;
  if (low > 0) ends.low = (static_cast<double>(low) - 0.5) / k;
  if (from_above > 0) ends.high = (k - static_cast<double>(from_above) + 0.5) / k;
  return ends;
}

Prediction predict_with_reliability(const QuantileModel& model, const Rows& rows,
                                    std::span<const Level> levels, const Execution& how) {
  model.check_shapes(rows);
  Prediction result = has_window(model, rows, how) ? predict_with_bands(model, rows, levels, how)
                                                   : model.predict(rows, levels, how);
  result.delivered = model.delivered(rows, levels);
  return result;
}

}  // namespace tare
