// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc/frame_kernel.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "calibrate/bandwidth/bandwidth.h"
#include "calibrate/bandwidth/bandwidth_race.h"
#include "calibrate/bandwidth/bandwidth_search.h"
#include "calibrate/features/screening.h"
#include "data/rows.h"

namespace tare {
namespace {

constexpr std::size_t kLeftOutOnLine = 1'024;  // rows, to choose k
constexpr std::size_t kLeftOutRows = 192;      // rows, to choose between the line and all columns,
constexpr std::size_t kFewFramedRows = 512;    // and up to here all
constexpr std::size_t kPart = 4'096;           // rows that stand for all in that choice
constexpr std::size_t kLeastNeighbours = 20;
constexpr std::size_t kLines = 2;  // columns that are tried
// For less of the loss, or fewer standard errors, the line stays: a kernel on all columns answers
// ten times as slowly, but for few rows.
constexpr double kWorthIt = 0.02;
constexpr double kWorthItOfFew = 0.01;
constexpr double kSure = 2.0;
constexpr double kSureOfFew = 1.0;

/// The rows of `order`, in that order. Of few among many only theirs are mapped.
std::shared_ptr<const LocalSample> make_sample(const FramedRows& rows, const FeatureMap& map,
                                               std::span<const std::size_t> order) {
  if (order.size() == rows.u.size()) {
    return std::make_shared<const LocalSample>(map.apply(rows.features), rows.u, rows.weight,
                                               order);
  }
  return std::make_shared<const LocalSample>(map.apply(take_rows(rows.features, order)),
                                             take_rows(rows.u, order),
                                             take_rows(rows.weight, order), all_rows(order.size()));
}

/// Some rows, their sample, and which of its places are left out.
struct FramedSample {
  std::shared_ptr<const LocalSample> sample;
  std::vector<double> unit;  // of each place
  std::vector<std::size_t> left_out;
  std::vector<std::size_t> row;  // of each that is left out; in the order of u

  /// The rows of `order`, which is a part of the residual_order; `flag` marks those left out.
  FramedSample(const FramedRows& rows, const FeatureMap& map, std::span<const std::size_t> order,
               std::span<const std::uint8_t> flag)
      : sample(make_sample(rows, map, order)) {
    for (std::size_t place = 0; place < order.size(); ++place) {
      const std::size_t i = order[place];
      unit.push_back(rows.unit[i]);
      if (flag[i] == 0) continue;
      left_out.push_back(place);
      row.push_back(i);
    }
  }
};

FeatureMap map_of(const FramedRows& rows, std::vector<std::size_t> columns) {
  FeatureMapOptions options;
  options.columns = std::move(columns);
  return FeatureMap::fit(rows.features, {}, all_rows(rows.u.size()), options, Seed{});
}

std::vector<std::uint8_t> flags(std::span<const std::size_t> rows, std::size_t count) {
  std::vector<std::uint8_t> flag(count, 0);
  for (const std::size_t i : rows) flag[i] = 1;
  return flag;
}

/// Those of `order` that are marked.
std::vector<std::size_t> marked(std::span<const std::size_t> order,
                                std::span<const std::uint8_t> flag) {
  std::vector<std::size_t> some;
  for (const std::size_t i : order) {
    if (flag[i] != 0) some.push_back(i);
  }
  return some;
}

/// The columns on which u depends most, at most kLines.
std::vector<std::size_t> strongest_columns(const FramedRows& rows, Seed seed,
                                           const Execution& how) {
  constexpr std::size_t kPermutations = 19;  // which only bring columns to one scale
  auto screened = screen_columns(rows.features, rows.u, kPermutations, seed, how);
  std::ranges::stable_sort(screened, std::greater<>{}, &ScreenedColumn::strength);
  std::vector<std::size_t> columns;
  for (const ScreenedColumn& one : screened) columns.push_back(one.column);
  columns.resize(std::min(columns.size(), kLines));
  return columns;
}

/// All rows, half of them, a quarter, and so on.
std::vector<double> neighbour_counts(std::size_t rows) {
  std::vector<double> counts;
  for (std::size_t k = rows; k >= std::min(rows, kLeastNeighbours) && k > 0; k /= 2) {
    counts.push_back(static_cast<double>(k));
  }
  return counts;
}

/// Whether losses are lower than others of the same rows by more than some standard errors.
bool is_clearly_lower(std::span<const double> losses, std::span<const double> others,
                      double errors = 1.0) {
  const LossDifference gain = loss_difference(others, losses, {});
  return gain.mean > errors * gain.error;
}

double sum_of(std::span<const double> losses) {
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

/// k nearest rows on a line, and what each k loses on each row left out.
BandwidthChoice choose_neighbours(const FramedSample& line, const SnqOptions& options,
                                  RowLosses& losses, const Execution& how) {
  const LocalSample& sample = *line.sample;
  const std::vector<double> counts = neighbour_counts(sample.rows());
  keep_rows(leave_one_out_losses(sample, {}, options, counts, line.left_out, how), counts, sample,
            line.unit, line.left_out, losses);
  BandwidthChoice choice;
  // Few rows are left out: of numbers that they cannot tell apart the largest is taken.
  choice.bandwidth = counts.front();
  for (const double count : counts) {
    if (is_clearly_lower(losses[count], losses[choice.bandwidth])) choice.bandwidth = count;
  }
  choice.rule = "auto";
  choice.rows_left_out = line.left_out.size();
  double weight = 0.0;
  for (const std::size_t place : line.left_out) weight += weight_of(sample, place);
  for (const auto& [count, of_rows] : losses) {
    choice.path.push_back({count, sum_of(of_rows) / weight});
  }
  return choice;
}

/// A column and the number of neighbours that loses least along it.
struct Line {
  FeatureMap map;
  FramedSample sample;
  RowLosses losses;
  BandwidthChoice choice;

  Line(const FramedRows& rows, std::size_t column, std::span<const std::size_t> order,
       std::span<const std::uint8_t> left_out, const SnqOptions& options, const Execution& how)
      : map(map_of(rows, {column})),
        sample(rows, map, order, left_out),
        choice(choose_neighbours(sample, options, losses, how)) {}

  std::span<const double> loss() const { return losses.at(choice.bandwidth); }
};

/// The best of a few bandwidths around the rate of Theorem 1.
double try_widths(const FramedSample& whole, const SnqOptions& options, RowLosses& losses,
                  const Execution& how) {
  const LocalSample& sample = *whole.sample;
  const double rate = rate_bandwidth(options.kernel, sample.rows(), sample.dims(), 0.0);
  const std::vector<double> widths = {0.35 * rate, 0.6 * rate, rate, 1.7 * rate};
  keep_rows(leave_one_out_losses(sample, {}, options, widths, whole.left_out, how), widths, sample,
            whole.unit, whole.left_out, losses);
  return std::ranges::min_element(losses, {}, [](const auto& own) { return sum_of(own.second); })
      ->first;
}

/// The better of the columns that u depends on most.
Line best_line(const FramedRows& rows, std::span<const std::size_t> order,
               std::span<const std::uint8_t> left_out, Seed seed, const Execution& how) {
  const SnqOptions options{.kernel = KernelKind::kKnn};
  std::optional<Line> best;
  for (const std::size_t column : strongest_columns(rows, seed, how)) {
    Line line(rows, column, order, left_out, options, how);
    if (!best || is_clearly_lower(line.loss(), best->loss())) best.emplace(std::move(line));
  }
  return std::move(*best);
}

/// A Gaussian kernel on all columns.
SnqOptions on_all_columns() { return {.kernel = KernelKind::kGaussian}; }

/// Whether all columns lose less than the line on the rows that are compared.
bool is_worth_all(const FramedSample& whole, const Line& line,
                  std::span<const std::uint8_t> compared, const Execution& how) {
  RowLosses losses;
  const double width = try_widths(whole, on_all_columns(), losses, how);
  std::vector<double> of_line;  // both in the order of u
  for (std::size_t k = 0; k < line.sample.row.size(); ++k) {
    if (compared[line.sample.row[k]] != 0) of_line.push_back(line.loss()[k]);
  }
  const bool few = line.sample.sample->rows() <= kFewFramedRows;
  const double worth = few ? kWorthItOfFew : kWorthIt;
  return is_clearly_lower(losses[width], of_line, few ? kSureOfFew : kSure) &&
         sum_of(losses[width]) <= (1.0 - worth) * sum_of(of_line);
}

}  // namespace

FrameKernel choose_frame_kernel(const FramedRows& rows, Seed seed, const Execution& how) {
  const std::size_t count = rows.u.size();
  const std::vector<std::size_t> order = residual_order(rows.u, rows.weight);
  Rng rng(split(seed, 1));
  const std::vector<std::size_t> shuffled = random_permutation(count, rng);
  const auto some = [&](std::size_t most) {
    return flags(std::span(shuffled).first(std::min(count, most)), count);
  };
  const std::size_t few = count <= kFewFramedRows ? count : kLeftOutRows;
  const auto compared = some(few);
  // Where rows differ in weight there is no line, and each row costs all others.
  const auto left_out = rows.weight.empty() ? some(kLeftOutOnLine) : compared;
  Line line = best_line(rows, order, left_out, split(seed, 0), how);

  FeatureMap map = map_of(rows, {});
  const FramedSample part(rows, map, marked(order, some(kPart)), compared);
  if (!is_worth_all(part, line, compared, how)) {
    const SnqOptions nearest{.kernel = KernelKind::kKnn, .bandwidth = line.choice.bandwidth};
    return {std::move(line.map), Snq(line.sample.sample, nearest), std::move(line.choice)};
  }
  const FramedSample whole(rows, map, order, compared);
  SnqOptions everywhere = on_all_columns();
  BandwidthChoice choice =
      choose_bandwidth(*whole.sample, {.unit = whole.unit}, everywhere, split(seed, 2), how);
  everywhere.bandwidth = choice.bandwidth;
  return {std::move(map), Snq(whole.sample, everywhere), std::move(choice)};
}

}  // namespace tare
