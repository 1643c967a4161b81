// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "peers/clock.h"
#include "tare/base/level.h"
#include "tare/math/kernel.h"

namespace tare::peers {

/// What the command line may change in a workload.
struct Settings {
  std::size_t rows = 0;     // 0: as the workload says
  std::size_t queries = 0;  // 0: as the workload says
  std::size_t threads = 1;
  std::size_t leaf_rows = 10;  // of nanoflann's tree; its own default
  double peer_seconds = 3.0;
  TimeKind time = TimeKind::kWall;  // of comparisons; growth is always in wall time
  std::string folder;  // where data and answers are written for another program; empty: nowhere
};

enum class PeerKind { kNanoflann, kSortedLine, kOtherProgram };

/// One line of the table: tare on all queries, the peer on the first of them.
struct Comparison {
  std::string name;
  std::size_t rows;
  std::size_t dims;
  std::size_t neighbours;  // on average; 0 for the kernel without a border
  std::size_t queries;
  PeerKind peer;
  KernelKind kernel = KernelKind::kNaive;
  bool paper_levels = false;  // the paper's 100 and not 99 percents
};

/// 0.01, 0.02, ..., 0.99.
std::vector<Level> percent_levels();

/// Runs it and returns the line. Throws Error where tare and the peer give different answers.
nlohmann::json compare(const Comparison& what, const Settings& settings);

}  // namespace tare::peers
