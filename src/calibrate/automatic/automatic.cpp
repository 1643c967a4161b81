// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/automatic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/automatic/averaging.h"
#include "calibrate/automatic/families.h"
#include "calibrate/automatic/local_law.h"
#include "calibrate/given_law.h"
#include "calibrate/row_split.h"
#include "calibrate/screening.h"
#include "calibrate/training_rows.h"
#include "data/rows.h"

namespace tare {
namespace {

using namespace automatic;

constexpr std::array kAutoOptions = std::to_array<ParamInfo>({
    {"budget", "default", "time for quality: quick, default, best"},
    {"folds", "auto", "folds of the cross-fitting, 2 to 50; auto: by the budget"},
    {"steps", "auto", "steps of training of a network; auto: by the budget"},
    {"kernel", "gaussian", "naive, epanechnikov, triangular, tricube, gaussian, laplace, knn"},
    kScreenOption,
});

constexpr std::size_t kMostPicks = 10;
constexpr std::size_t kContestRows = 5000;  // on which candidates are compared, at most
constexpr std::size_t kContestGroups = 10;
constexpr std::size_t kRowsOfAFold = 5;  // at least

Effort effort_of(const Params& params) {
  const std::string budget = canonical_name(params.text("budget", "default"));
  Effort effort;
  if (budget == "quick") {
    effort = {.folds = 5,
              .small_networks = 1,
              .large_networks = 0,
              .steps = 3000,
              .large_steps = 0,
              .trees = 50,
              .all_families = false};
  } else if (budget == "best") {
    effort = {.folds = 10,
              .small_networks = 4,
              .large_networks = 4,
              .steps = 6000,
              .large_steps = 9000,
              .trees = 300,
              .all_families = true};
  } else if (budget != "default") {
    fail(ErrorCode::kInvalidArgument, "the budget is quick, default or best, got '{}'", budget);
  }
  if (params.text("folds", "auto") != "auto") effort.folds = params.count("folds", 8, 2, 50);
  if (params.text("steps", "auto") != "auto") {
    effort.steps = params.count("steps", 4000, 1, 10'000'000);
    effort.large_steps = effort.steps;
  }
  return effort;
}

/// From the user's units of y to those of the method, robustly: heavy tails do not rule.
struct Units {
  double shift = 0.0;
  double scale = 1.0;

  static Units of(std::span<const double> y) {
    std::vector<double> sorted(y.begin(), y.end());
    std::ranges::sort(sorted);
    const auto at = [&](double share) {
      return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
    };
    constexpr double kNormalRange =
        2.5631031310892007;  // between the 10 % and 90 % of a normal law
    Units units{at(0.5), (at(0.9) - at(0.1)) / kNormalRange};
    if (!(units.scale > 0.0)) {  // most targets are equal
      units.scale = (sorted.back() - sorted.front()) / 2.0;
    }
    if (!(units.scale > 0.0) || !std::isfinite(units.scale)) units.scale = 1.0;
    return units;
  }
};

/// What was tried: kept in the model and shown by `tare inspect`.
struct Trial {
  std::string name;
  double loss = 0.0;       // of rows left out, in units of y
  double bandwidth = 0.0;  // the chosen one
  double share = 0.0;      // in the average
};

class AutoModel final : public QuantileModel {
 public:
  struct Member {
    LocalLaw law;
    double share = 0.0;
  };
  struct Parts {
    std::size_t features = 0;
    ModelColumns columns;  // that the models read
    bool has_law = false;
    GivenLaw law;
    Units units;
    Statistics statistics;
    std::vector<Member> members;
    std::vector<Trial> trail;
    std::vector<ScreenedColumn> screened;  // empty where nobody asked
    double loss = 0.0;                     // of the average, on rows left out, in units of y
    std::size_t loss_rows = 0;
    std::size_t rows = 0;
  };
  explicit AutoModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override { return parts_.has_law ? given_form().columns() : 0; }
  GivenForm given_form() const override { return parts_.law.form(); }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    parts_.columns.save(out);
    out.value("has_law", parts_.has_law);
    if (parts_.has_law) parts_.law.save(out.part("law"));
    out.tensor("units", std::vector<double>{parts_.units.shift, parts_.units.scale});
    parts_.statistics.save(out.part("statistics"));
    out.value("members", parts_.members.size());
    for (std::size_t k = 0; k < parts_.members.size(); ++k) {
      const TensorWriter member = out.part("member" + std::to_string(k));
      member.value("share", parts_.members[k].share);
      parts_.members[k].law.save(member);
    }
    Json trail = Json::array();
    for (const Trial& t : parts_.trail) trail.push_back({t.name, t.loss, t.bandwidth, t.share});
    out.value("trail", trail);
    save_screened(parts_.screened, out);
    out.value("loss", parts_.loss);
    out.value("loss_rows", parts_.loss_rows);
    out.value("calibration_rows", parts_.rows);
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    const MatrixView x = parts_.columns.select(rows.x, storage);
    const Matrix given = given_features(rows);
    const Matrix statistics = parts_.statistics.compute(x, given, how);
    Prediction result;
    for (const Member& member : parts_.members) {
      Prediction own = member.law.predict(x, statistics, levels, how);
      add(own, member.share, result);
    }
    for (std::size_t i = 0; i < result.quantiles.rows(); ++i) {
      for (double& quantile : result.quantiles.row(i)) {
        quantile = parts_.units.shift + parts_.units.scale * quantile;
      }
    }
    return result;
  }

 private:
  Matrix given_features(const Rows& rows) const {
    if (!parts_.has_law) return {};
    parts_.law.check(rows.given);
    Matrix features(rows.given.rows(), parts_.law.feature_count());
    for (std::size_t i = 0; i < features.rows(); ++i)
      parts_.law.features(rows.given.row(i), features.row(i));
    return features;
  }

  /// The average of quantiles and of effective sizes; a row is far where it is far for a member.
  static void add(Prediction& own, double share, Prediction& sum) {
    const bool first = sum.effective_n.empty();
    for (double& quantile : own.quantiles.values()) quantile *= share;
    for (double& size : own.effective_n) size *= share;
    if (first) {
      sum = std::move(own);
      return;
    }
    for (std::size_t k = 0; k < own.quantiles.values().size(); ++k) {
      sum.quantiles.values()[k] += own.quantiles.values()[k];
    }
    for (std::size_t i = 0; i < own.effective_n.size(); ++i) {
      sum.effective_n[i] += own.effective_n[i];
      sum.fallback[i] = std::max(sum.fallback[i], own.fallback[i]);
      if (sum.nearest.empty()) continue;
      sum.nearest[i] = std::max(sum.nearest[i], own.nearest[i]);
      sum.outside[i] = std::max(sum.outside[i], own.outside[i]);
    }
  }

  Parts parts_;
};

std::size_t fold_count(std::size_t rows, std::size_t wanted) {
  return std::clamp<std::size_t>(rows / kRowsOfAFold, 2, wanted);
}

/// Kernel columns as columns of what the models read.
std::vector<std::size_t> kernel_columns(const FitInput& input) {
  if (input.model_columns.empty()) return input.calibrate_columns;
  std::vector<std::size_t> places;
  for (const std::size_t j : input.calibrate_columns) {
    const auto at = std::ranges::find(input.model_columns, j);
    if (at == input.model_columns.end()) {
      fail(ErrorCode::kInvalidArgument,
           "method 'auto' calibrates only on columns that its models see");
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
      screen_columns(fit.rows().x, residual, kPermutations, seed, how);
  const std::vector<std::size_t> kept = kept_columns(screened);
  if (kept.empty()) return screened;
  candidates.push_back({"screened", first.center, {}, {}, kept});
  candidates.push_back({"screened_scale", first.center, first.log_scale, {}, kept});
  return screened;
}

/// The rows on which candidates are compared: all, or some at random.
std::vector<std::size_t> contest_rows(std::size_t rows, Seed seed) {
  Rng rng(seed);
  std::vector<std::size_t> chosen = random_permutation(rows, rng);
  if (chosen.size() > kContestRows) chosen.resize(kContestRows);
  std::ranges::sort(chosen);
  return chosen;
}

void keep_members(const Averaging& averaging, std::vector<LocalLaw>& laws,
                  AutoModel::Parts& parts) {
  const double one = 1.0 / static_cast<double>(averaging.picks.size());
  std::vector<std::size_t> columns;
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < laws.size(); ++c) {
    const auto times = std::ranges::count(averaging.picks, c);
    parts.trail[c].share = one * static_cast<double>(times);
    if (times == 0) continue;
    kept.push_back(c);
    const std::vector<std::size_t> own = laws[c].columns();
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
}

}  // namespace

std::span<const ParamInfo> auto_options() { return kAutoOptions; }

std::unique_ptr<QuantileModel> fit_auto(const FitInput& input, const Params& params,
                                        const Execution& how) {
  Effort effort = effort_of(params);
  SnqOptions snq_options;
  snq_options.kernel = parse_kernel(params.text("kernel", "gaussian"));
  const std::vector<std::size_t> x_columns = kernel_columns(input);
  const bool screens = parse_screen(params);
  if (screens && !x_columns.empty()) {
    fail(ErrorCode::kInvalidArgument, "columns are found by screening, or named: not both");
  }

  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < input.y.size(); ++i) {
    if (input.weight.empty() || input.weight[i] > 0.0) usable.push_back(i);
  }
  if (usable.size() < kMinCalibrationRows) {
    fail(ErrorCode::kBadData, "{} rows with a weight are too few, {} are the least", usable.size(),
         kMinCalibrationRows);
  }
  const TrainingRows training(input, usable);
  const Units units = Units::of(training.y);
  std::vector<double> y(training.y);
  for (double& value : y) value = (value - units.shift) / units.scale;
  const RegressionData rows{training.x, y, training.weight};

  effort.folds = fold_count(y.size(), effort.folds);
  const Folds folds = input.window > 1
                          ? Folds::stretches(y.size(), effort.folds)
                          : Folds::random(y.size(), effort.folds, split(input.seed, 1));
  CrossFit fit(rows, folds);
  AutoModel::Parts parts;
  parts.features = input.x.cols();
  parts.columns = ModelColumns(input.model_columns);
  parts.units = units;
  parts.rows = y.size();
  std::vector<Candidate> candidates;
  if (std::ranges::all_of(y, [&](double value) { return value == y.front(); })) {
    candidates.push_back({"target", {}, {}, {}});  // nothing to learn
    parts.has_law = input.given.cols() > 0;
    if (parts.has_law) parts.law = GivenLaw::fit(input.given_form, input.given);
  } else if (input.given.cols() > 0) {
    parts.has_law = true;
    parts.law = GivenLaw::fit(input.given_form, input.given);
    Matrix features(usable.size(), parts.law.feature_count());
    for (std::size_t i = 0; i < usable.size(); ++i)
      parts.law.features(input.given.row(usable[i]), features.row(i));
    const std::size_t center = fit.add_given(features, 0, units.shift, 1.0 / units.scale);
    std::optional<std::size_t> log_scale;
    if (features.cols() > 1) log_scale = fit.add_given(features, 1, std::log(units.scale), 1.0);
    candidates = train_given_families(fit, center, log_scale, split(input.seed, 2), how);
  } else {
    candidates = train_families(fit, effort, split(input.seed, 2), how);
  }

  if (screens) parts.screened = add_screened(fit, candidates, split(input.seed, 5), how);

  const std::vector<Level> levels = metric_levels();
  const std::vector<std::size_t> asked = contest_rows(y.size(), split(input.seed, 3));
  const Folds groups =
      Folds::random(y.size(), std::min(kContestGroups, y.size() / 2), split(input.seed, 4));
  const std::vector<double> asked_y = take_rows(y, asked);
  const std::vector<double> asked_weight = take_rows(rows.weight, asked);
  Contest contest{asked_y, asked_weight, levels, {}};
  std::vector<LocalLaw> laws;
  for (const Candidate& candidate : candidates) {
    if (how.progress) how.progress("calibrating " + candidate.name, 1.0);
    const Seed seed = split(input.seed, 100 + laws.size());
    laws.push_back(LocalLaw::fit(candidate, fit, x_columns, snq_options, seed, how));
    contest.quantiles.push_back(laws.back().predict_left_out(fit, groups, asked, levels, how));
    parts.trail.push_back({candidate.name,
                           units.scale * mean_pinball_loss(contest.quantiles.back(), contest),
                           laws.back().choice().bandwidth, 0.0});
  }
  const Averaging averaging = average_greedily(contest, kMostPicks);
  parts.loss = units.scale * averaging.loss.back();
  parts.loss_rows = asked.size();
  parts.statistics = fit.take_program();
  keep_members(averaging, laws, parts);
  return std::make_unique<AutoModel>(std::move(parts));
}

std::unique_ptr<QuantileModel> load_auto(const TensorReader& in) {
  constexpr std::size_t kMany = std::numeric_limits<std::uint32_t>::max();
  const auto require = [](bool sound) {
    if (!sound) fail(ErrorCode::kCorruptFile, "the model file's members are damaged");
  };
  AutoModel::Parts parts;
  parts.features = in.count("features", kMany);
  parts.columns = ModelColumns::load(in, parts.features);
  parts.has_law = in.get<bool>("has_law");
  if (parts.has_law) parts.law = GivenLaw::load(in.part("law"));
  const auto units = in.values<double>("units", {2});
  parts.units = {units[0], units[1]};
  require(std::isfinite(units[0]) && std::isfinite(units[1]) && units[1] > 0.0);
  const std::size_t width = parts.columns.width(parts.features);
  parts.statistics =
      Statistics::load(in.part("statistics"), width, parts.has_law ? parts.law.feature_count() : 0);
  const std::size_t members = in.count("members", kMostPicks);
  require(members > 0);
  for (std::size_t k = 0; k < members; ++k) {
    const TensorReader member = in.part("member" + std::to_string(k));
    const double share = member.get<double>("share");
    require(share > 0.0 && share <= 1.0);
    parts.members.push_back({LocalLaw::load(member, width, parts.statistics.columns()), share});
  }
  using Row = std::tuple<std::string, double, double, double>;
  for (const auto& [name, loss, bandwidth, share] : in.get<std::vector<Row>>("trail")) {
    parts.trail.push_back({name, loss, bandwidth, share});
  }
  parts.screened = load_screened(in, width);
  parts.loss = in.get<double>("loss");
  parts.loss_rows = in.count("loss_rows", kMany);
  parts.rows = in.count("calibration_rows", kMany);
  return std::make_unique<AutoModel>(std::move(parts));
}

}  // namespace tare
