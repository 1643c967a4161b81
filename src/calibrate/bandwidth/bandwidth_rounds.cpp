// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bandwidth/bandwidth_rounds.h"

#include <algorithm>
#include <utility>

#include "calibrate/bandwidth/bandwidth_race.h"
#include "calibrate/bandwidth/bandwidth_search.h"

namespace tare {
namespace {

constexpr std::size_t kFirstRound = 192;  // rows on which all bandwidths run
constexpr std::size_t kRoundGrowth = 4;   // times as many rows after each round

std::vector<Runner> runners_of(const BandwidthChoice& choice, RowLosses& kept) {
  std::vector<Runner> runners;
  for (const BandwidthTrial& trial : choice.path) {
    runners.push_back({trial.bandwidth, std::move(kept[trial.bandwidth])});
  }
  return runners;
}

/// Whether the path should have gone on: the window of all rows, where it is tried, is no such end.
bool is_open_end(const BandwidthChoice& choice, const RowNotes& notes, double bandwidth) {
  if (bandwidth == choice.path.front().bandwidth) return true;
  const std::size_t last = choice.path.size() - (notes.marginal ? 2 : 1);
  return bandwidth == choice.path[last].bandwidth;
}

/// Drops the runners that are not among the contenders and gives `best` the place it then has.
void keep_contenders(std::vector<Runner>& runners, RaceState& state) {
  std::vector<Runner> staying;
  for (const std::size_t b : state.contenders) {
    if (b == state.best) state.best = staying.size();
    staying.push_back(std::move(runners[b]));
  }
  runners = std::move(staying);
}

/// The path's losses are those of the first round; they are moved to the level that the winner has
/// on all rows, and those of the last contenders are their own.
void set_path_losses(BandwidthChoice& choice, std::span<const Runner> runners, std::size_t best,
                     std::span<const double> weights) {
  double total = 0.0;
  for (const double w : weights) total += w;
  const auto mean = [&](const Runner& runner) {
    double sum = 0.0;
    for (const double loss : runner.loss) sum += loss;
    return total > 0.0 ? sum / total : 0.0;
  };
  double first = 0.0;
  for (const BandwidthTrial& trial : choice.path) {
    if (trial.bandwidth == runners[best].bandwidth) first = trial.loss;
  }
  const double moved = mean(runners[best]) - first;
  for (BandwidthTrial& trial : choice.path) {
    trial.loss += moved;
    for (const Runner& runner : runners) {
      if (runner.bandwidth == trial.bandwidth) trial.loss = mean(runner);
    }
  }
}

/// Rows in random order, of which each round leaves out the next ones.
class Rounds {
 public:
  Rounds(const LocalSample& sample, Seed seed) : sample_(sample) {
    Rng rng(seed);
    order_ = random_permutation(sample.rows(), rng);
  }

  /// Those up to `last` that have not been taken, in the order of residuals.
  std::vector<std::size_t> take(std::size_t last) {
    const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::vector<std::size_t> places(at(weight_.size()), at(last));
    std::sort(places.begin(), places.end());
    for (const std::size_t place : places) weight_.push_back(weight_of(sample_, place));
    return places;
  }

  std::vector<std::size_t> taken() const {
    std::vector<std::size_t> places(order_.begin(),
                                    order_.begin() + static_cast<std::ptrdiff_t>(weight_.size()));
    std::sort(places.begin(), places.end());
    return places;
  }

  std::span<const double> weights() const { return weight_; }  // of those taken

 private:
  const LocalSample& sample_;
  std::vector<std::size_t> order_;
  std::vector<double> weight_;
};

void run_on(std::vector<Runner>& runners, const LocalSample& sample, const RowNotes& notes,
            const SnqOptions& options, std::span<const std::size_t> places, const Execution& how) {
  std::vector<double> bandwidths;
  for (const Runner& runner : runners) bandwidths.push_back(runner.bandwidth);
  RowLosses more;
  keep_rows(leave_one_out_losses(sample, {}, options, bandwidths, places, how), bandwidths, sample,
            notes.unit, places, more);
  for (Runner& runner : runners) {
    const std::vector<double>& losses = more[runner.bandwidth];
    runner.loss.insert(runner.loss.end(), losses.begin(), losses.end());
  }
}

}  // namespace

BandwidthChoice search_in_rounds(const LocalSample& sample, const RowNotes& notes,
                                 const SnqOptions& options, std::size_t most, Seed seed,
                                 const Execution& how) {
  Rounds rounds(sample, seed);
  RowLosses kept;
  BandwidthChoice choice =
      search_bandwidth(sample, notes, options, rounds.take(kFirstRound), how, &kept);
  std::vector<Runner> runners = runners_of(choice, kept);
  RaceState state = judge_race(runners, rounds.weights());
  while (!state.decided && choice.rows_left_out < most) {
    keep_contenders(runners, state);
    choice.rows_left_out = std::min(most, kRoundGrowth * choice.rows_left_out);
    run_on(runners, sample, notes, options, rounds.take(choice.rows_left_out), how);
    state = judge_race(runners, rounds.weights());
  }
  choice.bandwidth = runners[state.best].bandwidth;
  // Few rows did not show that the path is too short: now more of them do.
  if (is_open_end(choice, notes, choice.bandwidth)) {
    return search_bandwidth(sample, notes, options, rounds.taken(), how);
  }
  set_path_losses(choice, runners, state.best, rounds.weights());
  return choice;
}

}  // namespace tare
