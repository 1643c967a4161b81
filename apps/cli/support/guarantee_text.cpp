// SPDX-License-Identifier: BSD-3-Clause
#include "support/guarantee_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/strings.h"
#include "calibrate/guarantee/guarantee_folds.h"

namespace tare::cli {
namespace {

bool is_cross(const GuaranteedModel& model) { return model.folds() > 1; }

/// What the guarantee costs, as a share of the CheckScore without it; not finite where a method's
/// own quantiles are not.
double relative_cost(const GuaranteedModel::Cost& cost) {
  return cost.without > 0.0 ? cost.with / cost.without - 1.0 : 0.0;
}

std::string cost_text(const GuaranteedModel::Cost& cost) {
  const double change = relative_cost(cost);
  if (!std::isfinite(change))
    return "the CheckScore is infinite, as the method's own quantiles are";
  std::string text =
      fmt::format("the adjusted levels change the CheckScore by {:+.2f} %", 100.0 * change);
  if (cost.levels < 100) {
    text += fmt::format(", over the {} of 100 levels that are kept", cost.levels);
  }
  return text;
}

/// Whether the ranked rows are enough for both ends of a central interval.
bool is_kept(const GuaranteedModel& model, double confidence) {
  const auto [low, high] = interval_levels(confidence);
  const Mass fresh = model.most_fresh(model.overall());
  return model.overall().keeps(low, fresh) && model.overall().keeps(high, fresh);
}

bool is_infinite(const GuaranteedModel& model, double confidence) {
  return model.outer_levels() == OuterLevels::kInfinite && !is_kept(model, confidence);
}

/// What a central interval is known to cover on average, of one model or of several that agree.
double known_coverage(const GuaranteedModel& model, double confidence) {
  if (is_infinite(model, confidence)) return 1.0;
  const auto [low, high] = interval_levels(confidence);
  const Mass fresh = model.most_fresh(model.overall());
  const Mass ranked = model.overall().mass();
  const Mass all = ranked + fresh;
  const Mass missed_below = std::max(low.rank_below(all), fresh);
  const Mass up_to = std::min(high.rank(all), ranked);
  return up_to > missed_below ? static_cast<double>(up_to - missed_below) / static_cast<double>(all)
                              : 0.0;
}

/// What is proven for a central interval of cross: each of its ends misses at most so much.
double proven_coverage(const GuaranteedModel& model, double confidence) {
  if (is_infinite(model, confidence)) return 1.0;
  const std::size_t rows = model.overall().rows();
  const double least = 1.0 / static_cast<double>(rows + 1);
  const double alpha = std::max(interval_levels(confidence).first.value(), least);
  const double missed = cross_miss_bound(rows, model.folds(), alpha);
  return std::max(0.0, 1.0 - 2.0 * missed);
}

std::string by_confidence(const GuaranteedModel& model, auto&& coverage) {
  std::vector<std::string> items;
  for (const double confidence : {0.5, 0.8, 0.9, 0.95, 0.99}) {
    std::string item = fmt::format("{}: {:.4f}", confidence, coverage(model, confidence));
    if (is_infinite(model, confidence)) {
      item = fmt::format("{}: 1 (infinite)", confidence);
    } else if (!is_kept(model, confidence)) {
      item += " (too few rows for more)";
    }
    items.push_back(std::move(item));
  }
  return join(items, ", ");
}

std::string no_bound_text() {
  return "no bound is proven for rows in time order or of unequal weight";
}

std::string cross_note(const GuaranteedModel& model) {
  const std::string proven = model.has_bound() ? fmt::format("at least {:.4g} % is proven",
                                                             100.0 * proven_coverage(model, 0.9))
                                               : no_bound_text();
  return fmt::format(
      "guarantee: {} rows ranked, each by the one of {} models that has not seen it. The 90 % "
      "interval: {}, {:.4g} % is what it gives where the models agree; of the rows of the fit, "
      "which all models but one have seen, it covers {:.4g} %",
      model.overall().rows(), model.folds(), proven, 100.0 * known_coverage(model, 0.9),
      100.0 * model.seen_coverage());
}

void warn_about_groups(const GuaranteedModel& model, const GroupColumn& column,
                       const Common& common) {
  std::vector<std::string> small;
  for (std::size_t g = 0; g < column.values().size(); ++g) {
    if (model.has_ranks(static_cast<std::uint32_t>(g))) continue;
    const auto rows = g < model.group_rows().size() ? model.group_rows()[g] : 0;
    small.push_back(fmt::format("'{}' has {}", column.values()[g], rows));
  }
  if (small.empty()) return;
  constexpr std::size_t kNamed = 5;
  const std::size_t count = small.size();
  if (count > kNamed) small.resize(kNamed);
  warn(common, fmt::format("{} of {} groups have fewer than the {} {} rows that a 90 % "
                           "interval needs; the ranks of all rows answer them, and nothing "
                           "is guaranteed for them: {}{}",
                           count, column.values().size(), kRowsForNinety,
                           is_cross(model) ? "ranked" : "held-out", join(small, ", "),
                           count > kNamed ? ", ..." : ""));
}

}  // namespace

std::string guarantee_note(const GuaranteedModel& model, std::size_t all) {
  const std::string assumes = guarantee_assumes(model);
  const std::string condition = assumes.empty() ? "" : ". It takes for granted that " + assumes;
  if (is_cross(model)) return cross_note(model) + condition;
  const std::size_t rows = model.overall().rows();
  return fmt::format("guarantee: {} rows held out ({:.3g} %); on these {}{}", rows,
                     100.0 * static_cast<double>(rows) / static_cast<double>(all),
                     cost_text(model.cost()), condition);
}

Json guarantee_json(const GuaranteedModel& model, std::size_t rows) {
  Json json = {{"form", is_cross(model) ? "cross" : "split"},
               {"rows", model.overall().rows()},
               {"groups", model.group_rows().size()}};
  if (is_cross(model)) {
    json["folds"] = model.folds();
    json["proven_coverage_90"] =
        model.has_bound() ? Json(proven_coverage(model, 0.9)) : Json(nullptr);
    json["agreed_coverage_90"] = known_coverage(model, 0.9);
    json["seen_coverage_90"] = model.seen_coverage();
    return json;
  }
  json["share"] = static_cast<double>(model.overall().rows()) / static_cast<double>(rows);
  json["check_score_lost"] = relative_cost(model.cost());
  json["levels"] = model.cost().levels;
  return json;
}

void warn_about_guarantee(const GuaranteedModel& model, const GroupColumn& groups,
                          const Common& common) {
  warn_about_groups(model, groups, common);
  if (!is_kept(model, 0.9)) {
    const bool infinite = is_infinite(model, 0.9);
    warn(common, fmt::format("the 90 % interval {}: the largest weight is more than a twentieth of "
                             "all that is ranked",
                             infinite ? "is infinite" : "is not guaranteed to cover 90 %"));
  }
}

std::string guarantee_form(const GuaranteedModel& model) {
  if (!is_cross(model)) return fmt::format("split, {} rows held out", model.overall().rows());
  return fmt::format("cross, {} folds, {} rows ranked", model.folds(), model.overall().rows());
}

std::string guarantee_delivers(const GuaranteedModel& model) {
  const std::string known = by_confidence(model, known_coverage);
  return is_cross(model) ? known + " (where the folds' models agree)" : known;
}

std::string guarantee_bound(const GuaranteedModel& model) {
  if (!is_cross(model)) return {};
  return model.has_bound() ? by_confidence(model, proven_coverage) : no_bound_text();
}

std::string guarantee_assumes(const GuaranteedModel& model) {
  if (model.given() == 0) return {};
  return "the model behind the given predictions was not trained on the rows of this fit";
}

std::string guarantee_shift(const GuaranteedModel& model) {
  if (model.shift() == nullptr) return {};
  return fmt::format(
      "ranks are weighted towards the rows of --shift-to, by an estimate; {:.0f} "
      "effective rows were left",
      model.shift()->effective_rows());
}

std::string guarantee_groups(const GuaranteedModel& model, const GroupColumn& column) {
  constexpr std::size_t kNamed = 20;
  std::vector<std::string> items;
  for (std::size_t g = 0; g < std::min(kNamed, column.values().size()); ++g) {
    const auto rows = g < model.group_rows().size() ? model.group_rows()[g] : 0;
    const bool own = model.has_ranks(static_cast<std::uint32_t>(g));
    items.push_back(
        fmt::format("{} ({} rows{})", column.values()[g], rows, own ? "" : ": as over all rows"));
  }
  if (column.values().size() > kNamed) items.emplace_back("...");
  return fmt::format("{}: {}", column.name(), join(items, ", "));
}

}  // namespace tare::cli
