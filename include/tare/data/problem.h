// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"

namespace TARE_PUBLIC tare {

/// The shape of a conditional distribution before location and scale are applied. All have mean 0
/// except kUniform, which is U[0, 1] as in the paper's examples.
enum class LawShape : std::uint8_t {
  kNormal,   // N(0, 1)
  kUniform,  // U[0, 1]
  kSkewed,   // Exp(1) - 1
  kHeavy,    // Student t with 3 degrees of freedom
  kBimodal,  // half N(-1, 0.3^2), half N(1, 0.3^2)
};

/// The conditional distribution of Y at one x: 0 with probability at_zero, else location + scale *
/// shape. It is exact: no table, no simulation.
struct Law {
  LawShape shape = LawShape::kNormal;
  double location = 0.0;
  double scale = 1.0;    // >= 0; 0 is a point mass at location
  double at_zero = 0.0;  // in [0, 1): for example days without sales or rain

  /// P(Y <= y), and P(Y < y), which is less if the distribution has a jump at y.
  double cdf(double y) const;
  double cdf_below(double y) const;
  /// The smallest y with cdf(y) >= tau, to rounding. tau 0 and 1 give the ends of the shape's
  /// support, perhaps infinite; NaN outside [0, 1].
  double quantile(double tau) const;
  double mean() const;
  double draw(Rng& rng) const;
};

/// A known-law problem: a regression problem whose conditional distribution is known, so that
/// individual calibration can be measured.
struct Problem {
  std::string name;
  std::string summary;
  std::size_t dims = 1;
  std::function<void(Rng&, std::span<double> x)> draw_x;
  std::function<Law(std::span<const double> x)> law;
};

/// Rows of a problem. Row i depends only on the seed and i, so a longer sample begins with a
/// shorter one.
struct Sample {
  Matrix x;
  std::vector<double> y;
};
Sample draw(const Problem& problem, std::size_t rows, Seed seed);

/// The built-in problems: `sine` (the paper's Figure 1), `uniform_wedge` (Y|x ~ U[0,x]),
/// `scaled_uniform` (Y = uX), `flat` (no dependence), the known-law families of all spreads and
/// shapes, and two with a mass at zero: `zeros_*` (0, or an exponential amount) and `spike_*` (a
/// normal distribution with a jump inside).
std::span<const Problem> problems();
/// Finds a problem by name. Throws kNotFound with the known names.
const Problem& find_problem(std::string_view name);

/// The function g by which the scale of a known-law problem depends on a feature in [0, 1]. All lie
/// between -1 and 1.
enum class Spread : std::uint8_t {
  kSmooth,   // g(x) = cos(pi x)
  kKinked,   // g(x) = 2 |2 x - 1| - 1, Lipschitz with a kink at 1/2
  kStepped,  // g(x) = 1 below 1/2 and -1 from there on: a jump, which no Lipschitz bound covers
};

/// A heteroscedastic problem with `dims` features. The distribution depends on the first
/// `relevant`. With r = `relevant`:
///   x         uniform on [0, 1]^dims
///   location  2 / sqrt(r) * (sin(2 pi x_1) + ... + sin(2 pi x_r))
///   scale     0.5 * exp((g(x_1) + ... + g(x_r)) / sqrt(r))
/// so the scale lies between 0.5 exp(-sqrt(r)) and 0.5 exp(sqrt(r)): a factor of 7.4 for r = 1,
/// more for larger r. kInvalidArgument unless 1 <= relevant <= dims.
Problem known_law_problem(LawShape shape, std::size_t dims, std::size_t relevant,
                          Spread spread = Spread::kSmooth);

}  // namespace tare
