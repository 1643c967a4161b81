// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/structure.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "base/fail.h"
#include "online/snq/discounted_regression.h"
#include "online/snq/lags.h"

namespace tare {
namespace {

/// Regressors are cut at this many units, so that one wild value does not move the fit.
constexpr double kMostUnits = 6.0;
/// More columns than this slow each row down; those with the largest correlation stay.
constexpr std::size_t kMostColumns = 64;
/// Rows from which units and correlations are computed.
constexpr std::size_t kRowsForUnits = 4'000;

double in_units(double value, double center, double unit) {
  return std::clamp((value - center) / unit, -kMostUnits, kMostUnits);
}

struct Moments {
  double mean = 0.0;
  double sd = 0.0;
};

Moments moments_of(std::span<const double> values) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) m.mean += v / n;
  double squares = 0.0;
  for (const double v : values) squares += ((v - m.mean) / n) * (v - m.mean);
  m.sd = std::sqrt(squares);
  return m;
}

/// |correlation|, 0 where one of them is constant.
double correlation(std::span<const double> a, std::span<const double> b) {
  const Moments ma = moments_of(a);
  const Moments mb = moments_of(b);
  if (!(ma.sd > 0.0) || !(mb.sd > 0.0)) return 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += ((a[i] - ma.mean) / ma.sd) * ((b[i] - mb.mean) / mb.sd);
  }
  return std::abs(sum) / static_cast<double>(a.size());
}

/// The standard deviation of normal errors, from their median size: wild ones do not count. Where
/// half of the errors are zero, the mean size; 1 where all are, or there are none.
double usual_size(std::span<const double> errors) {
  if (errors.empty()) return 1.0;
  std::vector<double> sizes(errors.begin(), errors.end());
  double mean = 0.0;
  for (double& e : sizes) {
    e = std::abs(e);
    mean += e / static_cast<double>(sizes.size());
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  if (*middle > 0.0) return 1.4826 * *middle;
  return mean > 0.0 && std::isfinite(mean) ? mean : 1.0;
}

std::vector<std::size_t> strongest_columns(const std::vector<std::vector<double>>& values,
                                           std::span<const double> errors, std::size_t most) {
  std::vector<std::size_t> columns;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const Moments m = moments_of(values[j]);
    if (std::isfinite(m.sd) && m.sd > 1e-12 * std::abs(m.mean)) columns.push_back(j);
  }
  if (columns.size() <= most) return columns;
  std::vector<double> strength(values.size());
  for (const std::size_t j : columns) strength[j] = correlation(values[j], errors);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](std::size_t a, std::size_t b) { return strength[a] > strength[b]; });
  columns.resize(most);
  std::sort(columns.begin(), columns.end());
  return columns;
}

/// Errors from `first` on, in units, less what the columns explain: lags are for the rest. Without
/// gaps: an unknown error counts as none.
std::vector<double> unexplained(const History& history, std::uint64_t first,
                                const Structure& columns) {
  constexpr double kColumnRidge = 3.0;
  DiscountedRegression regression(columns.regressors(), 1, 1.0, kColumnRidge);
  std::vector<double> x(columns.regressors());
  const auto fill = [&](std::uint64_t t) {
    columns.fill(history, t, history.prediction(t), history.row(t), x);
  };
  for (std::uint64_t t = first; t < history.end(); ++t) {
    if (!history.knows(t)) continue;
    fill(t);
    const double error = std::clamp(history.error(t) / columns.error_unit, -kMostUnits, kMostUnits);
    regression.add(x, std::span(&error, 1), 1.0);
  }
  regression.solve();
  std::vector<double> series;
  for (std::uint64_t t = first; t < history.end(); ++t) {
    series.push_back(0.0);
    if (!history.knows(t)) continue;
    fill(t);
    series.back() = history.error(t) / columns.error_unit - regression.predict(x, 0);
  }
  return series;
}

}  // namespace

std::size_t Structure::regressors() const noexcept {
  return 2 + columns.size() + lags.size() + (period > 0 ? 2 * kWaves : 0);
}

void Structure::fill(const History& history, std::uint64_t time, double prediction,
                     std::span<const double> row, std::span<double> x) const {
  std::size_t next = 0;
  x[next++] = 1.0;
  x[next++] = in_units(prediction, center[0], unit[0]);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    x[next++] = in_units(row[columns[j]], center[j + 1], unit[j + 1]);
  }
  for (const std::size_t lag : lags) {
    x[next++] = lag <= time ? in_units(history.error(time - lag), 0.0, error_unit) : 0.0;
  }
  if (period > 0) {
    const double turn =
        2.0 * std::numbers::pi * static_cast<double>(time % period) / static_cast<double>(period);
    for (std::size_t k = 1; k <= kWaves; ++k) {
      x[next++] = std::cos(static_cast<double>(k) * turn);
      x[next++] = std::sin(static_cast<double>(k) * turn);
    }
  }
}

Structure choose_structure(const History& history, const StructureOptions& options) {
  Structure s;
  const std::uint64_t end = history.end();
  const std::uint64_t first =
      std::max(history.begin(), end > kRowsForUnits ? end - kRowsForUnits : std::uint64_t{0});
  std::vector<double> errors;
  std::vector<double> predictions;
  std::vector<std::vector<double>> values(history.columns());
  for (std::uint64_t t = first; t < end; ++t) {
    if (!history.knows(t)) continue;
    errors.push_back(history.error(t));
    predictions.push_back(history.prediction(t));
    const std::span<const double> row = history.row(t);
    for (std::size_t j = 0; j < row.size(); ++j) values[j].push_back(row[j]);
  }
  // A tenth of the rows: with more regressors the fit would follow noise.
  const std::size_t most = std::min(kMostColumns, errors.size() / 10);
  s.columns = strongest_columns(values, errors, most);
  const auto add_unit = [&](std::span<const double> v) {
    const Moments m = moments_of(v);
    s.center.push_back(std::isfinite(m.mean) ? m.mean : 0.0);
    s.unit.push_back(std::isfinite(m.sd) && m.sd > 0.0 ? m.sd : 1.0);
  };
  add_unit(predictions);
  for (const std::size_t j : s.columns) add_unit(values[j]);
  s.error_unit = usual_size(errors);

  std::vector<double> series;               // without gaps: an unknown error counts as none
  constexpr double kMostErrorUnits = 1e30;  // beside the smallest units a ratio may be infinite
  for (std::uint64_t t = first; t < end; ++t) {
    series.push_back(
        std::clamp(history.error(t) / s.error_unit, -kMostErrorUnits, kMostErrorUnits));
  }
  const Season season =
      options.period ? Season{*options.period, *options.period} : find_season(series);
  if (!options.lags) series = unexplained(history, first, s);
  s.period = season.period;
  s.lags = options.lags ? *options.lags : choose_lags(series, season, options.delay);
  return s;
}

void Structure::save(const TensorWriter& out) const {
  out.value("lags", lags);
  out.value("period", period);
  out.value("columns", columns);
  out.tensor("center", center);
  out.tensor("unit", unit);
  out.value("error_unit", error_unit);
}

Structure Structure::load(const TensorReader& in, std::size_t columns, std::size_t delay) {
  constexpr std::size_t kMostLag = std::size_t{1} << 32;
  Structure s;
  s.lags = in.counts("lags", kMostLag);
  s.period = in.count("period", kMostLag);
  s.columns = in.counts("columns", columns);
  const std::size_t units = s.columns.size() + 1;
  s.center = in.values<double>("center", {units}, Must::kBeFinite);
  s.unit = in.values<double>("unit", {units}, Must::kBePositive);
  s.error_unit = in.get<double>("error_unit");
  const auto rises = [](const std::vector<std::size_t>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
  };
  const bool columns_exist = s.columns.size() <= kMostColumns && rises(s.columns) &&
                             (s.columns.empty() || s.columns.back() < columns);
  const bool lags_exist = s.lags.size() <= kMostGivenLags && rises(s.lags) &&
                          (s.lags.empty() || s.lags.front() > delay);
  if (!columns_exist || !lags_exist || !(s.error_unit > 0.0)) {
    fail(ErrorCode::kCorruptFile, "the state has regressors that cannot be");
  }
  return s;
}

}  // namespace tare
