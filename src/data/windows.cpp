// SPDX-License-Identifier: BSD-3-Clause
#include "data/windows.h"

#include <algorithm>
#include <utility>

namespace tare {
namespace {

template <class T>
void drop_front(std::vector<T>& values, std::size_t count) {
  values.erase(values.begin(),
               values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())));
}

Matrix copy_rows(MatrixView from, std::size_t first, std::size_t count) {
  Matrix out(count, from.cols());
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(from.row(first + i).begin(), from.cols(), out.row(i).begin());
  }
  return out;
}

}  // namespace

void Windows::apply(Encoded& encoded) {
  if (window_ == 1) return;
  const std::size_t width = encoded.x.cols();
  // The remembered rows and the new ones, as one stretch of the series.
  Matrix series(past_.rows() + encoded.x.rows(), width);
  std::copy(past_.values().begin(), past_.values().end(), series.values().begin());
  std::copy(encoded.x.values().begin(), encoded.x.values().end(),
            series.values().begin() + static_cast<std::ptrdiff_t>(past_.values().size()));

  const std::size_t missing = std::min(window_ - 1 - past_.rows(), encoded.x.rows());
  const std::size_t full = encoded.x.rows() - missing;
  Matrix windows(full, width * window_);
  for (std::size_t i = 0; i < full; ++i) {
    const std::size_t first = past_.rows() + missing + i + 1 - window_;
    const auto from = series.values().subspan(first * width, width * window_);
    std::copy(from.begin(), from.end(), windows.row(i).begin());
  }
  const std::size_t kept = std::min(window_ - 1, series.rows());
  past_ = copy_rows(series, series.rows() - kept, kept);

  encoded.x = std::move(windows);
  if (encoded.given.cols() > 0) encoded.given = copy_rows(encoded.given, missing, full);
  if (!encoded.y.empty()) drop_front(encoded.y, missing);
  if (!encoded.weight.empty()) drop_front(encoded.weight, missing);
  drop_front(encoded.rows, missing);
  left_out_ += missing;
}

std::vector<std::size_t> at_every_step(const std::vector<std::size_t>& columns, std::size_t width,
                                       std::size_t window) {
  std::vector<std::size_t> out;
  for (std::size_t step = 0; step < window; ++step) {
    for (const std::size_t column : columns) out.push_back(step * width + column);
  }
  return out;
}

std::vector<std::size_t> at_last_step(const std::vector<std::size_t>& columns, std::size_t width,
                                      std::size_t window) {
  std::vector<std::size_t> out;
  for (const std::size_t column : columns) out.push_back((window - 1) * width + column);
  return out;
}

}  // namespace tare
