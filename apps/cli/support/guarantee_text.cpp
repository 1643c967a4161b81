// SPDX-License-Identifier: BSD-3-Clause
#include "support/guarantee_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/strings.h"
#include "support/bar.h"

namespace tare::cli {
namespace {

bool is_cross(const GuaranteeDescription& guarantee) {
  return guarantee.form == GuaranteeForm::kCross;
}

bool is_loose(const GuaranteeDescription& guarantee) {
  return guarantee.form == GuaranteeForm::kLoose;
}

/// Whether ranks differ from row to row.
bool is_rowwise(const GuaranteeDescription& guarantee) {
  return guarantee.form == GuaranteeForm::kLocal || guarantee.form == GuaranteeForm::kConditional;
}

const char* form_name(const GuaranteeDescription& guarantee) {
  constexpr const char* kNames[] = {"split", "cross", "local", "conditional", "loose"};
  return kNames[static_cast<std::size_t>(guarantee.form)];
}

std::string conditions_text(const GuaranteeDescription& guarantee) {
  return fmt::format("{} ({} independent functions of a row)", join(guarantee.conditions, ", "),
                     guarantee.functions);
}

std::string rowwise_note(const Description& model) {
  const GuaranteeDescription& guarantee = *model.guarantee;
  if (guarantee.local) {
    return fmt::format("guarantee: {} rows ranked, {} other held-out rows chose the kernel; {}",
                       guarantee.rows, guarantee.local->tuned_on, guarantee_near(model));
  }
  return fmt::format(
      "guarantee: {} rows held out; levels hold on average also under reweightings of rows by {}",
      guarantee.rows, conditions_text(guarantee));
}

/// The relative increase of the CheckScore by the guarantee. It is not finite if the method's own
/// quantiles are not.
double relative_cost(const GuaranteeCost& cost) {
  return cost.without > 0.0 ? cost.with / cost.without - 1.0 : 0.0;
}

std::string cost_text(const GuaranteeCost& cost) {
  const double change = relative_cost(cost);
  if (!std::isfinite(change))
    return "the CheckScore is infinite, because the method's own quantiles are";
  std::string text =
      fmt::format("the adjusted levels change the CheckScore by {:+.2f} %", 100.0 * change);
  if (cost.levels < 100) {
    text += fmt::format(", over the {} of 100 levels that are kept", cost.levels);
  }
  return text;
}

/// `coverage` reads a member of IntervalCoverage: `on_average` or `proven`.
std::string by_confidence(const GuaranteeDescription& guarantee, auto&& coverage) {
  std::vector<std::string> items;
  for (const IntervalCoverage& interval : guarantee.intervals) {
    std::string item = fmt::format("{}: {:.4f}", interval.confidence, coverage(interval));
    if (interval.infinite) {
      item = fmt::format("{}: 1 (infinite)", interval.confidence);
    } else if (coverage(interval) == 0.0) {
      item = fmt::format("{}: nothing", interval.confidence);
    } else if (!interval.kept) {
      item += " (too few rows for more)";
    }
    items.push_back(std::move(item));
  }
  return join(items, ", ");
}

std::string no_bound_text() {
  return "no bound is proven for rows in time order, in groups or of unequal weight";
}

std::string cross_note(const GuaranteeDescription& guarantee) {
  const IntervalCoverage& ninety = guarantee.at(0.9);
  const std::string proven =
      ninety.proven ? fmt::format("at least {:.4g} % is proven", 100.0 * *ninety.proven)
                    : no_bound_text();
  return fmt::format(
      "guarantee: {} rows ranked, each by the one of {} models that was not trained on it. "
      "Coverage of the 90 % interval: {}; {:.4g} % if the models agree; {:.4g} % on the rows of "
      "the fit, on which all models but one were trained",
      guarantee.rows, guarantee.folds, proven, 100.0 * ninety.on_average,
      100.0 * guarantee.seen_coverage.value_or(0.0));
}

/// What is proven of a split that keeps less than its level.
std::string near_note(const GuaranteeDescription& guarantee) {
  const IntervalCoverage& ninety = guarantee.at(0.9);
  if (!guarantee.own_levels || !guarantee.groups.empty() || !ninety.proven) return {};
  if (*ninety.proven >= ninety.confidence) return {};
  return fmt::format(
      "a 90 % interval is proven to cover at least {:.3g} % (--guarantee split proves 90 %); ",
      100.0 * *ninety.proven);
}

std::string loose_note(const GuaranteeDescription& guarantee) {
  const std::string ranks =
      fmt::format("a second model ranks {} rows that it was not trained on", guarantee.rows);
  if (!guarantee.groups.empty()) {
    return fmt::format("guarantee: {}; coverage is proven within each group of at least {} of them",
                       ranks, guarantee.rows_for_own_ranks);
  }
  const IntervalCoverage& ninety = guarantee.at(0.9);
  if (!ninety.proven) return fmt::format("guarantee: {}; no coverage is proven", ranks);
  return fmt::format(
      "guarantee: a 90 % interval is proven to cover at least {:.3g} %: {}, and all rows train the "
      "first (--guarantee split proves more, and costs these rows)",
      100.0 * *ninety.proven, ranks);
}

void warn_about_groups(const GuaranteeDescription& guarantee, const Common& common) {
  std::vector<std::string> small;
  for (const GuaranteeGroup& group : guarantee.groups) {
    if (group.has_own_ranks) continue;
    small.push_back(fmt::format("'{}' has {}", group.name, group.rows));
  }
  if (small.empty()) return;
  constexpr std::size_t kNamed = 5;
  const std::size_t count = small.size();
  if (count > kNamed) small.resize(kNamed);
  warn(common,
       fmt::format("{} of {} groups have fewer than the {} {} rows that a 90 % interval needs; "
                   "they use the ranks of all rows, and nothing is guaranteed for them: {}{}",
                   count, guarantee.groups.size(), guarantee.rows_for_own_ranks,
                   is_cross(guarantee) ? "ranked" : "held-out", join(small, ", "),
                   count > kNamed ? ", ..." : ""));
}

}  // namespace

std::string guarantee_near(const Description& model) {
  if (!model.guarantee->local) return {};
  const LocalGuaranteeDescription& local = *model.guarantee->local;
  if (std::isinf(local.bandwidth)) {
    return "no feature was found on which the scores depend, so that rows rank alike everywhere, "
           "as with split";
  }
  std::vector<std::string> names;
  for (const std::size_t column : local.columns) names.push_back(model.feature_name(column));
  if (local.own_median) names.emplace_back("the model's median");
  if (local.own_spread) names.emplace_back("the model's spread");
  return fmt::format("rows near in {}, {} kernel, bandwidth {:.3g}, about {:.0f} rows near a row",
                     join(names, ", "), local.kernel, local.bandwidth, local.usual_rows);
}

std::string guarantee_note(const Description& model) {
  const GuaranteeDescription& guarantee = *model.guarantee;
  const std::string assumes = guarantee_assumes(guarantee);
  const std::string condition = assumes.empty() ? "" : ". It assumes that " + assumes;
  if (is_cross(guarantee)) return cross_note(guarantee) + condition;
  if (is_rowwise(guarantee)) return rowwise_note(model) + condition;
  if (is_loose(guarantee)) return loose_note(guarantee) + condition;
  return fmt::format("guarantee: {} rows held out ({:.3g} %); {}on these {}{}", guarantee.rows,
                     100.0 * static_cast<double>(guarantee.rows) / static_cast<double>(model.rows),
                     near_note(guarantee), cost_text(*guarantee.cost), condition);
}

Json guarantee_json(const Description& model) {
  const GuaranteeDescription& guarantee = *model.guarantee;
  Json json = {{"form", form_name(guarantee)},
               {"rows", guarantee.rows},
               {"groups", guarantee.groups.size()}};
  if (is_cross(guarantee)) {
    const IntervalCoverage& ninety = guarantee.at(0.9);
    json["folds"] = guarantee.folds;
    json["proven_coverage_90"] = ninety.proven ? Json(*ninety.proven) : Json(nullptr);
    json["agreed_coverage_90"] = ninety.on_average;
    json["seen_coverage_90"] = guarantee.seen_coverage.value_or(0.0);
    return json;
  }
  if (is_loose(guarantee)) {
    const IntervalCoverage& ninety = guarantee.at(0.9);
    const bool known = ninety.proven && guarantee.groups.empty();
    json["proven_coverage_90"] = known ? Json(*ninety.proven) : Json(nullptr);
    return json;
  }
  json["share"] = static_cast<double>(guarantee.rows) / static_cast<double>(model.rows);
  if (is_rowwise(guarantee)) return json;
  if (guarantee.own_levels) {
    const IntervalCoverage& ninety = guarantee.at(0.9);
    const bool known = ninety.proven && guarantee.groups.empty();
    json["proven_coverage_90"] = known ? Json(*ninety.proven) : Json(nullptr);
  }
  json["check_score_lost"] = relative_cost(*guarantee.cost);
  json["levels"] = guarantee.cost->levels;
  return json;
}

void warn_about_guarantee(const GuaranteeDescription& guarantee, const Common& common) {
  warn_about_groups(guarantee, common);
  const IntervalCoverage& ninety = guarantee.at(0.9);
  if (ninety.kept) return;
  if (is_loose(guarantee)) {
    warn(common,
         "the 90 % interval rests on the outermost ranked rows: the largest weight is a large part "
         "of the total weight of these rows");
    return;
  }
  warn(common, fmt::format("the 90 % interval {}: the largest weight is more than a twentieth of "
                           "the total weight of the ranked rows",
                           ninety.infinite ? "is infinite" : "is not guaranteed to cover 90 %"));
}

std::string guarantee_form(const GuaranteeDescription& guarantee) {
  if (guarantee.form == GuaranteeForm::kConditional) {
    return fmt::format("conditional on {}, {} rows held out", conditions_text(guarantee),
                       guarantee.rows);
  }
  if (guarantee.form == GuaranteeForm::kLocal) {
    return fmt::format("local{}, {} rows ranked", guarantee.local->fixed ? ", fixed" : "",
                       guarantee.rows);
  }
  if (is_loose(guarantee)) {
    return fmt::format("loose, {} rows ranked by a second model", guarantee.rows);
  }
  if (!is_cross(guarantee)) {
    return fmt::format("split{}, {} rows held out",
                       guarantee.own_levels ? ", the model's own levels where the ranks allow" : "",
                       guarantee.rows);
  }
  return fmt::format("cross, {} folds, {} rows ranked", guarantee.folds, guarantee.rows);
}

std::string guarantee_delivers(const GuaranteeDescription& guarantee) {
  const std::string known = by_confidence(
      guarantee, [](const IntervalCoverage& interval) { return interval.on_average; });
  if (is_rowwise(guarantee)) return known + " (where the held-out rows permit it)";
  if (guarantee.own_levels) return "at least " + known;
  return is_cross(guarantee) ? known + " (where the folds' models agree)" : known;
}

std::string guarantee_bound(const GuaranteeDescription& guarantee) {
  if (is_rowwise(guarantee) && !guarantee.has_bound) {
    return "the columns delivered_... of a prediction have it; with ',strict' each level holds";
  }
  // Of these, guarantee_delivers says it.
  if (guarantee.form == GuaranteeForm::kSplit || is_loose(guarantee)) return {};
  if (!guarantee.has_bound) return no_bound_text();
  return by_confidence(guarantee,
                       [](const IntervalCoverage& interval) { return interval.proven.value(); });
}

std::string series_guarantee(const GuaranteeDescription& guarantee) {
  if (is_cross(guarantee)) return {};
  if (guarantee.rows_depend) {
    return "nothing is proven, because rows of the fit depend on each other: whole groups were "
           "kept "
           "together, or models were trained on the rows before";
  }
  if (guarantee.local && guarantee.local->fixed) {
    return "nothing is proven for 'local,fixed': only the draw of 'local' has a proof";
  }
  if (!guarantee.is_series) return {};
  return "nothing is proven for rows in time order, which depend on each other; the last rows of "
         "the series were held out";
}

std::string guarantee_assumes(const GuaranteeDescription& guarantee) {
  if (!guarantee.assumes_unseen_predictions) return {};
  return "the model behind the given predictions was not trained on the rows of this fit";
}

std::string guarantee_shift(const GuaranteeDescription& guarantee) {
  if (!guarantee.shift_effective_rows) return {};
  return fmt::format(
      "ranks are weighted by an estimate towards the rows of --shift-to; the effective sample size "
      "is {:.0f}",
      *guarantee.shift_effective_rows);
}

std::string guarantee_groups(const GuaranteeDescription& guarantee, const std::string& column) {
  constexpr std::size_t kNamed = 20;
  std::vector<std::string> items;
  for (std::size_t g = 0; g < std::min(kNamed, guarantee.groups.size()); ++g) {
    const GuaranteeGroup& group = guarantee.groups[g];
    items.push_back(fmt::format("{} ({} rows{})", group.name, group.rows,
                                group.has_own_ranks ? "" : ": as over all rows"));
  }
  if (guarantee.groups.size() > kNamed) items.emplace_back("...");
  return fmt::format("{}: {}", column, join(items, ", "));
}

}  // namespace tare::cli
