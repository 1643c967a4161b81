// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/cuda_answer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/device_problem.h"
#include "base/parallel.h"
#include "calibrate/snq/engine/brute_answer.h"
#include "calibrate/snq/engine/exact_losses.h"
#include "calibrate/snq/window/rank_rule.h"
#include "index/dense/dense_kernels.h"
#include "math/weighted_quantile.h"

namespace tare {
namespace {

// Times in seconds on an H200 (bench/RESULTS.md); what counts is how they compare with those of the
// processor, and a GPU that is a few times slower is still quicker.
constexpr double kFirstUse = 0.6;  // until the first job runs
constexpr double kEachUse = 0.01;
constexpr double kPair = 3.5e-13;
constexpr double kPairAndFeature = 1e-14;
// With auto a GPU must be quicker than this share of the processor's time, and the job worth it.
constexpr double kWorthwhile = 0.5;
constexpr double kLeastSeconds = 0.2;

constexpr double kLargestFeature = 1e11;  // its square and sums of these are far from overflow
constexpr double kLeastWeight = 1e-25;    // of the largest

std::atomic<bool> cuda_in_use = false;

int cuda_kernel(KernelKind kernel) {
  switch (kernel) {
    case KernelKind::kEpanechnikov:
      return kTareCudaEpanechnikov;
    case KernelKind::kTriangular:
      return kTareCudaTriangular;
    case KernelKind::kTricube:
      return kTareCudaTricube;
    case KernelKind::kGaussian:
      return kTareCudaGaussian;
    case KernelKind::kLaplace:
      return kTareCudaLaplace;
    case KernelKind::kKnn:
      return kTareCudaKnn;
    default:
      return kTareCudaNaive;
  }
}

bool within_reach(double bandwidth) {
  return bandwidth >= kNarrowestDense && bandwidth <= kWidestDense;
}

bool rows_within_reach(const LocalSample& sample) {
  const auto small = [](double value) { return std::abs(value) <= kLargestFeature; };
  const auto heavy = [&](double w) { return w >= kLeastWeight * sample.largest_weight(); };
  return std::ranges::all_of(sample.features().columns(), small) &&
         std::ranges::all_of(sample.weights(), heavy);
}

/// The work's progress and end, as C calls them. An exception waits until the library has returned.
struct Caller {
  const Execution& how;
  std::string_view stage;
  std::exception_ptr failure = nullptr;

  static int go_on(void* context, double share) {
    auto& caller = *static_cast<Caller*>(context);
    try {
      if (caller.how.stop != nullptr && caller.how.stop->load()) throw Stopped{};
      if (caller.how.progress) caller.how.progress(caller.stage, share);
    } catch (...) {
      caller.failure = std::current_exception();
    }
    return caller.failure == nullptr ? 1 : 0;
  }

  /// Whether the work was done.
  bool check(int status, const TareCudaText& why) const {
    if (failure != nullptr) std::rethrow_exception(failure);
    if (status == kTareCudaDone) return true;
    note_device_problem(fmt::format("the GPU stopped working on it: {}", why.text));
    return false;
  }
};

CudaRows upload_rows(const LocalSample& sample, int device) {
  const TareCudaSample rows = {
      .columns = sample.features().columns().data(),
      .residuals = sample.residuals().data(),
      .weights = sample.weights().empty() ? nullptr : sample.weights().data(),
      .rows = sample.rows(),
      .dims = sample.dims()};
  TareCudaRows* uploaded = nullptr;
  TareCudaText why{};
  const int status = CudaLibrary::get().functions().upload(device, &rows, &uploaded, &why);
  if (status != kTareCudaDone) {
    note_device_problem(
        fmt::format("{} calibration rows did not get onto the GPU: {}", sample.rows(), why.text));
    return nullptr;
  }
  cuda_in_use = true;
  return CudaRows(uploaded);
}

}  // namespace

bool cuda_serves(const LocalSample& sample, const SnqOptions& options) {
  constexpr std::size_t kMostRows = 0x7fff'0000;  // places are whole numbers of 31 bits
  // Counts of rows are exact in single precision up to here.
  constexpr std::size_t kMostCounts = std::size_t{1} << 24;
  const bool naive = options.kernel == KernelKind::kNaive;
  const bool knn = options.kernel == KernelKind::kKnn;
  return (knn ? std::isfinite(options.bandwidth) : within_reach(options.bandwidth)) &&
         sample.dims() >= 1 && sample.dims() <= TARE_CUDA_MOST_DIMS &&
         sample.rows() <= (naive ? kMostCounts : kMostRows);
}

double seconds_of_pairs(double pairs, std::size_t dims) {
  return pairs * (kPair + kPairAndFeature * static_cast<double>(dims));
}

std::optional<int> device_for(const Device& asked, double seconds_here, double seconds_there) {
  const Device device = asked.kind == DeviceKind::kDefault ? default_device() : asked;
  if (device.kind == DeviceKind::kCpu) return std::nullopt;
  const bool automatic = device.kind == DeviceKind::kAuto;
  // A library is not loaded for a small job.
  if (automatic && seconds_here < kLeastSeconds) return std::nullopt;
  const CudaLibrary& library = CudaLibrary::get();
  if (library.devices() <= device.number) {
    if (!automatic) {
      note_device_problem(library.devices() == 0 ? library.why_not()
                                                 : fmt::format("there is no GPU {}: {} can be used",
                                                               device.number, library.devices()));
    }
    return std::nullopt;
  }
  seconds_there += (cuda_in_use ? 0.0 : kFirstUse) + kEachUse;
  if (automatic && seconds_there > kWorthwhile * seconds_here) return std::nullopt;
  return device.number;
}

CudaAnswer::CudaAnswer(std::shared_ptr<const LocalSample> sample, CudaRows rows, int device)
    : sample_(std::move(sample)), rows_(std::move(rows)), device_(device) {}

std::unique_ptr<const CudaAnswer> CudaAnswer::make(std::shared_ptr<const LocalSample> sample,
                                                   int device) {
  if (!rows_within_reach(*sample)) return nullptr;
  CudaRows rows = upload_rows(*sample, device);
  if (rows == nullptr) return nullptr;
  return std::unique_ptr<const CudaAnswer>(
      new CudaAnswer(std::move(sample), std::move(rows), device));
}

bool CudaAnswer::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                         const Execution& how, Prediction& result) const {
  std::vector<double> level_values;
  for (const Level& level : levels) level_values.push_back(level.value());
  Matrix side_by_side;  // where the rows of z are not
  if (z.stride() != z.cols()) {
    side_by_side = Matrix(z.rows(), z.cols());
    for (std::size_t i = 0; i < z.rows(); ++i) {
      std::ranges::copy(z.row(i), side_by_side.span().row(i).begin());
    }
    z = side_by_side;
  }
  std::vector<std::uint8_t> quality(z.rows(), kTareCudaNotAnswered);
  Caller caller{how, "predicting"};
  TareCudaQuestion question{};
  question.queries = z.data();
  question.count = z.rows();
  question.kernel = cuda_kernel(options.kernel);
  question.bandwidth = options.bandwidth;
  question.tie_tolerance = options.tie_tolerance;
  question.levels = level_values.data();
  question.level_count = level_values.size();
  question.ranks = {.expected = options.ranks == Ranks::kExpected ? 1 : 0,
                    .tail_ranks = RankRule::kTailRanks,
                    .few_rows = RankRule::kFewRows,
                    .tie_slack = kTieSlack};
  question.nearest = result.nearest.empty() ? 0 : 1;
  question.go_on = &Caller::go_on;
  question.context = &caller;
  const TareCudaAnswer answer = {
      .quantiles = result.quantiles.span().data(),
      .window_n = result.window_n.data(),
      .nearest = result.nearest.empty() ? nullptr : result.nearest.data(),
      .quality = quality.data()};
  TareCudaText why{};
  const int status = CudaLibrary::get().functions().answer(rows_.get(), &question, &answer, &why);
  if (!caller.check(status, why)) return false;
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < z.rows(); ++i) {
    result.fallback[i] = 0;
    if (quality[i] != kTareCudaAnswered) rest.push_back(i);
  }
  answer_rest(z, rest, levels, options, how, result);
  return true;
}

void CudaAnswer::answer_rest(MatrixView z, std::span<const std::size_t> rest,
                             std::span<const Level> levels, const SnqOptions& options,
                             const Execution& how, Prediction& result) const {
  constexpr std::size_t kBlock = 16;
  parallel_blocks(how, rest.size(), kBlock, [&](std::size_t first, std::size_t last) {
    RankRule rule(options.ranks, levels);
    for (std::size_t k = first; k < last; ++k) {
      answer_in_double(*sample_, z.row(rest[k]), rest[k], options, rule, result);
    }
  });
}

std::optional<Matrix> cuda_losses(const LocalSample& sample, const SnqOptions& options,
                                  std::span<const double> bandwidths,
                                  std::span<const std::size_t> places, const Execution& how) {
  const bool everywhere =
      options.kernel == KernelKind::kGaussian || options.kernel == KernelKind::kLaplace;
  if (!everywhere || bandwidths.empty() || !std::ranges::all_of(bandwidths, within_reach)) {
    return std::nullopt;
  }
  if (!std::ranges::is_sorted(places)) return std::nullopt;  // the library relies on it
  SnqOptions served = options;
  served.bandwidth = bandwidths.front();
  if (!cuda_serves(sample, served)) return std::nullopt;
  const double pairs = static_cast<double>(sample.rows()) * static_cast<double>(places.size()) *
                       static_cast<double>(bandwidths.size());
  constexpr double kPairHere = 0.25e-9;  // of one thread
  const double here = pairs * kPairHere / static_cast<double>(thread_count(how));
  const auto device = device_for(how.device, here, seconds_of_pairs(pairs, sample.dims()));
  if (!device || !rows_within_reach(sample)) return std::nullopt;
  const CudaRows rows = upload_rows(sample, *device);
  if (rows == nullptr) return std::nullopt;

  std::vector<double> level_values;
  for (const Level& level : metric_levels()) level_values.push_back(level.value());
  const std::vector<std::uint32_t> left_out(places.begin(), places.end());
  Matrix losses(places.size(), bandwidths.size());
  Caller caller{how, "choosing the bandwidth"};
  TareCudaLosses asked{};
  asked.places = left_out.data();
  asked.count = left_out.size();
  asked.kernel = cuda_kernel(options.kernel);
  asked.bandwidths = bandwidths.data();
  asked.bandwidth_count = bandwidths.size();
  asked.levels = level_values.data();
  asked.level_count = level_values.size();
  asked.tie_slack = kTieSlack;
  asked.go_on = &Caller::go_on;
  asked.context = &caller;
  asked.losses = losses.span().data();
  TareCudaText why{};
  const int status = CudaLibrary::get().functions().losses(rows.get(), &asked, &why);
  if (!caller.check(status, why)) return std::nullopt;

  // What single precision could not tell.
  for (std::size_t b = 0; b < bandwidths.size(); ++b) {
    std::vector<std::size_t> rest;
    std::vector<std::size_t> rest_places;
    for (std::size_t p = 0; p < places.size(); ++p) {
      if (!std::isnan(losses(p, b))) continue;
      rest.push_back(p);
      rest_places.push_back(places[p]);
    }
    const Matrix exact =
        exact_leave_one_out_losses(sample, {}, options, bandwidths.subspan(b, 1), rest_places, how);
    for (std::size_t k = 0; k < rest.size(); ++k) losses(rest[k], b) = exact(k, 0);
  }
  return losses;
}

}  // namespace tare
