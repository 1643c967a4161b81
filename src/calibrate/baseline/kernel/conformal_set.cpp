// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/kernel/conformal_set.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/fail.h"
#include "calibrate/guarantee/ranks/guarantee_mass.h"
#include "math/bounded.h"

namespace tare {
namespace {

constexpr double kTailShare = 1e-9;
constexpr double kFarthestTarget = 1e100;   // in bandwidths; its square is finite
constexpr double kDensityRounding = 1e-12;  // a density that is short by this much counts as equal
constexpr double kOfGap = 1.0 / 32.0;       // tolerance of an end in a gap, as a share of the gap
constexpr double kOfPlace = 1e-9;           // least tolerance, as a share of the place
constexpr std::uint64_t kMostSetMass = std::uint64_t{1} << 62;

/// Falls with the distance, and is above 0 for all distances here.
double kernel_at(double distance) {
  const double square = distance * distance;
  const double tail = kTailShare / (1.0 + square);
  return square > 1400.0 ? tail : std::exp(-0.5 * square) + tail;
}

/// Value and slope at a distance, and the largest size of the curvature up to `width` beyond.
struct KernelTerms {
  double value = 0.0, slope = 0.0, bend = 0.0;

  KernelTerms& operator+=(const KernelTerms& other) {
    value += other.value;
    slope += other.slope;
    bend += other.bend;
    return *this;
  }
};

/// `from` the middle of a stretch, of which `nearest` is the least distance and `farthest` the
/// largest.
KernelTerms kernel_terms(double from, double nearest, double farthest) {
  const double normal = std::exp(-0.5 * std::min(from * from, 1400.0));
  const double tail = kTailShare / (1.0 + from * from);
  const double outside = kTailShare / (1.0 + nearest * nearest);
  const double inside = std::exp(-0.5 * std::min(nearest * nearest, 1400.0));
  return {kernel_at(from), -from * normal - 2.0 * from * tail / (1.0 + from * from),
          (farthest * farthest + 1.0) * inside + 6.0 * outside};
}

/// The targets in bandwidths, ascending, with what decides about a place beside them.
struct RankedTargets {
  std::vector<double> y;
  std::vector<double> at;
  std::vector<Mass> mass;
  std::vector<double> others;  // the density of the other targets there, but for a factor
};

RankedTargets rank_targets(std::span<const double> y, std::span<const double> weight,
                           const SetKernel& kernel) {
  std::vector<std::size_t> order(y.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return y[i]; });
  const bool equal = weight.empty() || std::ranges::min(weight) == std::ranges::max(weight);
  const MassScale scale = equal ? MassScale() : MassScale(weight);

  RankedTargets targets;
  for (const std::size_t i : order) {
    const double place = (y[i] - kernel.center) / kernel.bandwidth;
    targets.y.push_back(y[i]);
    targets.at.push_back(std::clamp(place, -kFarthestTarget, kFarthestTarget));
    targets.mass.push_back(equal ? 1 : scale.of(weight[i]));
  }
  targets.others.assign(y.size(), 0.0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = i + 1; j < y.size(); ++j) {
      const double near = kernel_at(targets.at[j] - targets.at[i]);
      targets.others[i] += near;
      targets.others[j] += near;
    }
  }
  return targets;
}

/// Finds one end of the sets of all ranks, from the outside to the middle. Stretches that cannot
/// move an end are passed over, the others halved until they are short.
class EndSearch {
 public:
  struct Step {
    Mass mass = 0;
    double end = 0.0;
  };
  enum class Side { kLower, kUpper };

  EndSearch(const RankedTargets& targets, Side side, double tolerance)
      : targets_(targets),
        side_(side),
        tolerance_(tolerance),
        near_(targets.at.size()),
        after_(targets.at.size() + 1, 0.0) {
    all_ = std::accumulate(targets.mass.begin(), targets.mass.end(), Mass{0});
    // Beyond twice the range every target is farther away than from any other target, so that
    // nothing there is as dense as any of them.
    const double range = targets.at.back() - targets.at.front();
    visit(targets.at.front() - range, targets.at.back() + range);
    if (reached_ < all_) add(all_, side == Side::kUpper ? targets.at.back() : targets.at.front());
  }

  const std::vector<Step>& steps() const { return steps_; }

 private:
  void add(Mass mass, double end) {
    steps_.push_back({mass, end});
    reached_ = mass;
  }

  void visit(double from, double to) {
    if (reached_ >= all_) return;
    const Mass most = mass_at_most(from, to);
    if (most <= reached_) return;
    const double middle = from + 0.5 * (to - from);
    if (to - from <= shortest(from, to) || !(from < middle && middle < to)) {
      const Mass closer = std::min(most, mass_by_slopes(from, to));
      if (closer > reached_) add(closer, side_ == Side::kUpper ? to : from);
    } else if (side_ == Side::kUpper) {
      visit(middle, to);
      visit(from, middle);
    } else {
      visit(from, middle);
      visit(middle, to);
    }
  }

  /// The largest mass that any place from `from` to `to` may have: each target's term is taken at
  /// the place that is nearest to the target.
  Mass mass_at_most(double from, double to) {
    const std::size_t count = targets_.at.size();
    for (std::size_t i = 0; i < count; ++i) {
      near_[i] = kernel_at(std::max({from - targets_.at[i], targets_.at[i] - to, 0.0}));
    }
    // Sums before and after: a difference from the sum of all would lose small terms.
    for (std::size_t i = count; i-- > 0;) after_[i] = after_[i + 1] + near_[i];
    double before = 0.0;
    Mass mass = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double most = before + after_[i + 1];
      if (most >= targets_.others[i] * (1.0 - kDensityRounding)) mass += targets_.mass[i];
      before += near_[i];
    }
    return mass;
  }

  /// The same from the densities in the middle, their slopes, and bounds of their curvature: close
  /// where the stretch is short.
  Mass mass_by_slopes(double from, double to) {
    const std::size_t count = targets_.at.size();
    const double half = 0.5 * (to - from);
    terms_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double distance = from + half - targets_.at[i];
      const double nearest = std::max({from - targets_.at[i], targets_.at[i] - to, 0.0});
      terms_[i] = kernel_terms(distance, nearest, nearest + 2.0 * half);
    }
    terms_after_.assign(count + 1, {});
    for (std::size_t i = count; i-- > 0;) {
      terms_after_[i] = terms_after_[i + 1];
      terms_after_[i] += terms_[i];
    }
    KernelTerms before;
    Mass mass = 0;
    for (std::size_t i = 0; i < count; ++i) {
      KernelTerms rest = before;
      rest += terms_after_[i + 1];
      const double most = rest.value + std::abs(rest.slope) * half + 0.5 * rest.bend * half * half;
      if (most >= targets_.others[i] * (1.0 - kDensityRounding)) mass += targets_.mass[i];
      before += terms_[i];
    }
    return mass;
  }

  double shortest(double from, double to) const {
    const auto next = std::ranges::lower_bound(targets_.at, from);
    double gap = next == targets_.at.end() ? kFarthestTarget : std::max(0.0, *next - to);
    if (next != targets_.at.begin()) gap = std::min(gap, from - *(next - 1));
    return std::max({tolerance_, kOfGap * gap, kOfPlace * std::max(std::abs(from), std::abs(to))});
  }

  const RankedTargets& targets_;
  Side side_;
  double tolerance_;
  std::vector<double> near_, after_;
  std::vector<KernelTerms> terms_, terms_after_;
  std::vector<Step> steps_;
  Mass all_ = 0, reached_ = 0;
};

/// The end at a mass: that of the first step which reaches it.
double end_at(const std::vector<EndSearch::Step>& steps, Mass mass) {
  return std::ranges::lower_bound(steps, mass, {}, &EndSearch::Step::mass)->end;
}

}  // namespace

ConformalSet::ConformalSet(std::span<const double> y, std::span<const double> weight,
                           const SetKernel& kernel) {
  assert(!y.empty() && y.size() <= kMostSetRows && kernel.bandwidth > 0.0);
  const RankedTargets targets = rank_targets(y, weight, kernel);
  next_ = std::ranges::max(targets.mass);
  total_ = std::accumulate(targets.mass.begin(), targets.mass.end(), Mass{0}) + next_;
  const auto place = [&](double at) { return bounded(kernel.center + kernel.bandwidth * at); };
  const auto densest = std::ranges::max_element(targets.others) - targets.others.begin();
  densest_ = targets.y[static_cast<std::size_t>(densest)];
  if (targets.at.front() == targets.at.back()) {
    mass_ = {static_cast<std::int64_t>(total_ - next_)};
    lower_ = upper_ = {densest_};
    return;
  }

  const EndSearch low(targets, EndSearch::Side::kLower, kernel.tolerance);
  const EndSearch high(targets, EndSearch::Side::kUpper, kernel.tolerance);
  std::vector<Mass> masses;
  for (const EndSearch* search : {&low, &high}) {
    for (const auto& step : search->steps()) masses.push_back(step.mass);
  }
  std::ranges::sort(masses);
  masses.erase(std::unique(masses.begin(), masses.end()), masses.end());
  for (const Mass mass : masses) {
    mass_.push_back(static_cast<std::int64_t>(mass));
    // The densest target is in every set, whatever the rounding.
    lower_.push_back(std::min(place(end_at(low.steps(), mass)), densest_));
    upper_.push_back(std::max(place(end_at(high.steps(), mass)), densest_));
  }
}

double ConformalSet::answer(Level level) const {
  if (level.value() == 0.5) return densest_;
  const std::uint64_t outside = total_ - level.central_rank(total_);
  const auto wanted = static_cast<std::int64_t>(outside < next_ ? 1 : outside - next_ + 1);
  const auto step = std::ranges::lower_bound(mass_, wanted);
  const auto k = std::min(static_cast<std::size_t>(step - mass_.begin()), mass_.size() - 1);
  return level.value() < 0.5 ? lower_[k] : upper_[k];
}

void ConformalSet::save(const TensorWriter& out) const {
  out.value("total", total_);
  out.value("next", next_);
  out.value("densest", densest_);
  out.tensor("mass", mass_);
  out.tensor("lower", lower_);
  out.tensor("upper", upper_);
}

ConformalSet ConformalSet::load(const TensorReader& in) {
  ConformalSet set;
  set.total_ = in.count("total", kMostSetMass);
  set.next_ = in.count("next", set.total_);
  set.densest_ = in.get<double>("densest");
  const Shape shape = {in.length("mass")};
  set.mass_ = in.values<std::int64_t>("mass", shape, Must::kRise);
  set.lower_ = in.values<double>("lower", shape, Must::kAscend);
  set.upper_ = in.values<double>("upper", shape, Must::kBeFinite);
  if (set.mass_.empty() || set.mass_.front() < 1 || set.next_ < 1 ||
      static_cast<std::uint64_t>(set.mass_.back()) >= set.total_ ||
      !std::ranges::is_sorted(set.upper_, std::greater<>()) || !std::isfinite(set.densest_) ||
      set.lower_.back() > set.densest_ || set.densest_ > set.upper_.back()) {
    fail(ErrorCode::kCorruptFile, "the ends of a prediction set in the model file do not nest");
  }
  return set;
}

}  // namespace tare
