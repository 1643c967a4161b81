// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/automatic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/automatic/auto_model.h"
#include "calibrate/automatic/averaging.h"
#include "calibrate/automatic/families.h"
#include "calibrate/automatic/point_masses.h"
#include "calibrate/bounds/bounds.h"
#include "calibrate/features/screening.h"
#include "calibrate/rows/row_split.h"
#include "calibrate/rows/training_rows.h"
#include "data/partition.h"
#include "data/rows.h"

namespace tare {
namespace {

using namespace automatic;

constexpr std::array kAutoOptions = std::to_array<ParamInfo>({
    {"budget", "default", "how much time to spend on accuracy: quick, default, best"},
    {"time", "none",
     "how long the fit may take, such as 30s, 2m or 1h, in place of a budget: the largest budget "
     "that is done by then. The answers are those of that budget"},
    {"folds", "auto", "number of folds of cross-fitting, 2 to 50; auto: set by the budget"},
    {"most_rows", "auto",
     "number of rows to learn from, 100 or more: where there are more, some at random, of a series "
     "the last ones; auto: 200,000, all with the budget best"},
    {"steps", "auto", "training steps of a network; auto: set by the budget"},
    {"ensemble", "1",
     "number of such models that the caller averages; each then trains fewer networks"},
    {"kernel", "gaussian",
     "kernel of the distance: naive, epanechnikov, triangular, tricube, gaussian, laplace, knn"},
    kScreenOption,
});

constexpr std::size_t kContestGroups = 10;
constexpr std::size_t kRowsOfAFold = 5;  // at least

Effort effort_of(const Params& params) {
  const std::string budget = canonical_name(params.text("budget", "default"));
  Effort effort;
  if (budget == "quick") {
    effort = {.folds = 5,
              .folds_of_many = 5,
              .rungs = 1,
              .processes = false,
              .trees = 20,
              .all_families = false,
              .smooth = false};
  } else if (budget == "half") {  // of the fits for the bands (Method::half_params)
    effort = {.folds = 3,
              .folds_of_many = 3,
              .rungs = 1,
              .processes = false,
              .trees = 25,
              .all_families = false,
              .smooth = false,
              .rough = true,
              .contest_rows = 500};
  } else if (budget == "proof") {  // of a second model (Method::proof_params)
    effort = {.folds = 3, .folds_of_many = 3, .trees = 30, .smooth = false, .contest_rows = 2000};
  } else if (budget == "best") {
    effort = {.folds = 10,
              .folds_of_many = 10,
              .folds_of_most = 10,
              .sure_units = 128,
              .members = 4,
              .trees = 300,
              .most_rows = std::numeric_limits<std::size_t>::max()};
  } else if (budget != "default") {
    fail_option("budget", budget, "must be quick, default or best");
  }
  if (params.text("folds", "auto") != "auto") {
    effort.folds = params.count("folds", 8, 2, 50);
    effort.folds_of_many = effort.folds_of_most = effort.folds;
  }
  if (params.text("most_rows", "auto") != "auto") {
    effort.most_rows = params.count("most_rows", effort.most_rows, 100, 4'000'000'000);
  }
  if (params.text("steps", "auto") != "auto") {
    effort.steps = params.count("steps", 4000, 1, 10'000'000);
  }
  const std::size_t ensemble = params.count("ensemble", 1, 1, 1000);
  const auto shared = [&](std::size_t count) { return (count + ensemble - 1) / ensemble; };
  effort.members = shared(effort.members);
  effort.trees = std::max(std::min<std::size_t>(effort.trees, 50), shared(effort.trees));
  return effort;
}

std::size_t fold_count(std::size_t rows, const Effort& effort) {
  constexpr std::size_t kManyForFolds = 4'000;
  constexpr std::size_t kMostForFolds = 40'000;
  std::size_t wanted = effort.folds;
  if (rows > kManyForFolds) wanted = effort.folds_of_many;
  if (rows > kMostForFolds) wanted = effort.folds_of_most;
  return std::clamp<std::size_t>(rows / kRowsOfAFold, 2, wanted);
}

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

/// Which columns of x matter to the first candidate's residuals; those that do make two candidates
/// more.
std::vector<ScreenedColumn> add_screened(const CrossFit& fit, std::vector<Candidate>& candidates,
                                         Seed seed, const Execution& how) {
  constexpr std::size_t kPermutations = 199;
  const Candidate first = candidates.front();
  if (!first.center) return {};
  std::vector<double> residual(fit.rows().y.begin(), fit.rows().y.end());
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= fit.column(*first.center)[i];
  std::vector<ScreenedColumn> screened =
      screen_columns(fit.rows().x, residual, kPermutations, seed, how, fit.folds().gap);
  const std::vector<std::size_t> kept = kept_columns(screened);
  if (kept.empty()) return screened;
  candidates.push_back({"screened", first.center, {}, {}, kept});
  candidates.push_back({"screened_scale", first.center, first.log_scale, {}, kept});
  return screened;
}

/// At most `most` of the rows.
std::vector<std::size_t> at_most(std::size_t most, const std::vector<std::size_t>& rows,
                                 const FitInput& input) {
  std::vector<std::size_t> chosen =
      limit_rows(rows.size(), most, input.window, split(input.seed, 7));
  for (std::size_t& row : chosen) row = rows[row];
  return chosen;
}

/// The rows of a fit that count, in the units of the method.
struct AutoRows {
  std::size_t eligible = 0;         // rows of the input that have a weight
  std::vector<std::size_t> usable;  // those in use
  TrainingRows training;
  Units units;
  std::vector<double> y;

  AutoRows(const FitInput& input, std::size_t most) : AutoRows(input, counting_rows(input), most) {}

  RegressionData data() const { return {training.x, y, training.weight}; }
  /// In units of y: converting back from units of the method would add rounding errors.
  std::vector<double> mass_values() const {
    std::vector<double> values;
    for (const PointMass& mass : find_point_masses(training.y)) values.push_back(mass.value);
    return values;
  }
  std::vector<double> masses() const {
    std::vector<double> own = mass_values();
    for (double& value : own) value = in_units(value);
    return own;
  }
  bool is_constant() const {
    return std::ranges::all_of(y, [&](double value) { return value == y.front(); });
  }

 private:
  AutoRows(const FitInput& input, const std::vector<std::size_t>& counting, std::size_t most)
      : eligible(counting.size()),
        usable(at_most(most, counting, input)),
        training(input, usable),
        units(Units::of(training.y)) {
    for (const double value : training.y) y.push_back(in_units(value));
  }
  double in_units(double value) const { return (value - units.shift) / units.scale; }
  static std::vector<std::size_t> counting_rows(const FitInput& input) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < input.y.size(); ++i) {
      if (input.weight.empty() || input.weight[i] > 0.0) rows.push_back(i);
    }
    if (rows.size() < kMinCalibrationRows) {
      fail(ErrorCode::kBadData, "{} rows with a weight are too few: at least {} are needed",
           rows.size(), kMinCalibrationRows);
    }
    return rows;
  }
};

/// Trains the models of the candidates that the given columns permit.
std::vector<Candidate> make_candidates(const FitInput& input, const AutoRows& rows,
                                       const Effort& effort, CrossFit& fit, AutoModel::Parts& parts,
                                       const Execution& how) {
  parts.has_law = input.given.cols() > 0;
  if (parts.has_law) parts.law = GivenLaw::fit(input.given_form, input.given);
  if (rows.is_constant()) return {{"target", {}, {}, {}}};  // nothing to learn
  const Seed seed = split(input.seed, 2);
  if (!parts.has_law) return train_families(fit, effort, seed, how);
  const Matrix features = given_features(parts.law, take_rows(input.given, rows.usable));
  const double scale = rows.units.scale;
  const std::size_t center = fit.add_given(features, 0, rows.units.shift, 1.0 / scale);
  std::optional<std::size_t> log_scale;
  if (features.cols() > 1) log_scale = fit.add_given(features, 1, std::log(scale), 1.0);
  return train_given_families(fit, center, log_scale, seed, how);
}

/// Calibrates each candidate, and compares them on left-out rows.
struct Competition {
  std::vector<LocalLaw> laws;
  std::vector<Trial> trail;  // losses in units of the method
  Averaging averaging;
  std::optional<std::size_t> guide;  // the candidate that decides which quantiles equal a mass
  double loss = 0.0;                 // of the average, guided or not
  std::size_t rows = 0;
};

/// Of the candidates for the target itself, the one whose masses reduce the loss of the average
/// most; none if all increase it. A quantile of an average of two distributions of counts can lie
/// between two counts, which is wrong but costs nothing in pinball loss; therefore an increase by a
/// thousandth is accepted.
void choose_guide(std::span<const Candidate> candidates, const Contest& contest,
                  std::span<const double> masses, Competition& result) {
  constexpr double kNoHarm = 1.001;
  result.loss = result.averaging.loss;
  double most = kNoHarm * result.loss;
  if (masses.empty()) return;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (candidates[c].center) continue;
    Matrix guided = result.averaging.average;
    for (std::size_t i = 0; i < guided.rows(); ++i) {
      keep_point_masses(contest.quantiles[c].row(i), masses, masses, guided.row(i));
    }
    const double loss = mean_pinball_loss(guided, contest);
    if (loss > most) continue;
    most = loss;
    result.loss = loss;
    result.guide = c;
  }
}

Competition compete(std::span<const Candidate> candidates, const CrossFit& fit,
                    std::span<const std::size_t> x_columns, std::span<const double> masses,
                    const SnqOptions& kernel, std::size_t most_rows, Seed seed,
                    const Execution& how) {
  const RegressionData& rows = fit.rows();
  const std::vector<Level> levels = metric_levels();
  const std::vector<std::size_t> asked = limit_rows(rows.y.size(), most_rows, 1, split(seed, 3));
  const std::size_t group_count = std::min(kContestGroups, rows.y.size() / 2);
  const Folds groups = fit.folds().in_time()
                           ? Folds::stretches(rows.y.size(), group_count, fit.folds().gap)
                           : Folds::random(rows.y.size(), group_count, split(seed, 4));
  const std::vector<double> y = take_rows(rows.y, asked);
  const std::vector<double> weight = take_rows(rows.weight, asked);
  Contest contest{y, weight, levels, {}};
  Competition result;
  result.rows = asked.size();
  for (const Candidate& candidate : candidates) {
    if (how.progress) how.progress("calibrating " + candidate.name, 1.0);
    const Seed own = split(seed, 100 + result.laws.size());
    SnqOptions options = kernel;
    // Expected ranks answer between two values, where a shared value can be the only right answer.
    if (candidate.center && masses.empty()) options.ranks = Ranks::kExpected;
    const LocalLaw& law =
        result.laws.emplace_back(LocalLaw::fit(candidate, fit, x_columns, options, own, how));
    contest.quantiles.push_back(law.predict_left_out(fit, groups, asked, levels, how));
    result.trail.push_back({candidate.name, mean_pinball_loss(contest.quantiles.back(), contest),
                            law.choice().bandwidth, 0.0});
  }
  result.averaging = average_in_bags(contest, kMostPicks, split(seed, 6), how);
  choose_guide(candidates, contest, masses, result);
  return result;
}

/// Moves the kept candidates and statistics into the model.
void keep_members(Competition& competition, const AutoRows& rows, AutoModel::Parts& parts) {
  std::vector<LocalLaw>& laws = competition.laws;
  std::vector<std::size_t> columns;
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < laws.size(); ++c) {
    parts.trail[c].share = competition.averaging.share[c];
    if (parts.trail[c].share == 0.0) continue;
    kept.push_back(c);
    const std::vector<std::size_t> own = laws[c].columns();
    columns.insert(columns.end(), own.begin(), own.end());
  }
  if (competition.guide) {
    parts.guide = MassGuide{laws[*competition.guide], rows.masses(), rows.mass_values(),
                            are_whole(rows.training.y)};
    const std::vector<std::size_t> own = parts.guide->law.columns();
    columns.insert(columns.end(), own.begin(), own.end());
  }
  parts.statistics.keep_only(columns);
  std::size_t next = 0;
  for (const std::size_t c : kept) {
    const std::size_t count = laws[c].columns().size();
    laws[c].renumber(std::span<const std::size_t>(columns).subspan(next, count));
    next += count;
    parts.members.push_back({std::move(laws[c]), parts.trail[c].share});
  }
  if (parts.guide) parts.guide->law.renumber(std::span<const std::size_t>(columns).subspan(next));
}

}  // namespace

std::span<const ParamInfo> auto_options() { return kAutoOptions; }

std::unique_ptr<QuantileModel> fit_auto(const FitInput& input, const Params& params,
                                        const Execution& how) {
  Effort effort = effort_of(params);
  SnqOptions options;
  options.kernel = parse_kernel(params.text("kernel", "gaussian"));
  const std::vector<std::size_t> x_columns = kernel_columns(input);
  const bool screens = parse_screen(params);
  if (screens && !x_columns.empty()) {
    fail(ErrorCode::kInvalidArgument, "use either screening or named columns, not both");
  }
  const AutoRows rows(input, effort.most_rows);
  check_series(input.window, rows.y.size());
  const RegressionData data = rows.data();
  effort.folds = fold_count(data.y.size(), effort);
  const Folds folds = input.window > 1
                          ? Folds::stretches(data.y.size(), effort.folds, input.window)
                          : Folds::random(data.y.size(), effort.folds, split(input.seed, 1));
  CrossFit fit(data, folds);

  AutoModel::Parts parts;
  parts.features = input.x.cols();
  parts.columns = ModelColumns(input.model_columns);
  parts.units = rows.units;
  parts.rows = data.y.size();
  parts.eligible = rows.eligible;
  parts.budget = canonical_name(params.text("budget", "default"));
  std::vector<Candidate> candidates = make_candidates(input, rows, effort, fit, parts, how);
  if (screens) parts.screened = add_screened(fit, candidates, split(input.seed, 5), how);

  Competition competition = compete(candidates, fit, x_columns, rows.masses(), options,
                                    effort.contest_rows, input.seed, how);
  parts.trail = std::move(competition.trail);
  for (Trial& trial : parts.trail) trial.loss *= rows.units.scale;
  parts.loss = rows.units.scale * competition.loss;
  parts.loss_rows = competition.rows;
  parts.statistics = fit.take_program();
  keep_members(competition, rows, parts);
  return std::make_unique<AutoModel>(std::move(parts));
}

std::unique_ptr<QuantileModel> load_auto(const TensorReader& in) { return AutoModel::load(in); }

}  // namespace tare
