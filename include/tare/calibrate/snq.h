// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/prediction.h"
#include "tare/math/kernel.h"

namespace TARE_PUBLIC tare {

class LocalSample;
class SnqIndex;
class TensorReader;
class TensorWriter;

/// What answers a query that no calibration row is near enough to.
enum class Fallback : std::uint8_t {
  kNearest,   // the window grows to the nearest min_support rows
  kMarginal,  // all rows, with equal weight: the reference code's choice
};

/// Which of a window's values answers a level.
enum class Ranks : std::uint8_t {
  kPaper,     // Algorithm 1: the smallest value whose cumulative weight is at least tau
  kExpected,  // the value whose expected level is tau: see Snq
};

/// "paper" or "expected". Throws kInvalidArgument with the known names.
Ranks parse_ranks(std::string_view name);
std::string_view ranks_name(Ranks ranks);

/// Throws kInvalidArgument, with the known names, where no engine is called so and it is not
/// "auto".
void check_index(std::string_view name);

/// Levels on the scale of normal scores: the answer to level tau is that of level Phi(g(z)), with z
/// = Phi^-1(tau) and g(z) = shift + stretch z + bend (z^3 - 3 z). Beyond kStraightFrom g goes on as
/// a straight line.
struct LevelMap {
  static constexpr double kStraightFrom = 2.5;
  static constexpr double kSteepest = 3.0 * kStraightFrom * kStraightFrom - 3.0;

  double shift = 0.0;
  double stretch = 1.0;
  double bend = 0.0;

  /// Whether g rises everywhere and is finite.
  bool is_valid() const noexcept;
  bool operator==(const LevelMap&) const = default;
};

struct SnqOptions {
  KernelKind kernel = KernelKind::kGaussian;
  double bandwidth =
      1.0;  // > 0, in units of the features; a whole number of rows for knn; may be infinite
  Fallback fallback = Fallback::kNearest;
  std::size_t min_support = 20;  // rows of the fallback window, at least 1
  // Windows of the k nearest rows also take rows whose squared distance exceeds the k-th one's by
  // at most this share: rows that are equally far but for rounding enter together.
  double tie_tolerance = 1e-9;
  // The engine that finds calibration rows near a query. The answer is the same; see Snq.
  // "auto": by what the others would cost on these rows.
  // "brute": all rows, one query at a time, in double precision: the yardstick.
  // "tree": boxes in boxes; few features, narrow windows.
  // "line": a sorted line with ranks; one feature, naive or knn windows, equal weights.
  // "dense": all rows, many queries at a time, by matrix products; gaussian and laplace.
  std::string index = "auto";
  Ranks ranks = Ranks::kPaper;
  LevelMap level_map = {};  // none with kPaper
};

/// SNQ, the paper's Algorithm 1: the conditional quantiles of u given z, from rows near z.
///
/// The estimate of level tau at z is the smallest u_i for which the weights k(|z - z_i| / h) of the
/// rows with u <= u_i add up to at least tau times all weights. Sample weights multiply the
/// kernel's. All levels come from one set of weights, so they cannot cross. A row is in reach when
/// its weight is above 1e-140 of the largest possible. Every index finds the same rows for kernels
/// with an end (naive, knn and the others) and gives the same answer, up to the rounding of sums of
/// weights that are no whole numbers. For gaussian and laplace kernels the tree leaves out rows
/// that together have less than 1e-6 of the weight.
///
/// That rule answers too narrowly where windows are small: the j-th of k draws lies on average at
/// level j / (k + 1), so a 90 % interval from 10 rows covers about 82 %. With Ranks::kExpected the
/// answer is the value at rank (n + 1) tau, interpolated between neighbouring values; n is the
/// effective number of rows (sum w)^2 / sum w^2, rounded. Beyond the outermost values it continues
/// them by an exponential tail. The answer is finite, and where all values of a window are equal it
/// is that value. Immutable and cheap to copy; predict may be
/// called from several threads at once.
class Snq {
 public:
  /// z: one row of features per calibration row; u: what is to be predicted; weight: empty, or not
  /// negative with at least one positive. Throws kShapeMismatch, kInvalidArgument (no rows, a value
  /// that is not finite, an option outside its range).
  Snq(MatrixView z, std::span<const double> u, std::span<const double> weight,
      const SnqOptions& options);
  Snq(std::shared_ptr<const LocalSample> sample, const SnqOptions& options);

  std::size_t dims() const;
  std::size_t rows() const;
  const SnqOptions& options() const noexcept { return options_; }
  /// The engine in use, by its name.
  std::string_view index() const;

  /// Levels in any order, repeated or not. Throws kShapeMismatch where z has another number of
  /// columns.
  Prediction predict(MatrixView z, std::span<const Level> levels, const Execution& how = {}) const;

  /// The same, but one that knows how far from its rows a query may lie: farther than 99 % of (at
  /// most 2,000 of) the calibration rows are from their own nearest other one, and
  /// Prediction::outside is 1. Of new rows like these about 1 % are outside.
  Snq with_support(const Execution& how = {}) const;
  /// That distance; infinite where with_support was not asked for it.
  double support_radius() const noexcept { return support_radius_; }

  void save(const TensorWriter& out) const;
  static Snq load(const TensorReader& in);

 private:
  std::shared_ptr<const LocalSample> sample_;  // shared: copies of a model need no second sample
  std::shared_ptr<const SnqIndex> index_;
  SnqOptions options_;
  double support_radius_ = std::numeric_limits<double>::infinity();
};

}  // namespace tare
