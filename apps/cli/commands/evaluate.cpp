// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/fail.h"
#include "base/strings.h"
#include "evaluate/cost_comparison.h"
#include "evaluate/set_comparison.h"
#include "io/files/atomic_file.h"
#include "report/pages/report_maker.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/help.h"
#include "support/input_options.h"
#include "support/model_facts.h"
#include "support/report_json.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "support/warning_text.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/model_file.h"
#include "tare/evaluate/scorecard.h"

namespace tare::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kBatchRows = 16'384;

struct EvaluateOptions {
  std::string model;
  std::string data;
  std::vector<std::string> fail_if;
  std::string report;
  std::string cost;
  std::string set;
  InputOptions input;
  std::uint64_t seed = 0;
  bool force = false;
};

/// "coverage<0.88": a metric, a comparison, a number.
struct Condition {
  std::string text;
  std::string metric;
  std::string comparison;
  double bound = 0.0;

  bool holds(double value) const {
    if (comparison == "<") return value < bound;
    if (comparison == "<=") return value <= bound;
    if (comparison == ">") return value > bound;
    return value >= bound;
  }
};

Condition parse_condition(const std::string& text, const OrderedJson& known) {
  const std::size_t mark = text.find_first_of("<>");
  Condition condition;
  condition.text = text;
  std::vector<std::string> names;
  for (const auto& [name, value] : known.items()) {
    if (value.is_number()) names.push_back(name);
  }
  const auto wrong = [&] {
    fail(ErrorCode::kInvalidArgument,
         "--fail-if requires METRIC<NUMBER or METRIC>NUMBER, got '{}' (metrics: {})", text,
         join(names, ", "));
  };
  if (mark == std::string::npos) wrong();
  const bool equal = mark + 1 < text.size() && text[mark + 1] == '=';
  condition.metric = canonical_name(text.substr(0, mark));
  condition.comparison = text.substr(mark, equal ? 2 : 1);
  const auto bound = parse_number(text.substr(mark + condition.comparison.size()));
  if (!bound) wrong();
  condition.bound = *bound;
  // "coverage" is short for "coverage_90".
  if (!known.contains(condition.metric) && known.contains(condition.metric + "_90"))
    condition.metric += "_90";
  if (!known.contains(condition.metric) || !known[condition.metric].is_number()) wrong();
  return condition;
}

std::string pit_line(const std::vector<double>& pit) {
  std::string line;
  for (const double share : pit) line += fmt::format("{:.0f} ", 100.0 * share);
  return line;
}

/// The score of a perfect forecaster: a constant, or the value of another score.
std::string perfect_text(const Scores& s, const ScoreInfo& info) {
  if (info.perfect.empty() || parse_number(info.perfect)) return std::string(info.perfect);
  return short_number(s.at(info.perfect));
}

void print_table(const Scores& s) {
  const auto number = [&](const char* name) { return short_number(s.at(name)); };
  std::vector<std::vector<std::string>> rows = {{"metric", "value", "perfect"},
                                                {"rows", std::to_string(s.rows)}};
  for (std::size_t k = 0; k < s.values.size(); ++k) {
    const ScoreInfo& info = score_table()[k];
    if (info.role != ScoreRole::kScore) continue;
    rows.push_back({std::string(info.name), s.values[k] ? short_number(*s.values[k]) : "-",
                    perfect_text(s, info)});
  }
  say("{}", text_table(rows));
  say("PIT: % of rows in each of 20 bins (equal shares if calibrated): {}\n", pit_line(s.pit));
  say("'perfect' is the score of a perfect forecaster on as many rows. Differences of mace and "
      "agce below it are noise.\n");
  constexpr double kMany = 0.01;
  const double hit_share = s.at("hit_share");
  if (hit_share < kMany) return;
  say("In {:.0f} % of cases the target equals the predicted quantile, as happens with counts. Such "
      "a tie counts by the share of its jump, so that a perfect forecaster still reaches "
      "'perfect'. If ties count as below and as inside: mace {}, agce {}, coverage_90 {}.\n",
      100.0 * hit_share, number("mace_counted"), number("agce_counted"),
      number("coverage_90_counted"));
}

/// NaN and infinity as a person reads them.
std::string cost_text(double value) { return std::isnan(value) ? "-" : short_number(value); }

void print_costs(const CostComparison& worth) {
  std::vector<std::vector<std::string>> rows = {
      {"action", "cost", "error", "more than the best", "error"}};
  const auto add = [&](const char* name, const RuleCost& rule) {
    rows.push_back({name, cost_text(rule.mean), cost_text(rule.error), cost_text(rule.extra),
                    cost_text(rule.extra_error)});
  };
  add("best of each row", worth.action);
  add("mean", worth.mean);
  add("mean plus a margin", worth.margin);
  say("\nMean cost per row, for {}:\n{}", worth.costs, text_table(rows));
  say("'best of each row' has the least expected cost under the row's predicted distribution; the "
      "model expected {}. The margin is one constant ({} to {}), chosen on other rows than those "
      "on which it is used. Standard errors of differences are paired by row.\n",
      cost_text(worth.expected), cost_text(worth.margin_low), cost_text(worth.margin_high));
}

void print_sets(const SetComparison& sets) {
  const std::vector<std::vector<std::string>> rows = {
      {"90 %", "coverage", "mean length", "two parts"},
      {"shortest sets", short_number(sets.coverage), short_number(sets.length),
       short_number(sets.two_parts)},
      {"central intervals", short_number(sets.central_coverage), short_number(sets.central_length),
       "-"}};
  say("\n{}", text_table(rows));
  say("'two parts' is the share of rows whose set has two. A target on an end counts as inside. "
      "{}\n",
      sets.guaranteed ? "The guarantee holds for both."
                      : "No guarantee is stated for the shortest sets.");
}

void run_evaluate(const EvaluateOptions& options, const Common& common) {
  std::optional<CostTally> worth;
  if (!options.cost.empty()) worth.emplace(Cost::parse(options.cost));
  std::optional<SetComparisonTally> sets;
  if (wants_shortest_sets(options.set)) sets.emplace();
  const FittedModel fitted = load_model(options.model);
  Scores blank;
  blank.values.assign(score_table().size(), 0.0);
  const OrderedJson known = scores_json(blank);
  std::vector<Condition> conditions;
  for (const std::string& text : options.fail_if)
    conditions.push_back(parse_condition(text, known));
  std::optional<ReportMaker> maker;
  std::optional<AtomicFile> page;
  if (!options.report.empty()) {
    maker.emplace(fitted, options.model, std::vector<std::string>{});
    if (worth) maker->compare_costs(worth->cost());
    if (sets) maker->compare_sets();
  }
  ModelInput input = measured_rows(fitted, options.data, options.input,
                                   maker ? maker->groups() : std::vector<std::string>{});
  if (maker) {
    maker->check_groups(input);
    page.emplace(options.report, options.force ? Overwrite::kAllow : Overwrite::kRefuse);
  }

  Bar bar(common);
  Execution how;
  how.threads = common.threads;
  Scorecard card;
  WarningTally tally(*fitted.model, metric_levels());  // the first of the card's levels
  Execution quantiles_only = how;
  quantiles_only.diagnostics = false;
  while (input.read(kBatchRows)) {
    if (maker) {
      maker->add(input, how);
    } else {
      Prediction prediction =
          fitted.model->predict(input.rows(), Scorecard::levels(), quantiles_only);
      tally.add(input.rows(), prediction);
      card.add_effective_n(*fitted.model, input.rows(), quantiles_only, prediction);
      card.add(prediction, input.encoded().y);
      if (worth) worth->add(*fitted.model, input.rows(), input.encoded().y, quantiles_only);
      if (sets) sets->add(*fitted.model, input.rows(), input.encoded().y, quantiles_only);
    }
    bar.show_text(fmt::format("{} rows", input.rows_read()));
  }
  input.check_any_row();
  const Scores scores = maker ? maker->scores(Seed{options.seed}) : card.finish(Seed{options.seed});
  if (maker) {
    const ModelReport report =
        maker->finish(input, model_facts(describe(fitted)), Seed{options.seed});
    page->write(model_report_html(report, maker->outcomes()));
    page->commit();
    note(common, fmt::format("report: {}", options.report));
  }
  bar.show_text("");
  warn_about(input.notices(), input.source(), common);
  const std::vector<PredictionWarning> warnings = maker ? maker->warnings() : tally.list();
  warn_about_answers(warnings, common);
  OrderedJson json = scores_json(scores);
  std::optional<CostComparison> costs;
  if (worth) costs = maker ? maker->worth(Seed{options.seed}) : worth->finish(Seed{options.seed});
  if (costs) json["worth"] = worth_json(*costs);
  std::optional<SetComparison> compared;
  if (sets) compared = maker ? maker->sets() : sets->finish();
  if (compared) json["sets"] = sets_json(*compared);
  json["warnings"] = warnings_json(warnings);
  if (common.json) {
    fmt::print("{}\n", json.dump(2));
  } else {
    print_table(scores);
    if (costs) print_costs(*costs);
    if (compared) print_sets(*compared);
  }
  for (const Condition& condition : conditions) {
    const auto& value = json[condition.metric];
    if (value.is_number() && condition.holds(value.get<double>())) {
      throw CheckFailed{fmt::format("{} is {}, which meets --fail-if '{}'", condition.metric,
                                    short_number(value.get<double>()), condition.text)};
    }
  }
}

}  // namespace

void add_evaluate(CLI::App& app, Common& common) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = app.add_subcommand("evaluate", "Score a model on rows with known targets");
  command->footer(
      "Examples:\n"
      "  tare evaluate cars.tare test.csv\n"
      "  tare evaluate cars.tare test.csv --json\n"
      "  tare evaluate cars.tare test.csv --fail-if 'coverage<0.88' --fail-if 'mace>0.05'   (exit "
      "code 6)\n"
      "  tare evaluate shop.tare test.csv --cost over=1,under=4\n"
      "  tare evaluate cars.tare test.csv --report report.html\n"
      "A target that equals a predicted quantile (a tie, frequent with counts) counts as below by "
      "the\n"
      "share of its jump in the predicted distribution. A perfect forecaster then has the same "
      "mace,\n"
      "agce, coverage_90 and PIT as without ties. In mace_counted, agce_counted and\n"
      "coverage_90_counted (--json) a tie counts as below the quantile and as inside the "
      "interval.");
  command->add_option("model", options->model, "Model file of 'tare fit'")->required();
  command->add_option("data", options->data, "File with the model's columns and its target")
      ->required();
  command->add_option("--fail-if", options->fail_if,
                      "Exit with code 6 if this condition holds, for example 'coverage<0.88'");
  command->add_option("--report", options->report,
                      "Also write the page of 'tare report' to this HTML file");
  command->add_option("--cost", options->cost,
                      "Costs as in 'tare predict': also print what acting on the rows' "
                      "distributions costs, beside acting on their means");
  command->add_option("--set", options->set,
                      "shortest: also print coverage and mean length of the shortest 90 % sets of "
                      "'tare predict', beside those of central intervals [interval]");
  command->add_flag("--force", options->force, "Replace the page if it exists");
  command
      ->add_option("--seed", options->seed,
                   "Seed of the random groups of AGCE and of the folds of --cost")
      ->capture_default_str()
      ->check(whole_number());
  add_input_options(*command, options->input);
  put_in_group(*command, kOutput, {"--report", "--force"});
  add_common(*command, common);
  command->callback([options, &common] { run_evaluate(*options, common); });
}

}  // namespace tare::cli
