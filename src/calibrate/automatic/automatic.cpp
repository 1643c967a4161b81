// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/automatic.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/automatic/auto_model.h"
#include "calibrate/automatic/auto_rows.h"
#include "calibrate/automatic/competition.h"
#include "calibrate/automatic/effort.h"
#include "calibrate/automatic/families.h"
#include "calibrate/automatic/point_masses.h"
#include "calibrate/bounds/bounds.h"
#include "calibrate/features/screening.h"
#include "data/partition.h"
#include "data/rows.h"

namespace tare {
namespace {

using namespace automatic;

/// Folds and blocks of a series are stretches with gaps of a window; of too few rows they would be
/// empty.
void check_series(std::size_t window, std::size_t rows) {
  constexpr std::size_t kLeastRows = 20;
  constexpr std::size_t kLeastWindows = 10;
  const std::size_t least = kLeastRows + kLeastWindows * window;
  if (window == 1 || rows >= least) return;
  fail(ErrorCode::kBadData,
       {.remedies = {advice("give more rows"),
                     {"a smaller", "window", "", ""},
                     use("method", "nrc_rf")}},
       "a series of {} windows of {} rows is too short for method auto, which needs {}", rows,
       window, least);
}

/// Kernel columns as columns of what the models read.
std::vector<std::size_t> kernel_columns(const FitInput& input) {
  if (input.model_columns.empty()) return input.calibrate_columns;
  std::vector<std::size_t> places;
  for (const std::size_t j : input.calibrate_columns) {
    const auto at = std::ranges::find(input.model_columns, j);
    if (at == input.model_columns.end()) {
      fail(ErrorCode::kInvalidArgument,
           "method 'auto' calibrates only on columns that are features of its models");
    }
    places.push_back(static_cast<std::size_t>(at - input.model_columns.begin()));
  }
  return places;
}

/// Which columns of x matter to the candidate's residuals.
std::vector<ScreenedColumn> screen(const Candidate& first, const CrossFit& fit, Seed seed,
                                   const Execution& how) {
  constexpr std::size_t kPermutations = 199;
  if (!first.center) return {};
  std::vector<double> residual(fit.rows().y.begin(), fit.rows().y.end());
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= fit.column(*first.center)[i];
  return screen_columns(fit.rows().x, residual, kPermutations, seed, how, fit.folds().gap);
}

/// Columns that matter make two candidates more.
void add_screened(std::span<const ScreenedColumn> screened, std::vector<Candidate>& candidates) {
  const std::vector<std::size_t> kept = kept_columns(screened);
  if (kept.empty()) return;
  const Candidate first = candidates.front();
  candidates.push_back({"screened", first.center, {}, {}, kept});
  candidates.push_back({"screened_scale", first.center, first.log_scale, {}, kept});
}

/// What all rounds have in common.
struct Setting {
  const FitInput& input;
  const AutoRows& rows;
  Effort effort;
  const JudgingRows& judges;
  std::vector<std::size_t> x_columns;
  std::vector<double> masses;
  SnqOptions kernel;
  bool screens = false;
};

/// Trains the models of the candidates that the given columns permit.
std::vector<Candidate> make_candidates(const Setting& of, CrossFit& fit, const GivenLaw* law,
                                       Seed seed, const Execution& how) {
  if (of.rows.is_constant()) return {{"target", {}, {}, {}}};  // nothing to learn
  if (law == nullptr) return train_families(fit, of.effort, seed, how);
  const Matrix features = given_features(*law, take_rows(of.input.given, of.rows.usable));
  const double scale = of.rows.units.scale;
  const std::size_t center = fit.add_given(features, 0, of.rows.units.shift, 1.0 / scale);
  std::optional<std::size_t> log_scale;
  if (features.cols() > 1) log_scale = fit.add_given(features, 1, std::log(scale), 1.0);
  return train_given_families(fit, center, log_scale, seed, how);
}

/// What one round gives: candidates that were trained with folds of their own.
struct Round {
  Statistics statistics;
  Competition competition;
};

/// The first round has the seed of the fit: one round alone is a fit without rounds.
Seed seed_of_round(Seed seed, std::size_t round) {
  constexpr std::uint64_t kRoundSeeds = 5000;
  return round == 0 ? seed : split(seed, kRoundSeeds + round);
}

/// Columns are screened in the first round, for all of them.
Round train_round(const Setting& of, Seed seed, AutoModel::Parts& parts, const Execution& how) {
  const RegressionData data = of.rows.data();
  const std::size_t count = of.effort.folds;
  const Folds folds = of.input.window > 1 ? Folds::stretches(data.y.size(), count, of.input.window)
                                          : Folds::random(data.y.size(), count, split(seed, 1));
  CrossFit fit(data, folds);
  std::vector<Candidate> candidates =
      make_candidates(of, fit, parts.has_law ? &parts.law : nullptr, split(seed, 2), how);
  if (of.screens) {
    if (parts.screened.empty()) {
      parts.screened = screen(candidates.front(), fit, split(seed, 5), how);
    }
    add_screened(parts.screened, candidates);
  }
  Competition competition =
      compete(candidates, fit, of.judges, of.x_columns, of.masses, of.kernel, seed, how);
  return {fit.take_program(), std::move(competition)};
}

/// Progress of all rounds as one.
Execution of_round(const Execution& how, std::size_t round, std::size_t rounds) {
  Execution own = how;
  if (rounds == 1 || !how.progress) return own;
  own.progress = [&how, round, rounds](std::string_view stage, double share) {
    how.progress(stage, (static_cast<double>(round) + share) / static_cast<double>(rounds));
  };
  return own;
}

/// The mean of the rounds' averages for the judging rows.
Matrix mean_average(std::span<const Round> rounds) {
  Matrix mean = rounds.front().competition.averaging.average;
  for (const Round& round : rounds.subspan(1)) {
    const std::span<const double> own = round.competition.averaging.average.values();
    for (std::size_t k = 0; k < own.size(); ++k) mean.values()[k] += own[k];
  }
  for (double& value : mean.values()) value /= static_cast<double>(rounds.size());
  return mean;
}

/// The trials of all rounds by name: the mean loss over the rounds that have it, in units of y, its
/// share of the whole, and the bandwidth of the first of these rounds.
std::vector<Trial> mean_trail(std::span<const Round> rounds, double unit) {
  std::vector<Trial> trail;
  std::vector<double> times;  // that a candidate was in a round
  for (const Round& round : rounds) {
    for (const Trial& own : round.competition.trail) {
      const auto known = std::ranges::find(trail, own.name, &Trial::name);
      const auto place = static_cast<std::size_t>(known - trail.begin());
      if (known == trail.end()) {
        trail.push_back({own.name, 0.0, own.bandwidth, 0.0});
        times.push_back(0.0);
      }
      trail[place].loss += unit * own.loss;
      trail[place].share += own.share / static_cast<double>(rounds.size());
      times[place] += 1.0;
    }
  }
  for (std::size_t k = 0; k < trail.size(); ++k) trail[k].loss /= times[k];
  return trail;
}

/// Moves the kept candidates of a round and its statistics into the model; `guide` is the number of
/// a candidate of this round.
void keep_members(Round round, std::size_t rounds, std::optional<std::size_t> guide,
                  const AutoRows& rows, AutoModel::Parts& parts) {
  std::vector<LocalLaw>& laws = round.competition.laws;
  std::vector<LocalLaw*> kept;
  if (guide) {
    parts.guide =
        MassGuide{laws[*guide], rows.masses(), rows.mass_values(), are_whole(rows.training.y)};
    kept.push_back(&parts.guide->law);
  }
  for (std::size_t c = 0; c < laws.size(); ++c) {
    if (round.competition.averaging.share[c] > 0.0) kept.push_back(&laws[c]);
  }
  std::vector<std::size_t> columns;
  for (const LocalLaw* law : kept) {
    const std::vector<std::size_t> own = law->columns();
    columns.insert(columns.end(), own.begin(), own.end());
  }
  round.statistics.keep_only(columns);
  const std::size_t first = parts.statistics.append(std::move(round.statistics));
  for (std::size_t& column : columns) column += first;
  std::span<const std::size_t> left = columns;
  for (LocalLaw* law : kept) {
    const std::size_t count = law->columns().size();
    law->renumber(left.first(count));
    left = left.subspan(count);
  }
  for (std::size_t c = 0; c < laws.size(); ++c) {
    const double share = round.competition.averaging.share[c] / static_cast<double>(rounds);
    if (share > 0.0) parts.members.push_back({std::move(laws[c]), share});
  }
}

}  // namespace

std::span<const ParamInfo> auto_options() { return effort_options(); }

std::unique_ptr<QuantileModel> fit_auto(const FitInput& input, const Params& params,
                                        const Execution& how) {
  Effort effort = effort_of(params);
  SnqOptions kernel;
  kernel.kernel = parse_kernel(params.text("kernel", "gaussian"));
  const std::vector<std::size_t> x_columns = kernel_columns(input);
  const bool screens = parse_screen(params);
  if (screens && !x_columns.empty()) {
    fail(ErrorCode::kInvalidArgument, "use either screening or named columns, not both");
  }
  const AutoRows rows(input, effort.most_rows);
  const std::size_t count = rows.y.size();
  check_series(input.window, count);
  effort.folds = fold_count(count, effort);
  effort.rounds = rows.is_constant() ? 1 : round_count(count, effort);
  const JudgingRows judges(rows.data(), effort.contest_rows, split(input.seed, 3));
  const Setting setting{input, rows, effort, judges, x_columns, rows.masses(), kernel, screens};

  AutoModel::Parts parts;
  parts.features = input.x.cols();
  parts.columns = ModelColumns(input.model_columns);
  parts.units = rows.units;
  parts.rows = count;
  parts.eligible = rows.eligible;
  parts.rounds = effort.rounds;
  parts.budget = canonical_name(params.text("budget", "default"));
  parts.has_law = input.given.cols() > 0;
  if (parts.has_law) parts.law = GivenLaw::fit(input.given_form, input.given);

  std::vector<Round> rounds;
  for (std::size_t k = 0; k < effort.rounds; ++k) {
    rounds.push_back(
        train_round(setting, seed_of_round(input.seed, k), parts, of_round(how, k, effort.rounds)));
  }
  const auto& of_target = rounds.front().competition.of_target;
  const Guided guided = choose_guide(mean_average(rounds), of_target, judges, setting.masses);
  parts.loss = rows.units.scale * guided.loss;
  parts.loss_rows = judges.rows.size();
  parts.trail = mean_trail(rounds, rows.units.scale);
  for (std::size_t k = 0; k < effort.rounds; ++k) {
    keep_members(std::move(rounds[k]), effort.rounds, k == 0 ? guided.guide : std::nullopt, rows,
                 parts);
  }
  return std::make_unique<AutoModel>(std::move(parts));
}

std::unique_ptr<QuantileModel> load_auto(const TensorReader& in) { return AutoModel::load(in); }

}  // namespace tare
