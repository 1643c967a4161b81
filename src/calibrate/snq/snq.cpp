// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/snq.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "calibrate/answers/level_order.h"
#include "calibrate/snq/level_map.h"
#include "calibrate/snq/snq_index.h"
#include "calibrate/snq/window/local_sample.h"
#include "calibrate/snq/window/support_radius.h"
#include "io/tensor_store.h"

namespace tare {
namespace {

/// Engines number rows and queries by 32 bits.
void check_count(std::string_view what, std::size_t rows) {
  constexpr std::size_t kMostCount = std::numeric_limits<std::uint32_t>::max() - 1;
  if (rows <= kMostCount) return;
  fail(ErrorCode::kInvalidArgument, "SNQ: {} {} are too many: at most {} are possible at once",
       rows, what, kMostCount);
}

void check_options(const SnqOptions& options) {
  // Its square must be a number, too.
  constexpr double kNarrowest = 1e-100;
  constexpr double kWidest = 1e100;
  if (!(options.bandwidth >= kNarrowest &&
        (options.bandwidth <= kWidest || std::isinf(options.bandwidth)))) {
    fail_option("bandwidth", fmt::to_string(options.bandwidth),
                fmt::format("must be positive, from {} to {} or infinite", kNarrowest, kWidest));
  }
  constexpr double kMostNeighbours = 0x1.0p53;
  if (options.kernel == KernelKind::kKnn && !std::isinf(options.bandwidth) &&
      (options.bandwidth != std::floor(options.bandwidth) || options.bandwidth > kMostNeighbours)) {
    fail_option("bandwidth", fmt::to_string(options.bandwidth),
                "of the knn kernel is a number of rows and must be a whole number");
  }
  if (!(options.tie_tolerance >= 0.0 && options.tie_tolerance <= 1.0)) {
    fail(ErrorCode::kInvalidArgument, "the tolerance of ties must lie between 0 and 1, got {}",
         options.tie_tolerance);
  }
  if (!options.level_map.is_valid()) {
    fail(ErrorCode::kInvalidArgument,
         "a map of levels must be finite and rise, got shift {}, stretch {} and bend {}",
         options.level_map.shift, options.level_map.stretch, options.level_map.bend);
  }
  if (options.level_map != LevelMap{} && options.ranks == Ranks::kPaper) {
    fail(ErrorCode::kInvalidArgument, "ranks=paper does not support a map of levels");
  }
  if (options.min_support < 1) {
    fail(ErrorCode::kInvalidArgument, "min_support must be at least 1");
  }
}

std::shared_ptr<const LocalSample> checked_sample(MatrixView z, std::span<const double> u,
                                                  std::span<const double> weight) {
  if (z.rows() != u.size() || (!weight.empty() && weight.size() != u.size())) {
    fail(ErrorCode::kShapeMismatch, "SNQ: {} rows of features, {} residuals, {} weights", z.rows(),
         u.size(), weight.size());
  }
  check_count("calibration rows", u.size());
  const auto finite = [](std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  for (std::size_t i = 0; i < z.rows(); ++i) {
    if (!finite(z.row(i)) || !std::isfinite(u[i])) {
      fail(ErrorCode::kInvalidArgument, "SNQ: row {} has a value that is not finite", i);
    }
    if (!weight.empty() && !(weight[i] >= 0.0 && std::isfinite(weight[i]))) {
      fail(ErrorCode::kInvalidArgument, "SNQ: row {} has the weight {}", i, weight[i]);
    }
  }
  auto sample = std::make_shared<const LocalSample>(z, u, weight);
  if (sample->rows() == 0) {
    fail(ErrorCode::kInvalidArgument, "SNQ: no calibration row with a positive weight");
  }
  return sample;
}

/// A query with a value that is no number or infinite is as far from every row as can be. A large
/// value says the same, and can be put in order among others. Copies only where there is one.
std::optional<Matrix> without_infinities(MatrixView z) {
  constexpr double kFar = 1e200;  // its square is infinite
  std::optional<Matrix> copy;
  for (std::size_t i = 0; i < z.rows(); ++i) {
    for (std::size_t j = 0; j < z.cols(); ++j) {
      if (std::isfinite(z(i, j))) continue;
      if (!copy) {
        copy.emplace(z.rows(), z.cols());
        for (std::size_t k = 0; k < z.rows(); ++k)
          std::ranges::copy(z.row(k), copy->row(k).begin());
      }
      (*copy)(i, j) = kFar;
    }
  }
  return copy;
}

SnqOptions load_options(const TensorReader& in) {
  SnqOptions options;
  options.kernel = parse_kernel(in.get<std::string>("kernel"));
  const Json& bandwidth = in.value("bandwidth");
  options.bandwidth = bandwidth == Json("infinite") ? std::numeric_limits<double>::infinity()
                                                    : in.get<double>("bandwidth");
  options.fallback =
      in.get<std::string>("fallback") == "marginal" ? Fallback::kMarginal : Fallback::kNearest;
  options.min_support = in.count("min_support", std::numeric_limits<std::size_t>::max());
  if (in.has_value("index")) options.index = in.get<std::string>("index");
  if (in.has_value("ranks")) options.ranks = parse_ranks(in.get<std::string>("ranks"));
  // Earlier versions knew only distances that are equal to the last bit.
  options.tie_tolerance = in.has_value("tie_tolerance") ? in.get<double>("tie_tolerance") : 0.0;
  if (in.has_value("stretch")) options.level_map.stretch = in.get<double>("stretch");
  if (in.has_value("shift")) options.level_map.shift = in.get<double>("shift");
  if (in.has_value("bend")) options.level_map.bend = in.get<double>("bend");
  return options;
}

/// A file of an earlier version has none: nothing is outside.
double load_support_radius(const TensorReader& in) {
  if (!in.has_value("support_radius")) return std::numeric_limits<double>::infinity();
  const double radius = in.get<double>("support_radius");
  if (!(radius >= 0.0)) {
    fail(ErrorCode::kCorruptFile, "the model file's support radius is {}", radius);
  }
  return radius;
}

std::shared_ptr<const LocalSample> load_sample(const TensorReader& in) {
  constexpr std::size_t kMany = std::numeric_limits<std::uint32_t>::max();
  const std::size_t rows = in.count("rows", kMany);
  const std::size_t dims = in.count("dims", kMany);
  if (rows == 0) fail(ErrorCode::kCorruptFile, "the model file has no calibration rows");
  const auto columns = in.tensor<double>("columns", {dims, rows}, Must::kBeFinite);
  const auto residuals = in.tensor<double>("residuals", {rows}, Must::kAscend);
  const auto weights = in.has_tensor("weights")
                           ? in.tensor<double>("weights", {rows}, Must::kBePositive)
                           : Buffer<double>();
  return std::make_shared<const LocalSample>(BruteForce(columns, rows, dims), residuals, weights);
}

}  // namespace

Snq::Snq(MatrixView z, std::span<const double> u, std::span<const double> weight,
         const SnqOptions& options)
    : Snq(checked_sample(z, u, weight), options) {}

Snq::Snq(std::shared_ptr<const LocalSample> sample, const SnqOptions& options)
    : sample_(std::move(sample)), options_(options) {
  check_options(options_);
  index_ = std::make_shared<const SnqIndex>(sample_, options_);
}

std::string_view Snq::index() const { return index_->name(); }
std::size_t Snq::dims() const { return sample_->dims(); }
std::size_t Snq::rows() const { return sample_->rows(); }

Prediction Snq::predict(MatrixView z, std::span<const Level> levels, const Execution& how) const {
  if (z.cols() != dims()) {
    fail(ErrorCode::kShapeMismatch, "SNQ: a query has {} features, the calibration rows have {}",
         z.cols(), dims());
  }
  check_count("queries", z.rows());
  const std::optional<Matrix> finite = without_infinities(z);
  const MatrixView queries = finite ? finite->view() : z;
  return in_level_order(levels, [&](std::span<const Level> ascending) {
    Prediction result;
    result.quantiles = Matrix(z.rows(), ascending.size());
    result.window_n.resize(z.rows());
    result.nearest.resize(how.diagnostics ? z.rows() : 0);
    result.fallback.resize(z.rows());
    const bool plain = options_.level_map == LevelMap{};
    const auto mapped = plain ? std::vector<Level>() : mapped_levels(ascending, options_.level_map);
    index_->predict(queries, plain ? ascending : mapped, options_, how, result);
    for (const double distance : result.nearest) {
      result.outside.push_back(distance > support_radius_ ? 1 : 0);
    }
    return result;
  });
}

Snq Snq::with_support(const Execution& how) const {
  Snq copy = *this;
  copy.support_radius_ = tare::support_radius(sample_->features(), how);
  return copy;
}

void Snq::save(const TensorWriter& out) const {
  const LocalSample& sample = *sample_;
  out.value("kernel", kernel_name(options_.kernel));
  out.value("bandwidth",
            std::isinf(options_.bandwidth) ? Json("infinite") : Json(options_.bandwidth));
  out.value("fallback", options_.fallback == Fallback::kNearest ? "nearest" : "marginal");
  out.value("min_support", options_.min_support);
  out.value("index", std::string(index_->name()));
  // A file that does not say it, as earlier versions wrote them, means the paper's rule.
  if (options_.ranks != Ranks::kPaper) out.value("ranks", ranks_name(options_.ranks));
  if (std::isfinite(support_radius_)) out.value("support_radius", support_radius_);
  if (options_.tie_tolerance > 0.0) out.value("tie_tolerance", options_.tie_tolerance);
  if (options_.level_map != LevelMap{}) {
    out.value("shift", options_.level_map.shift);
    out.value("stretch", options_.level_map.stretch);
    out.value("bend", options_.level_map.bend);
  }
  out.value("rows", sample.rows());
  out.value("dims", sample.dims());
  out.tensor("columns", sample.features().columns(), {sample.dims(), sample.rows()});
  out.tensor("residuals", sample.residuals(), {sample.rows()});
  if (!sample.weights().empty()) out.tensor("weights", sample.weights(), {sample.rows()});
}

Snq Snq::load(const TensorReader& in) {
  try {
    SnqOptions options = load_options(in);
    const std::shared_ptr<const LocalSample> sample = load_sample(in);
    // The engine that was chosen when the model was made is a hint: a program without it, or one
    // that would not take these rows, chooses its own. Files of an earlier version name none.
    const SnqEngineInfo* engine = find_engine(options.index);
    if (engine == nullptr || !engine->takes_kernel(options.kernel) ||
        !engine->serves(*sample, options)) {
      options.index = "auto";
    }
    Snq snq(sample, options);
    snq.support_radius_ = load_support_radius(in);
    return snq;
  } catch (const Error& error) {
    // What a caller could not have asked for, a file cannot have stored.
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    fail(ErrorCode::kCorruptFile, "the model file does not fit together: {}", error.what());
  }
}

}  // namespace tare
