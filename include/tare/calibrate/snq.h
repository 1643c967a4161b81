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

/// The rows to use if no calibration row is within the bandwidth of a query.
enum class Fallback : std::uint8_t {
  kNearest,   // the window grows to the nearest min_support rows
  kMarginal,  // all rows, with equal weight, as in the paper's code
};

/// Which rank of a window gives the quantile of a level.
enum class Ranks : std::uint8_t {
  kPaper,     // Algorithm 1: the smallest value whose cumulative weight is at least tau
  kExpected,  // the value whose expected level is tau: see Snq
};

/// "paper" or "expected". Throws kInvalidArgument with the known names.
Ranks parse_ranks(std::string_view name);
std::string_view ranks_name(Ranks ranks);

/// Throws kInvalidArgument with the known names unless the name is "auto" or that of an engine.
void check_index(std::string_view name);

/// Levels on the scale of normal scores: the answer to level tau is that of level Phi(g(z)), with z
/// = Phi^-1(tau) and g(z) = shift + stretch z + bend (z^3 - 3 z). Beyond kStraightFrom g is linear.
struct LevelMap {
  static constexpr double kStraightFrom = 2.5;
  static constexpr double kSteepest = 3.0 * kStraightFrom * kStraightFrom - 3.0;

  double shift = 0.0;
  double stretch = 1.0;
  double bend = 0.0;

  /// Whether g is increasing everywhere and finite.
  bool is_valid() const noexcept;
  bool operator==(const LevelMap&) const = default;
};

struct SnqOptions {
  KernelKind kernel = KernelKind::kGaussian;
  double bandwidth =
      1.0;  // > 0, in units of the features; a whole number of rows for knn; may be infinite
  Fallback fallback = Fallback::kNearest;
  std::size_t min_support = 20;  // rows of the fallback window, at least 1
  // Windows of the k nearest rows also include rows whose squared distance exceeds the k-th by at
  // most this share, so that rows at equal distance up to rounding enter together.
  double tie_tolerance = 1e-9;
  // The engine that finds calibration rows near a query. All engines give the same answer; see Snq.
  // "auto": the engine with the lowest estimated cost on these rows.
  // "brute": all rows, one query at a time, in double precision: the reference.
  // "tree": a k-d tree; few features, narrow windows.
  // "line": a sorted line with ranks; one feature, naive or knn windows, equal weights.
  // "dense": all rows, many queries at a time, by matrix products; gaussian and laplace.
  std::string index = "auto";
  Ranks ranks = Ranks::kPaper;
  LevelMap level_map = {};  // none with kPaper
};

/// SNQ, the paper's Algorithm 1: the conditional quantiles of u given z, from rows near z.
///
/// The estimate of level tau at z is the smallest u_i for which the weights k(|z - z_i| / h) of the
/// rows with u <= u_i sum to at least tau times the sum of all weights. Row weights multiply the
/// weights of the kernel. All levels come from one set of weights, so they cannot cross. A row is
/// within the bandwidth if its weight is above 1e-140 of the largest possible. For kernels with
/// bounded support, every engine finds the same rows and gives the same answer, up to rounding in
/// sums of weights that are not whole numbers. For gaussian and laplace kernels the tree leaves out
/// rows that together have less than 1e-6 of the weight.
///
/// This rule gives intervals that are too narrow for small windows: the j-th of k draws lies on
/// average at level j / (k + 1), so a 90 % interval from 10 rows covers about 82 %. With
/// Ranks::kExpected the answer is the value at rank (n + 1) tau, interpolated between neighbouring
/// values; n is the effective number of rows (sum w)^2 / sum w^2, rounded. Beyond the outermost
/// values it extrapolates by an exponential tail. The answer is finite. If all values of a window
/// are equal, it is that value. Immutable and cheap to copy; predict may be called from several
/// threads at once.
class Snq {
 public:
  /// z: one row of features per calibration row; u: the targets of SNQ (residuals); weight: empty,
  /// or not negative with at least one positive. Throws kShapeMismatch, kInvalidArgument (no rows,
  /// a value that is not finite, an option outside its range).
  Snq(MatrixView z, std::span<const double> u, std::span<const double> weight,
      const SnqOptions& options);
  Snq(std::shared_ptr<const LocalSample> sample, const SnqOptions& options);

  std::size_t dims() const;
  std::size_t rows() const;
  const SnqOptions& options() const noexcept { return options_; }
  /// The name of the engine in use.
  std::string_view index() const;

  /// Levels in any order, repeated or not. Throws kShapeMismatch if z has a different number of
  /// columns.
  Prediction predict(MatrixView z, std::span<const Level> levels, const Execution& how = {}) const;

  /// A copy that also fills Prediction::outside. It is 1 if a query is farther from the nearest
  /// calibration row than 99 % of (at most 2,000 of) the calibration rows are from theirs. About 1
  /// % of new rows from the same distribution are outside.
  Snq with_support(const Execution& how = {}) const;
  /// That distance; infinite without with_support.
  double support_radius() const noexcept { return support_radius_; }

  void save(const TensorWriter& out) const;
  static Snq load(const TensorReader& in);

 private:
  std::shared_ptr<const LocalSample> sample_;  // shared between copies of a model
  std::shared_ptr<const SnqIndex> index_;
  SnqOptions options_;
  double support_radius_ = std::numeric_limits<double>::infinity();
};

}  // namespace tare
