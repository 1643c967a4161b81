// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/auto_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/fail.h"
#include "calibrate/answers/merge_diagnostics.h"
#include "calibrate/automatic/effort.h"
#include "calibrate/automatic/point_masses.h"
#include "math/bounded.h"

namespace tare::automatic {
namespace {

void add_share(Prediction own, double share, Prediction& sum) {
  merge_diagnostics(sum, own, share);
  for (double& quantile : own.quantiles.values()) quantile *= share;
  if (sum.quantiles.rows() == 0) {
    sum.quantiles = std::move(own.quantiles);
    return;
  }
  for (std::size_t k = 0; k < own.quantiles.values().size(); ++k) {
    sum.quantiles.values()[k] += own.quantiles.values()[k];
  }
}

}  // namespace

Units Units::of(std::span<const double> y) {
  std::vector<double> sorted(y.begin(), y.end());
  std::ranges::sort(sorted);
  const auto at = [&](double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  constexpr double kNormalRange =
      2.5631031310892007;  // between the 10 % and 90 % quantiles of a normal distribution
  Units units{at(0.5), (at(0.9) - at(0.1)) / kNormalRange};
  const double range = sorted.back() - sorted.front();
  if (!(units.scale > 0.0)) units.scale = range / 2.0;  // most targets are equal
  // A target that is far outside must not overflow single precision in units of the others.
  units.scale = std::max(units.scale, 1e-15 * range);
  if (!(units.scale > 0.0) || !std::isfinite(units.scale)) units.scale = 1.0;
  return units;
}

Matrix given_features(const GivenLaw& law, MatrixView given) {
  Matrix features(given.rows(), law.feature_count());
  for (std::size_t i = 0; i < features.rows(); ++i) law.features(given.row(i), features.row(i));
  return features;
}

void AutoModel::describe(Description& description) const {
  AutoTrail trail{.steps = parts_.trail,
                  .average_loss = parts_.loss,
                  .rows = parts_.loss_rows,
                  .budget = parts_.budget,
                  .trained = parts_.rows,
                  .eligible = parts_.eligible,
                  .rounds = parts_.rounds};
  if (parts_.guide) {
    trail.masses = parts_.guide->values;
    trail.guide = parts_.guide->law.name();
  }
  description.trail = std::move(trail);
  describe_screened(parts_.screened, description);
}

void AutoModel::save(const TensorWriter& out) const {
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
  if (parts_.guide) {
    const TensorWriter guide = out.part("guide");
    guide.tensor("masses", parts_.guide->masses);
    guide.tensor("values", parts_.guide->values);
    if (parts_.guide->whole) guide.value("whole", true);
    parts_.guide->law.save(guide);
  }
  Json trail = Json::array();
  for (const Trial& t : parts_.trail) trail.push_back({t.name, t.loss, t.bandwidth, t.share});
  out.value("trail", trail);
  save_screened(parts_.screened, out);
  out.value("loss", parts_.loss);
  out.value("loss_rows", parts_.loss_rows);
  out.value("calibration_rows", parts_.rows);
  if (parts_.eligible > parts_.rows) out.value("eligible_rows", parts_.eligible);
  if (parts_.rounds > 1) out.value("rounds", parts_.rounds);
  out.value("budget", parts_.budget);
}

Prediction AutoModel::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                        const Execution& how) const {
  Matrix storage;
  const MatrixView x = parts_.columns.select(rows.x, storage);
  if (parts_.has_law) parts_.law.check(rows.given);
  const Matrix given = parts_.has_law ? given_features(parts_.law, rows.given) : Matrix();
  const Matrix statistics = parts_.statistics.compute(x, given, how);
  Prediction result;
  for (const Member& member : parts_.members) {
    add_share(member.law.predict(x, statistics, levels, how), member.share, result);
  }
  for (std::size_t i = 0; i < result.quantiles.rows(); ++i) {
    for (double& quantile : result.quantiles.row(i)) {
      quantile = bounded(parts_.units.shift + parts_.units.scale * quantile);
    }
  }
  if (!parts_.guide) return result;
  const MassGuide& guide = *parts_.guide;
  const Prediction own = guide.law.predict(x, statistics, levels, how);
  for (std::size_t i = 0; i < result.quantiles.rows(); ++i) {
    keep_point_masses(own.quantiles.row(i), guide.masses, guide.values, result.quantiles.row(i));
    if (!guide.whole) continue;
    // A whole target that was at least a quantile, or at most, still is once that is rounded.
    for (double& quantile : result.quantiles.row(i)) quantile = std::round(quantile) + 0.0;
  }
  return result;
}

std::unique_ptr<AutoModel> AutoModel::load(const TensorReader& in) {
  constexpr std::size_t kMany = std::numeric_limits<std::uint32_t>::max();
  const auto require = [](bool sound) {
    if (!sound) fail(ErrorCode::kCorruptFile, "the model file's members are damaged");
  };
  Parts parts;
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
  const std::size_t members = in.count("members", kMostRounds * kMostPicks);
  require(members > 0);
  for (std::size_t k = 0; k < members; ++k) {
    const TensorReader member = in.part("member" + std::to_string(k));
    const double share = member.get<double>("share");
    require(share > 0.0 && share <= 1.0);
    parts.members.push_back({LocalLaw::load(member, width, parts.statistics.columns()), share});
  }
  if (in.has_tensor("guide.masses")) {
    const TensorReader guide = in.part("guide");
    std::vector<double> masses = guide.list<double>("masses", Must::kAscend);
    std::vector<double> values = guide.values<double>("values", {masses.size()}, Must::kAscend);
    require(!masses.empty());
    parts.guide =
        MassGuide{LocalLaw::load(guide, width, parts.statistics.columns()), std::move(masses),
                  std::move(values), guide.has_value("whole") && guide.get<bool>("whole")};
  }
  using Row = std::tuple<std::string, double, double, double>;
  for (const auto& [name, loss, bandwidth, share] : in.get<std::vector<Row>>("trail")) {
    parts.trail.push_back({name, loss, bandwidth, share});
  }
  parts.screened = load_screened(in, width);
  parts.loss = in.get<double>("loss");
  parts.loss_rows = in.count("loss_rows", kMany);
  parts.rows = in.count("calibration_rows", kMany);
  parts.eligible = in.has_value("eligible_rows") ? in.count("eligible_rows", kMany) : parts.rows;
  if (in.has_value("rounds")) parts.rounds = in.count("rounds", kMostRounds);
  require(parts.rounds > 0);
  if (in.has_value("budget")) parts.budget = in.get<std::string>("budget");
  return std::make_unique<AutoModel>(std::move(parts));
}

}  // namespace tare::automatic
