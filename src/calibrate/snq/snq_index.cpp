// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/snq_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/strings.h"
#include "base/unknown_name.h"

namespace tare {
namespace {

constexpr std::size_t kRowsWithoutIndex =
    1'000;                       // all of them are looked at faster than any structure
constexpr double kLevel = 20.0;  // nanoseconds for a quantile of a query
// Starting and joining a thread takes 25 microseconds on the machine of bench/RESULTS.md.
constexpr double kThreadWork = 250'000.0;

[[noreturn]] void fail_unfit(const SnqEngineInfo& info) {
  fail(ErrorCode::kInvalidArgument,
       {.option = "index",
        .value = std::string(info.name),
        .remedies = {use("index", "auto", "for one that fits")},
        .named_in_problem = true},
       "the {} index is for {}", info.name, info.made_for);
}

const SnqEngineInfo& cheapest_engine(const LocalSample& sample, const SnqOptions& options) {
  if (sample.rows() < kRowsWithoutIndex) return brute_engine();
  const SnqEngineInfo* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const SnqEngineInfo& info : snq_engines()) {
    if (!info.serves(sample, options)) continue;
    const double cost = info.cost(sample, options);
    if (best != nullptr && !(cost < least)) continue;
    best = &info;
    least = cost;
  }
  return *best;
}

}  // namespace

void check_index(std::string_view name) {
  std::vector<std::string> names = {"auto"};
  for (const SnqEngineInfo& info : snq_engines()) names.emplace_back(info.name);
  std::ranges::sort(names);
  if (std::ranges::find(names, name) != names.end()) return;
  fail_unknown_name(ErrorCode::kInvalidArgument, "index", name, names, "index");
}

void check_index_and_kernel(const SnqOptions& options) {
  check_index(options.index);
  const SnqEngineInfo* info = find_engine(options.index);
  if (info != nullptr && !info->takes_kernel(options.kernel)) fail_unfit(*info);
}

SnqIndex::SnqIndex(std::shared_ptr<const LocalSample> sample, const SnqOptions& options)
    : sample_(std::move(sample)), info_(&brute_engine()) {
  check_index_and_kernel(options);
  // A window of everything has nothing to be found.
  if (!std::isinf(options.bandwidth) && sample_->dims() > 0) {
    const SnqEngineInfo* asked = find_engine(options.index);
    if (asked != nullptr && !asked->serves(*sample_, options)) fail_unfit(*asked);
    info_ = asked != nullptr ? asked : &cheapest_engine(*sample_, options);
  }
  engine_ = info_->make(sample_, options);
  if (engine_ == nullptr) {
    info_ = &brute_engine();  // which gives the same answers
    engine_ = info_->make(sample_, options);
  }
}

std::size_t worthwhile_threads(std::size_t asked, double nanoseconds) {
  const double most = std::max(1.0, nanoseconds / kThreadWork);
  return static_cast<double>(asked) <= most ? asked : static_cast<std::size_t>(most);
}

void SnqIndex::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                       const Execution& how, Prediction& result) const {
  const double query = engine_->query_cost() + kLevel * static_cast<double>(levels.size());
  Execution within = how;
  within.threads = worthwhile_threads(thread_count(how), query * static_cast<double>(z.rows()));
  const double seconds_here =
      1e-9 * query * static_cast<double>(z.rows()) / static_cast<double>(within.threads);
  const std::size_t queries = levels.empty() ? 0 : z.rows();
  if (const auto gpu = on_gpu(seconds_here, within.threads, queries, options, how.device)) {
    if (gpu->predict(z, levels, options, how, result)) return;
    const std::lock_guard lock(gpu_guard_);
    gpu_failed_ = true;
    gpu_.reset();
  }
  engine_->predict(z, levels, options, within, result);
}

std::shared_ptr<const CudaAnswer> SnqIndex::on_gpu(double seconds_here, std::size_t threads,
                                                   std::size_t queries, const SnqOptions& options,
                                                   const Device& asked) const {
  if (queries == 0 || !cuda_serves(*sample_, options)) return nullptr;
  const bool dense =
      options.kernel == KernelKind::kGaussian || options.kernel == KernelKind::kLaplace;
  // Sums by differences, as kernels other than the gaussian have them, take three times as long.
  const double each = options.kernel == KernelKind::kGaussian ? 1.0 : 3.0;
  double there = seconds_of_pairs(
      each * static_cast<double>(sample_->rows()) * static_cast<double>(queries), sample_->dims());
  // Windows are found by rows that are near, there as here.
  constexpr double kThreadsOfAGpu = 100.0;
  if (!dense) there = std::min(there, seconds_here * static_cast<double>(threads) / kThreadsOfAGpu);
  const auto device = device_for(asked, seconds_here, there);
  if (!device) return nullptr;
  const std::lock_guard lock(gpu_guard_);
  if (gpu_failed_) return nullptr;
  if (gpu_ == nullptr || gpu_->device() != *device) {
    gpu_ = CudaAnswer::make(sample_, *device);
    gpu_failed_ = gpu_ == nullptr;
  }
  return gpu_;
}

}  // namespace tare
