// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "calibrate/snq/engine/brute_answer.h"
#include "calibrate/snq/engine/dense_answer.h"
#include "calibrate/snq/engine/engine.h"
#include "calibrate/snq/engine/line_answer.h"
#include "calibrate/snq/engine/tree_answer.h"

namespace tare {

std::span<const SnqEngineInfo> snq_engines() {
  static const std::array kEngines = {
      LineAnswer::info(),
      DenseAnswer::info(),
      BruteAnswer::info(),
      TreeAnswer::info(),
  };
  return kEngines;
}

const SnqEngineInfo* find_engine(std::string_view name) {
  const auto engines = snq_engines();
  const auto found = std::ranges::find(engines, name, &SnqEngineInfo::name);
  return found == engines.end() ? nullptr : &*found;
}

const SnqEngineInfo& brute_engine() { return *find_engine("brute"); }

}  // namespace tare
