// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/masses/mass_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "base/stages.h"
#include "base/strings.h"
#include "calibrate/automatic/averaging.h"
#include "calibrate/automatic/families.h"
#include "calibrate/automatic/point_masses.h"
#include "calibrate/bounds/bounds.h"
#include "data/partition.h"
#include "data/rows.h"
#include "tare/calibrate/description.h"

namespace tare {
namespace {

using namespace automatic;

constexpr std::array kMassesOptions = std::to_array<ParamInfo>({
    {"masses", "auto",
     "whether quantiles can equal the values that many targets share, for example 0, and are whole "
     "numbers if all targets are: yes, no; auto means yes for given predictions and for nrc_boost"},
});

// The features of the guide that come from the model.
constexpr double kLowLevel = 0.1;
constexpr double kHighLevel = 0.9;
// On which the guides are compared, at most.
constexpr std::size_t kComparedRows = 5000;

/// Levels to ask a model for, and where the guide's own three and those of the user are.
struct AskedLevels {
  std::vector<Level> all;  // ascending, each once
  std::array<std::size_t, 3> seen = {};
  std::vector<std::size_t> wanted;

  explicit AskedLevels(std::span<const Level> levels) : all(levels.begin(), levels.end()) {
    const std::array<Level, 3> own = {Level(kLowLevel), Level(0.5), Level(kHighLevel)};
    all.insert(all.end(), own.begin(), own.end());
    std::ranges::sort(all, [](const Level& a, const Level& b) { return a < b; });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const auto place = [&](const Level& level) {
      return static_cast<std::size_t>(std::ranges::find(all, level) - all.begin());
    };
    for (std::size_t k = 0; k < own.size(); ++k) seen[k] = place(own[k]);
    for (const Level& level : levels) wanted.push_back(place(level));
  }
};

/// The median and the width of the 80 % interval of a row.
struct Seen {
  double center = 0.0;
  double spread = 0.0;
};

Seen see(std::span<const double> quantiles, const std::array<std::size_t, 3>& seen) {
  const double width = quantiles[seen[2]] - quantiles[seen[0]];
  return {quantiles[seen[1]], std::isnan(width) ? 0.0 : width};  // of two that are infinite
}

/// Places of medians and widths, side by side; infinite ones have the outermost place.
struct SeenScales {
  RankScale center;
  RankScale spread;
  static constexpr std::size_t kKnots = 201;

  static SeenScales of(std::span<const Seen> rows) {
    const auto finite = [&](double Seen::*part) {
      std::vector<double> values;
      for (const Seen& row : rows) {
        if (std::isfinite(row.*part)) values.push_back(row.*part);
      }
      if (values.empty()) values.push_back(0.0);
      return values;
    };
    return {RankScale::of(finite(&Seen::center), kKnots),
            RankScale::of(finite(&Seen::spread), kKnots)};
  }
};

/// Rows with out-of-fold answers of a model.
struct Unseen {
  std::vector<std::size_t> rows;  // of the input, ascending
  Matrix quantiles;               // at AskedLevels::all
};

/// Which rows are left out of which fit: 0, 1, ..., or none.
struct GuidePlan {
  std::vector<std::uint32_t> fold_of_row;
  std::size_t folds = 0;
};
constexpr std::uint32_t kNoFold = 0xFFFFFFFF;

GuidePlan plan_guide(const FitInput& input, RowOrder order) {
  constexpr std::size_t kLeastFoldRows = 100;
  constexpr std::size_t kMostFoldRows = 10'000;
  constexpr std::size_t kFolds = 3;
  constexpr std::size_t kLeastHeldOut = 50;
  constexpr double kHeldOut = 0.2;
  constexpr double kMostHeldOut = 20'000.0;
  const std::vector<std::size_t> candidates = rows_to_draw_from(input);
  const std::size_t count = candidates.size();
  GuidePlan plan{std::vector<std::uint32_t>(input.x.rows(), kNoFold), 0};
  const Seed seed = split(input.seed, 4001);
  // Of a series stretches with gaps are left out later, too; of fewer rows nothing would be left.
  const std::size_t least_of_series = order == RowOrder::kTime ? 20 + 10 * input.window : 0;
  if (input.given.cols() > 0 && count >= std::max(kLeastFoldRows, least_of_series) &&
      count <= kMostFoldRows) {
    const Folds folds = order == RowOrder::kTime ? Folds::stretches(count, kFolds, input.window)
                                                 : Folds::random(count, kFolds, seed);
    for (std::size_t k = 0; k < count; ++k) plan.fold_of_row[candidates[k]] = folds.of_row[k];
    plan.folds = kFolds;
    return plan;
  }
  const double share = std::min(kHeldOut, kMostHeldOut / static_cast<double>(count + 1));
  const Partition parts = order == RowOrder::kTime ? time_partition(count, share)
                                                   : random_partition(count, share, seed);
  if (parts.second.size() < std::max(kLeastHeldOut, least_of_series)) return plan;
  for (const std::size_t k : parts.second) plan.fold_of_row[candidates[k]] = 0;
  plan.folds = 1;
  return plan;
}

Unseen answer_unseen(const FitRows& fit, const FitInput& input, const GuidePlan& plan,
                     const AskedLevels& levels, RowOrder order, const Execution& how) {
  Unseen unseen;
  for (std::size_t i = 0; i < plan.fold_of_row.size(); ++i) {
    if (plan.fold_of_row[i] != kNoFold) unseen.rows.push_back(i);
  }
  unseen.quantiles = Matrix(unseen.rows.size(), levels.all.size());
  const std::size_t gap = order == RowOrder::kTime ? input.window : 0;
  for (std::size_t fold = 0; fold < plan.folds; ++fold) {
    const InputPart kept(input, rows_outside(plan.fold_of_row, fold, gap));
    std::vector<std::size_t> asked;  // places in `unseen`
    std::vector<std::size_t> asked_rows;
    for (std::size_t k = 0; k < unseen.rows.size(); ++k) {
      if (plan.fold_of_row[unseen.rows[k]] != fold) continue;
      asked.push_back(k);
      asked_rows.push_back(unseen.rows[k]);
    }
    const InputPart left(input, asked_rows);
    const FitInput rows = left.input();
    const Prediction own = fit(kept.input(), part_of(how, fold, plan.folds + 1))
                               ->predict({rows.x, rows.given}, levels.all, quietly(how));
    for (std::size_t k = 0; k < asked.size(); ++k) {
      std::ranges::copy(own.quantiles.row(k), unseen.quantiles.row(asked[k]).begin());
    }
  }
  return unseen;
}

/// The quantiles of chosen rows at chosen columns.
Matrix part_of_table(const Matrix& all, std::span<const std::size_t> rows,
                     std::span<const std::size_t> columns) {
  Matrix part(rows.size(), columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) part(i, j) = all(rows[i], columns[j]);
  }
  return part;
}

std::vector<std::size_t> guide_columns(const FitInput& input) {
  return input.calibrate_columns.empty() ? input.model_columns : input.calibrate_columns;
}

/// The guide with the smallest loss on left-out rows; none if all increase the loss by more than a
/// thousandth.
std::optional<MassModel::Guide> choose_guide(const FitInput& input, const Unseen& unseen,
                                             const AskedLevels& levels,
                                             std::span<const PointMass> masses, RowOrder order,
                                             const Execution& how) {
  constexpr double kNoHarm = 1.001;
  constexpr std::size_t kFolds = 5;
  constexpr std::size_t kGroups = 10;
  const Seed seed = split(input.seed, 4002);
  const Matrix x = take_rows(input.x, unseen.rows, guide_columns(input));
  const std::vector<double> y = take_rows(input.y, unseen.rows);
  const std::vector<double> weight = take_rows(input.weight, unseen.rows);
  std::vector<Seen> seen_rows;
  for (std::size_t i = 0; i < y.size(); ++i) {
    seen_rows.push_back(see(unseen.quantiles.row(i), levels.seen));
  }
  SeenScales scales = SeenScales::of(seen_rows);
  RankScale target = RankScale::of(y, y.size());
  Matrix seen(y.size(), 2);
  std::vector<double> place(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    seen(i, 0) = scales.center.place(seen_rows[i].center);
    seen(i, 1) = scales.spread.place(seen_rows[i].spread);
    place[i] = target.place(y[i]);
  }
  const bool in_time = order == RowOrder::kTime;
  const auto folds_of = [&](std::size_t count, std::uint64_t stream) {
    return in_time ? Folds::stretches(y.size(), count, input.window)
                   : Folds::random(y.size(), count, split(seed, stream));
  };
  const RegressionData data{x, place, weight};
  const Folds folds = folds_of(kFolds, 1);
  const Folds groups = folds_of(kGroups, 2);
  CrossFit fit(data, folds);
  const std::size_t center = fit.add_given(seen, 0, 0.0, 1.0);
  const std::size_t spread = fit.add_given(seen, 1, 0.0, 1.0);
  const double heaviest = std::ranges::max_element(masses, {}, &PointMass::rows)->value;
  const std::vector<Candidate> candidates =
      train_mass_laws(fit, center, spread, target.place(heaviest), split(seed, 3), quietly(how));

  const std::vector<std::size_t> asked = limit_rows(y.size(), kComparedRows, 1, split(seed, 4));
  const std::vector<Level> metric = metric_levels();
  const std::vector<double> contest_y = take_rows(y, asked);
  const std::vector<double> contest_weight = take_rows(weight, asked);
  const Contest contest{contest_y, contest_weight, metric, {}};
  const Matrix without = part_of_table(unseen.quantiles, asked, levels.wanted);
  const double loss_without = mean_pinball_loss(without, contest);
  std::vector<double> values;
  for (const PointMass& mass : masses) values.push_back(mass.value);
  const bool whole = are_whole(y);

  std::optional<LocalLaw> best;
  std::string name;
  double lowest = kNoHarm * loss_without;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    LocalLaw law = LocalLaw::fit(candidates[c], fit, {}, {}, split(seed, 10 + c), quietly(how));
    Matrix guide = law.predict_left_out(fit, groups, asked, metric, how);
    for (double& value : guide.values()) value = target.value_at(value);
    Matrix guided = without;
    for (std::size_t i = 0; i < guided.rows(); ++i) {
      place_on_masses(guide.row(i), values, whole, guided.row(i));
    }
    const double loss = mean_pinball_loss(guided, contest);
    if (!(loss <= lowest)) continue;
    lowest = loss;
    best = std::move(law);
    name = candidates[c].name;
  }
  if (!best) return std::nullopt;
  Statistics program = fit.take_program();
  std::vector<std::size_t> columns = best->columns();
  program.keep_only(columns);
  best->renumber(columns);
  return MassModel::Guide{ModelColumns(guide_columns(input)),
                          std::move(program),
                          *std::move(best),
                          std::move(name),
                          std::move(values),
                          whole,
                          std::move(target),
                          std::move(scales.center),
                          std::move(scales.spread),
                          loss_without,
                          lowest};
}

}  // namespace

std::span<const ParamInfo> masses_options() { return kMassesOptions; }

MassesRule parse_masses(const Params& params) {
  const std::string text = canonical_name(params.text("masses", "auto"));
  if (text == "auto") return MassesRule::kAuto;
  if (text == "yes") return MassesRule::kYes;
  if (text == "no") return MassesRule::kNo;
  fail_option("masses", params.text("masses", ""), "is auto, yes or no");
}

void MassModel::describe(Description& description) const {
  ModelAround::describe(description);
  description.masses = {.values = guide_.masses, .whole = guide_.whole, .guide = guide_.name};
}

void MassModel::save(const TensorWriter& out) const {
  inner().save(out);
  const TensorWriter own = out.part("point_masses");
  own.value("name", guide_.name);
  own.tensor("values", guide_.masses);
  own.value("whole", guide_.whole);
  guide_.target.save(own, "target");
  guide_.center.save(own, "center");
  guide_.spread.save(own, "spread");
  own.tensor("loss", std::vector<double>{guide_.loss_without, guide_.loss});
  guide_.columns.save(own);
  guide_.statistics.save(own.part("statistics"));
  guide_.law.save(own.part("law"));
}

bool MassModel::is_in(const TensorReader& in) { return in.has_tensor("point_masses.values"); }

std::unique_ptr<MassModel> MassModel::load(const TensorReader& whole,
                                           std::unique_ptr<const QuantileModel> inner) {
  const TensorReader in = whole.part("point_masses");
  std::vector<double> masses = in.list<double>("values", Must::kAscend);
  const auto loss = in.values<double>("loss", {2});
  if (masses.empty()) fail(ErrorCode::kCorruptFile, "the model file's masses are damaged");
  ModelColumns columns = ModelColumns::load(in, inner->features());
  const std::size_t width = columns.width(inner->features());
  automatic::Statistics statistics = automatic::Statistics::load(in.part("statistics"), width, 2);
  automatic::LocalLaw law = automatic::LocalLaw::load(in.part("law"), width, statistics.columns());
  return std::make_unique<MassModel>(
      std::move(inner),
      Guide{std::move(columns), std::move(statistics), std::move(law), in.get<std::string>("name"),
            std::move(masses), in.get<bool>("whole"), RankScale::load(in, "target"),
            RankScale::load(in, "center"), RankScale::load(in, "spread"), loss[0], loss[1]});
}

Prediction MassModel::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                        const Execution& how) const {
  const AskedLevels asked(levels);
  Prediction result = inner().predict(rows, asked.all, how);
  Matrix seen(rows.x.rows(), 2);
  Matrix quantiles(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < seen.rows(); ++i) {
    const std::span<const double> row = result.quantiles.view().row(i);
    const Seen own = see(row, asked.seen);
    seen(i, 0) = guide_.center.place(own.center);
    seen(i, 1) = guide_.spread.place(own.spread);
    for (std::size_t j = 0; j < levels.size(); ++j) quantiles(i, j) = row[asked.wanted[j]];
  }
  result.quantiles = std::move(quantiles);
  Matrix storage;
  const MatrixView x = guide_.columns.select(rows.x, storage);
  Execution silent = quietly(how);
  silent.diagnostics = false;
  const Matrix statistics = guide_.statistics.compute(x, seen, silent);
  Prediction guide = guide_.law.predict(x, statistics, levels, silent);
  for (double& value : guide.quantiles.values()) value = guide_.target.value_at(value);
  for (std::size_t i = 0; i < seen.rows(); ++i) {
    automatic::place_on_masses(guide.quantiles.row(i), guide_.masses, guide_.whole,
                               result.quantiles.row(i));
  }
  return result;
}

std::unique_ptr<QuantileModel> fit_with_masses(const FitRows& fit, const FitInput& input,
                                               RowOrder order, const Execution& how) {
  std::vector<double> y;
  for (const std::size_t i : rows_to_draw_from(input)) y.push_back(input.y[i]);
  const std::vector<PointMass> masses = find_point_masses(y);
  const bool constant = !y.empty() && std::ranges::all_of(y, [&](double v) { return v == y[0]; });
  if (masses.empty() || constant) return fit(input, how);
  const GuidePlan plan = plan_guide(input, order);
  if (plan.folds == 0) return fit(input, how);
  const AskedLevels levels(metric_levels());
  const Unseen unseen = answer_unseen(fit, input, plan, levels, order, how);
  std::optional<MassModel::Guide> guide = choose_guide(input, unseen, levels, masses, order, how);
  std::unique_ptr<QuantileModel> inner = fit(input, part_of(how, plan.folds, plan.folds + 1));
  if (!guide) return inner;
  return std::make_unique<MassModel>(std::move(inner), *std::move(guide));
}

}  // namespace tare
