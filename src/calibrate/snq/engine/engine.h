// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "calibrate/snq/window/local_sample.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// An algorithm that answers SNQ's queries on a sample, with its data. Immutable; predict may
/// be called from several threads at once.
class SnqEngine {
 public:
  virtual ~SnqEngine() = default;

  /// Fills `result`, whose vectors have their sizes. Levels ascend. The options are those that the
  /// engine was made for.
  virtual void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                       const Execution& how, Prediction& result) const = 0;
  /// Nanoseconds for a query but for its levels, about: how many threads are worthwhile.
  virtual double query_cost() const = 0;
};

/// An entry of the table of engines.
struct SnqEngineInfo {
  std::string_view name;      // of --index
  std::string_view made_for;  // for messages: "gaussian and laplace kernels"
  bool (*takes_kernel)(KernelKind kernel);
  /// For a finite bandwidth and at least one feature.
  bool (*serves)(const LocalSample& sample, const SnqOptions& options);
  /// Nanoseconds for a query on this sample, about, by what some rows see around them. Where
  /// serves.
  double (*cost)(const LocalSample& sample, const SnqOptions& options);
  /// Null if the engine cannot handle the features. The sample outlives the engine.
  std::unique_ptr<const SnqEngine> (*make)(const std::shared_ptr<const LocalSample>& sample,
                                           const SnqOptions& options);
  /// The losses of leave_one_out_losses for rows in no order; nothing where the engine cannot. Null
  /// for an engine that has none.
  std::optional<Matrix> (*losses)(const LocalSample& sample, const SnqOptions& options,
                                  std::span<const double> bandwidths,
                                  std::span<const std::size_t> places, const Execution& how);
};

/// All engines. Of two that cost the same the first answers, and the first that has losses gives
/// them.
std::span<const SnqEngineInfo> snq_engines();

/// The engine that serves every sample and every kernel, one row at a time: the reference.
const SnqEngineInfo& brute_engine();

/// Null where there is none of that name.
const SnqEngineInfo* find_engine(std::string_view name);

/// Nanoseconds for a row and query: so much, and more for each feature. Measured with
/// bench/index_costs (bench/RESULTS.md); what counts is their ratios.
struct RowCost {
  double row;
  double feature;
  double operator()(double dims) const { return row + feature * dims; }
};

/// A query of an engine that finds rows without looking at all: what it finds is not known.
inline constexpr double kCostOfSomeRows = 2'000.0;

}  // namespace tare
