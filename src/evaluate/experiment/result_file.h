// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "evaluate/experiment/trial.h"

namespace tare {

/// Which trial: what must be the same for a result to be the same.
struct TrialKey {
  std::string experiment, case_name, method, options;
  std::size_t repeat = 0;
  std::uint64_t seed = 0;

  friend auto operator<=>(const TrialKey&, const TrialKey&) = default;
};

struct TrialResult {
  std::vector<MetricValue> values;
  double seconds = 0.0;
};

using Results = std::map<TrialKey, TrialResult>;

/// Results of trials as one long CSV: experiment, case, method, options, repeat, seed, version,
/// seconds, metric, value. Whole trials are appended as they finish, so a killed run continues
/// where it stopped.
class ResultFile {
 public:
  /// Nothing is kept in a file.
  ResultFile() = default;
  /// Reads an existing file. Trials of another version of tare, and a trial whose rows are
  /// incomplete because the writer was killed, are ignored. kBadData if it is another kind of file.
  explicit ResultFile(std::string path);

  const Results& results() const noexcept { return results_; }
  /// Appends the rows of a trial in one piece. kIo.
  void add(const TrialKey& key, const TrialResult& result);
  /// Rewrites the file atomically in the order of `keys`, so that it does not depend on
  /// interruptions. Results without a key stay, at the end.
  void finish(const std::vector<TrialKey>& keys);

 private:
  void rewrite(const std::vector<TrialKey>& keys) const;

  std::string path_;
  Results results_;
};

}  // namespace tare
