// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/level.h"
#include "tare/base/params.h"

namespace tare {

/// What is known about a row of a stream before its target.
struct OnlineRow {
  std::uint64_t time = 0;            // number of rows before it
  double prediction = 0.0;           // of the model whose errors are calibrated
  std::span<const double> features;  // its columns, as numbers
};

/// The answer to a row. `note` is what the method needs to learn the row later, such as the
/// answers of its members; its length is the method's business.
struct OnlineAnswer {
  std::vector<double> quantiles;  // of the target, one for each level, never decreasing
  std::vector<double> note;
};

/// With a single error the answers of all levels would still be the same.
inline constexpr std::size_t kFewestKnownTargets = 2;

/// A method that answers a row before its target is known, and then learns the target. Its state
/// is a function of the calls of learn(), so that answers do not depend on how rows were divided
/// into blocks, or on a restart in between. One thread at a time.
class OnlineMethod {
 public:
  virtual ~OnlineMethod() = default;

  /// Reuses the memory of `out`. Does not change the state.
  virtual void answer(const OnlineRow& row, OnlineAnswer& out) const = 0;
  /// Learns the target of a row. `answer` is what answer() gave for it, when fewer targets may
  /// have been known: targets may come late.
  virtual void learn(const OnlineRow& row, const OnlineAnswer& answer, double target) = 0;

  /// Whether enough targets are known for an answer: kFewestKnownTargets. Before that, an answer
  /// says nothing about the size of errors (most methods give the prediction for every level), and
  /// serves only to learn its row.
  virtual bool is_ready() const = 0;

  /// The proven bound on |share of targets at or below the answers of level j - level j| for the
  /// rows learned since OnlineSetup::start, whatever the targets were. 1: nothing is proven.
  virtual double bound(std::size_t /*j*/) const { return 1.0; }
  /// The number of equally weighted rows that would determine the answer as well; 0: not known.
  virtual double effective_rows(const OnlineRow& /*row*/) const { return 0.0; }

  /// Writes the state; the row of the table has the function that reads it.
  virtual void save(const TensorWriter& out) const = 0;
};

/// What a method is made for. Levels ascend, without repetition.
struct OnlineSetup {
  std::vector<Level> levels;
  std::size_t features = 0;  // of OnlineRow::features
  std::size_t start = 0;     // rows that are learned before the first answer is used
  std::size_t delay = 0;     // rows that are answered after a row before its target is known
  Params params;
};

/// A row of the table of online methods.
struct OnlineMethodInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view guarantee;  // what is proven, in a sentence
  std::string_view citation;
  std::span<const ParamInfo> options;
  std::unique_ptr<OnlineMethod> (*make)(const OnlineSetup& setup);
  std::unique_ptr<OnlineMethod> (*load)(const OnlineSetup& setup, const TensorReader& in);
};

}  // namespace tare
