// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bandwidth/bandwidth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/bandwidth/bandwidth_race.h"
#include "calibrate/bandwidth/bandwidth_search.h"
#include "calibrate/snq/engine/cuda_answer.h"
#include "calibrate/snq/engine/engine.h"
#include "calibrate/snq/engine/exact_losses.h"
#include "index/dense/dense_rows.h"
#include "math/kernel.h"

namespace tare {
namespace {

constexpr std::size_t kDoublePairs = 100'000'000;  // where every pair is taken in double precision
constexpr std::size_t kMinLeftOut = 1'000;
constexpr std::size_t kFirstBlocks =
    3;  // of rows in time order: only there for later ones to be predicted from
constexpr std::size_t kDenseRows = 1'000;  // from here on one sweep for all bandwidths pays

/// How much of a sample is used: above `rows`, a random sample of that size is used, of which
/// `left_out` rows are predicted. Below, all rows are predicted, or as many as `pairs` permits.
struct SearchSize {
  std::size_t rows;
  std::size_t left_out;
  std::size_t pairs;
};

SearchSize search_size(KernelKind kernel) {
  // For knn every number of neighbours selects among all rows again, in double precision.
  if (kernel == KernelKind::kKnn) return {4'000, 1'000, 4'000'000};
  return {20'000, 4'000, 400'000'000};
}

std::vector<std::size_t> random_places(std::size_t rows, std::size_t count, Seed seed) {
  Rng rng(seed);
  std::vector<std::size_t> places = random_permutation(rows, rng);
  places.resize(std::min(rows, count));
  std::sort(places.begin(), places.end());
  return places;
}

DenseRows dense_rows(const LocalSample& sample) {
  return {sample.features().columns(), sample.rows(), sample.dims(), sample.weights()};
}

/// Some places as a sample of their own. They are ascending, so the order of residuals stays.
LocalSample part_of(const LocalSample& sample, std::span<const std::size_t> places) {
  const auto taken = [&](std::span<const double> values) {
    std::vector<double> part;
    part.reserve(places.size());
    for (const std::size_t place : places) part.push_back(values[place]);
    return part;
  };
  const std::span<const double> all = sample.features().columns();
  std::vector<double> columns;
  for (std::size_t j = 0; j < sample.dims(); ++j) {
    const auto column = taken(all.subspan(j * sample.rows(), sample.rows()));
    columns.insert(columns.end(), column.begin(), column.end());
  }
  Buffer<double> weights;
  if (!sample.weights().empty()) weights = Buffer<double>(taken(sample.weights()));
  return {BruteForce(Buffer<double>(std::move(columns)), places.size(), sample.dims()),
          Buffer<double>(taken(sample.residuals())), std::move(weights)};
}

/// A bandwidth for `part` rows as one for `whole` rows, by the rate of Theorem 1.
double carried_over(KernelKind kernel, double bandwidth, std::size_t dims, std::size_t part,
                    std::size_t whole) {
  const double growth = static_cast<double>(whole) / static_cast<double>(part);
  const double root = static_cast<double>(dims) + 2.0;
  if (kernel != KernelKind::kKnn) return bandwidth * std::pow(growth, -1.0 / root);
  const double most = static_cast<double>(whole - 1);
  return std::clamp(std::round(bandwidth * std::pow(growth, 2.0 / root)), 1.0, most);
}

}  // namespace

double rate_bandwidth(KernelKind kernel, std::size_t rows, std::size_t dims, double scale) {
  const auto n = static_cast<double>(rows);
  const auto d = static_cast<double>(dims);
  if (kernel == KernelKind::kKnn) {
    const double k = std::round((scale > 0.0 ? scale : 1.0) * std::pow(n, 2.0 / (d + 2.0)));
    return std::clamp(k, 1.0, n);
  }
  const double c = scale > 0.0 ? scale : std::sqrt(std::max(d, 1.0)) * kernel_width_factor(kernel);
  return c * std::pow(n, -1.0 / (d + 2.0));
}

Matrix leave_one_out_losses(const LocalSample& sample, std::span<const std::size_t> block,
                            const SnqOptions& options, std::span<const double> bandwidths,
                            std::span<const std::size_t> places, const Execution& how) {
  if (block.empty()) {
    if (auto losses = cuda_losses(sample, options, bandwidths, places, how)) {
      return *std::move(losses);
    }
    for (const SnqEngineInfo& engine : snq_engines()) {
      if (engine.losses == nullptr) continue;
      auto losses = engine.losses(sample, options, bandwidths, places, how);
      if (losses) return *std::move(losses);
    }
  }
  return exact_leave_one_out_losses(sample, block, options, bandwidths, places, how);
}

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

/// Whether the path should be extended. The window of all rows, if it is tried, is not such an end.
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
    return total > 0.0 ? finite_loss(sum / total) : 0.0;
  };
  double first = 0.0;
  for (const BandwidthTrial& trial : choice.path) {
    if (trial.bandwidth == runners[best].bandwidth) first = trial.loss;
  }
  const double moved = mean(runners[best]) - first;
  for (BandwidthTrial& trial : choice.path) {
    trial.loss = finite_loss(trial.loss + moved);
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

/// The search on rows left out in rounds, each several times as large as all before, on which only
/// those bandwidths run that are not clearly worse than the best. Ends when nothing that matters
/// can be gained, or at `most` rows.
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

/// The search on a random part of the rows, carried over to all.
BandwidthChoice search_part(const LocalSample& sample, const RowNotes& notes,
                            const SnqOptions& options, Seed seed, const Execution& how) {
  const SearchSize size = search_size(options.kernel);
  const auto kept = random_places(sample.rows(), size.rows, split(seed, 0));
  const LocalSample part = part_of(sample, kept);
  std::vector<double> unit;
  for (const std::size_t i : kept) {
    if (!notes.unit.empty()) unit.push_back(notes.unit[i]);
  }
  const RowNotes part_notes{.unit = unit, .marginal = notes.marginal};
  BandwidthChoice choice;
  if (options.kernel == KernelKind::kKnn) {
    const auto places = random_places(part.rows(), size.left_out, split(seed, 1));
    choice = search_bandwidth(part, part_notes, options, places, how);
  } else {
    choice = search_in_rounds(part, part_notes, options, notes.most_left_out, split(seed, 1), how);
  }
  const auto carry = [&](double& bandwidth) {
    bandwidth = carried_over(options.kernel, bandwidth, sample.dims(), part.rows(), sample.rows());
  };
  carry(choice.bandwidth);
  for (BandwidthTrial& trial : choice.path) carry(trial.bandwidth);
  return choice;
}

}  // namespace

BandwidthChoice choose_bandwidth(const LocalSample& sample, const RowNotes& notes,
                                 const SnqOptions& options, Seed seed, const Execution& how) {
  const std::span<const std::size_t> block = notes.block;
  const std::size_t rows = sample.rows();
  if (rows < 2) {
    fail(ErrorCode::kBadData, "a bandwidth cannot be chosen from {} calibration rows", rows);
  }
  const SearchSize size = search_size(options.kernel);
  if (block.empty() && rows > size.rows) return search_part(sample, notes, options, seed, how);
  if (block.empty() && rows > notes.all_left_out && options.kernel != KernelKind::kKnn) {
    return search_in_rounds(sample, notes, options, std::min(rows, notes.most_left_out),
                            split(seed, 0), how);
  }
  const bool in_double = !block.empty() || (rows >= kDenseRows && !dense_rows(sample).usable());
  const std::size_t pairs = in_double ? std::min(size.pairs, kDoublePairs) : size.pairs;
  auto places = random_places(rows, std::max(kMinLeftOut, pairs / rows), split(seed, 0));
  if (!block.empty()) std::erase_if(places, [&](std::size_t i) { return block[i] < kFirstBlocks; });
  return search_bandwidth(sample, notes, options, places, how);
}

BandwidthChoice choose_bandwidth(MatrixView z, std::span<const double> u,
                                 std::span<const double> weight, const SnqOptions& options,
                                 Seed seed, const Execution& how) {
  const Snq checked(z, u, weight, options);  // for its checks
  return choose_bandwidth(LocalSample(z, u, weight), {}, options, seed, how);
}

KernelDescription describe_kernel(const Snq& snq, const BandwidthChoice& choice,
                                  std::string point_model) {
  const SnqOptions& options = snq.options();
  return {.rows = snq.rows(),
          .dims = snq.dims(),
          .point_model = std::move(point_model),
          .kernel = std::string(kernel_name(options.kernel)),
          .bandwidth = choice,
          .fallback = options.fallback == Fallback::kNearest ? "nearest" : "marginal",
          .min_support = options.min_support,
          .index = std::string(snq.index())};
}

void save_choice(const BandwidthChoice& choice, const TensorWriter& out) {
  Json path = Json::array();
  for (const BandwidthTrial& trial : choice.path) path.push_back({trial.bandwidth, trial.loss});
  out.value("bandwidth_rule", choice.rule);
  out.value("bandwidth_path", path);
  out.value("bandwidth_rows", choice.rows_left_out);
}

BandwidthChoice load_choice(const TensorReader& in, double bandwidth) {
  BandwidthChoice choice;
  choice.rule = in.get<std::string>("bandwidth_rule");
  choice.bandwidth = bandwidth;
  choice.rows_left_out = in.count("bandwidth_rows", std::numeric_limits<std::uint32_t>::max());
  for (const auto& trial : in.get<std::vector<std::array<double, 2>>>("bandwidth_path")) {
    choice.path.push_back({trial[0], trial[1]});
  }
  return choice;
}

}  // namespace tare
