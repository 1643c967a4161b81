// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/bar.h"
#include "support/command.h"
#include "support/help.h"
#include "support/input_options.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tare/calibrate/model_file.h"
#include "tare/decide/risk_control.h"

namespace tare::cli {
namespace {

constexpr std::size_t kRiskBatchRows = 2'048;  // 16 MB of quantiles

struct RiskArguments {
  std::string model;
  std::string data;
  std::string loss;
  double at_most = 0.0;
  double bound = 0.0;
  InputOptions input;
};

void add_rows(const FittedModel& fitted, const ModelInput& input, const UnitLoss& loss,
              const Execution& how, RiskControl& control) {
  const Matrix quantiles = fitted.model->predict(input.rows(), risk_levels(), how).quantiles;
  std::vector<double> losses(risk_levels().size());
  for (std::size_t i = 0; i < quantiles.rows(); ++i) {
    for (std::size_t j = 0; j < losses.size(); ++j) {
      losses[j] = loss.at(quantiles(i, j), input.encoded().y[i]);
    }
    control.add(losses);
  }
}

nlohmann::ordered_json choice_json(const RiskChoice& choice, const RiskArguments& arguments) {
  return {{"level", risk_levels()[*choice.place].value()},
          {"at_most", arguments.at_most},
          {"bound", arguments.bound},
          {"rows", choice.rows},
          {"mean_loss", choice.mean_loss},
          {"corrected_loss", choice.corrected},
          {"rows_at_bound", choice.at_bound}};
}

void print_choice(const RiskChoice& choice, const RiskArguments& arguments, const UnitLoss& loss) {
  const double level = risk_levels()[*choice.place].value();
  const char* const side = loss.side == UnitLoss::Side::kUnder ? "less" : "more";
  say("level {}: act on the quantile of a row at this level, for example with\n"
      "  tare predict {} new.csv --levels {}\n",
      level, arguments.model, level);
  say("The loss is {} for each unit by which the action is {} than the target. Its mean over {} "
      "calibration rows is {}, and {} with the correction for their number.\n",
      loss.rate, side, choice.rows, short_number(choice.mean_loss), short_number(choice.corrected));
  say("Proven: the expected loss of a new row is at most {}, on average over calibration rows and "
      "new rows; a loss above {} counts as {}{}.\n",
      arguments.at_most, arguments.bound, arguments.bound,
      choice.at_bound > 0 ? fmt::format(", as {} of these rows have", choice.at_bound) : "");
  say("Assumed: these rows and new rows are exchangeable, as drawn from one population in random "
      "order, and no part of the fit has used these rows.\n");
}

void run_control_risk(const RiskArguments& arguments, const Common& common) {
  const UnitLoss loss = UnitLoss::parse(arguments.loss);
  RiskControl control(risk_levels().size(), {arguments.at_most, arguments.bound, loss.side});
  const FittedModel fitted = load_model(arguments.model);
  ModelInput input = measured_rows(fitted, arguments.data, arguments.input, {});
  Bar bar(common);
  Execution how;
  how.threads = common.threads;
  how.diagnostics = false;
  while (input.read(kRiskBatchRows)) {
    add_rows(fitted, input, loss, how, control);
    bar.show_text(fmt::format("{} rows", input.rows_read()));
  }
  bar.show_text("");
  input.check_any_row();
  warn_about(input.notices(), input.source(), common);
  const RiskChoice choice = control.choose_or_fail();
  if (common.json) {
    fmt::print("{}\n", choice_json(choice, arguments).dump(2));
  } else {
    print_choice(choice, arguments, loss);
  }
}

}  // namespace

void add_control_risk(CLI::App& app, Common& common) {
  auto options = std::make_shared<RiskArguments>();
  CLI::App* command = app.add_subcommand(
      "control-risk", "Choose the level whose quantile keeps an expected loss at most a number");
  command->footer(
      "Example:\n"
      "  tare control-risk shop.tare calibration.csv --loss under=1 --at-most 2 --bound 50\n"
      "keeps the expected shortage at most 2 units, where one above 50 counts as 50. The "
      "calibration "
      "rows\n"
      "must have taken no part in the fit. The level is the lowest one (for "
      "over:\n"
      "the highest one) whose mean loss on n calibration rows, times n / (n + 1), plus bound / (n "
      "+ "
      "1),\n"
      "is at most --at-most: conformal risk control (Angelopoulos et al. 2024).");
  command->add_option("model", options->model, "Model file of 'tare fit'")->required();
  command->add_option("data", options->data, "Calibration rows: the model's columns and its target")
      ->required();
  command
      ->add_option("--loss", options->loss,
                   "under=1: 1 for each unit by which the action is less than the target; over=1: "
                   "by which it is more")
      ->required();
  command->add_option("--at-most", options->at_most, "Expected loss that is allowed")->required();
  command
      ->add_option("--bound", options->bound,
                   "Largest loss of one row; what is above counts as this number")
      ->required();
  add_input_options(*command, options->input);
  add_common(*command, common);
  command->callback([options, &common] { run_control_risk(*options, common); });
}

}  // namespace tare::cli
