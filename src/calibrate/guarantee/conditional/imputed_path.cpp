// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/conditional/imputed_path.h"

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

// Where t is within this of tau it is tau: duals are sums of rounded numbers. If (n + 1) tau is
// whole in some group of rows, a dual reaches its end exactly at tau, and that pivot is not made.
constexpr double kNearTau = 1e-9;
constexpr double kStill = 1e-12;  // a dual or a residual that does not move
constexpr std::size_t kMostPivots = 10'000;

}  // namespace

ImputedPath::ImputedPath(MatrixView phi, std::span<const double> score, double tau)
    : phi_(phi), score_(score), tau_(tau), start_(fit_quantile(phi, score, tau)) {
  if (!start_.optimal) return;
  order_.reserve(phi.rows());
  for (std::uint32_t i = 0; i < phi.rows(); ++i) {
    const auto row = phi.row(i);
    const double residual = score[i] - dot(row, start_.coefficient);
    const double length = std::sqrt(dot(row, row));
    const double key =
        length > 0.0 ? std::abs(residual) / length : std::numeric_limits<double>::infinity();
    order_.push_back({key, residual, i});
  }
  for (const std::uint32_t i : start_.basis) order_[i] = {0.0, 0.0, i};
  std::ranges::sort(order_, [](const Near& a, const Near& b) {
    return a.key != b.key ? a.key < b.key : a.row < b.row;
  });
}

ImputedPath::Meeting ImputedPath::first_meeting(const QuantileVertex& vertex,
                                                std::span<const double> direction,
                                                std::span<const double> moved,
                                                Effort& effort) const {
  // Bounds that rounding cannot make too tight.
  const double speed = std::sqrt(dot(direction, direction)) * (1.0 + 1e-9);
  const double distance = std::sqrt(dot(moved, moved)) * (1.0 + 1e-9);
  Meeting first;
  for (const Near& near : order_) {
    if (first.found && near.key - distance > first.step * speed) break;
    ++effort.rows;
    const auto row = phi_.row(near.row);
    const double moves = dot(row, direction);
    if (!(std::abs(moves) > kStill)) continue;
    const double step = (near.residual - dot(row, moved)) / moves;
    if (!(step > 0.0 && step < first.step)) continue;
    // Basis rows have a residual of zero, but for rounding.
    if (std::ranges::find(vertex.basis, near.row) != vertex.basis.end()) continue;
    first = {step, near.row, true};
  }
  return first;
}

std::optional<double> ImputedPath::threshold(std::span<const double> phi_new,
                                             Effort* effort) const {
  Effort own;
  Effort& spent = effort != nullptr ? *effort : own;
  if (!start_.optimal) return std::nullopt;
  const std::size_t width = phi_.cols();
  thread_local QuantileVertex vertex;
  thread_local std::vector<double> share, direction, moved;
  vertex = start_;
  share.resize(width);  // of the new row's features in those of the basis rows
  for (std::size_t k = 0; k < width; ++k) share[k] = dot(phi_new, vertex.edge.view().row(k));
  direction.resize(width);
  moved.assign(width, 0.0);
  double t = 0.0;
  for (std::size_t pivot = 0; pivot < kMostPivots; ++pivot) {
    // The dual of basis row k is dual[k] - (t' - t) share[k].
    double until = tau_ - t;
    std::size_t leaving = width;
    for (std::size_t k = 0; k < width; ++k) {
      if (!(std::abs(share[k]) > kStill)) continue;
      const double end = share[k] > 0.0 ? tau_ - 1.0 : tau_;
      const double reached = std::max(0.0, (vertex.dual[k] - end) / share[k]);
      if (!(reached < until)) continue;
      until = reached;
      leaving = k;
    }
    if (leaving == width || t + until >= tau_ - kNearTau) {
      double value = 0.0;
      for (std::size_t k = 0; k < width; ++k) value += share[k] * score_[vertex.basis[k]];
      return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
    t += until;
    for (std::size_t k = 0; k < width; ++k) vertex.dual[k] -= until * share[k];
    // The leaving row falls below the fit where its dual is tau - 1, and rises above it at tau.
    const double sign = share[leaving] > 0.0 ? 1.0 : -1.0;
    for (std::size_t j = 0; j < width; ++j) direction[j] = sign * vertex.edge(leaving, j);
    const Meeting next = first_meeting(vertex, direction, moved, spent);
    if (!next.found) return std::nullopt;
    ++spent.pivots;
    const auto row = phi_.row(next.row);
    // It was above the fit where the fit rises to it.
    vertex.dual[leaving] = dot(row, direction) > 0.0 ? tau_ : tau_ - 1.0;
    for (std::size_t j = 0; j < width; ++j) moved[j] += next.step * direction[j];
    vertex.replace(leaving, next.row, row);
    for (std::size_t k = 0; k < width; ++k) share[k] = dot(phi_new, vertex.edge.view().row(k));
  }
  return std::nullopt;
}

}  // namespace tare
