// SPDX-License-Identifier: BSD-3-Clause
#include "support/fit_options.h"

#include <algorithm>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/method_config.h"
#include "data/schema.h"
#include "support/help.h"
#include "support/outside_program.h"
#include "tare/calibrate/methods.h"

namespace tare::cli {
namespace {

/// The options of `auto` that everybody may want, those of the NRC family and the common ones are
/// flags of their own; those of other methods and of the regressors are many, and go through --set.
/// The split and the window also concern the file and are read here.
std::vector<ParamInfo> method_options() {
  std::vector<ParamInfo> flags;
  for (const ParamInfo& option : find_method("auto").options) {
    if (option.name == "budget") flags.push_back(option);
  }
  const std::span<const ParamInfo> options = find_method("nrc").options;
  flags.insert(flags.end(), options.begin(), options.end());
  flags.insert(flags.end(), common_options().begin(), common_options().end());
  std::erase_if(flags, [](const ParamInfo& option) {
    return option.name == "split" || option.name == "screen";  // --calibrate-on auto
  });
  return flags;
}

/// --config first, then flags, then --set: what comes later outranks what came before.
void set_texts(const FitArguments& arguments, FitOptions& options) {
  for (const auto& [name, text] : arguments.texts) {
    if (!text.empty()) options.set(name, text);
  }
  for (const std::string& setting : arguments.settings) {
    const std::size_t mark = setting.find('=');
    if (mark == std::string::npos || mark == 0) {
      fail(ErrorCode::kInvalidArgument, "--set takes NAME=VALUE, got '{}'", setting);
    }
    options.params.set(canonical_name(setting.substr(0, mark)), setting.substr(mark + 1));
  }
}

void add_config(const FitArguments& arguments, FitOptions& options) {
  const MethodConfig config = read_config(arguments.config);
  const auto named = arguments.texts.find("method");
  if (named != arguments.texts.end() && !named->second.empty() &&
      find_method(named->second).name != config.method) {
    fail(ErrorCode::kInvalidArgument, "{} is for method '{}', and --method says '{}'",
         arguments.config, config.method, named->second);
  }
  options.method = config.method;
  options.params = config.params;
}

}  // namespace

FitOptions fit_options(const FitArguments& arguments) {
  FitOptions options;
  if (!arguments.config.empty()) add_config(arguments, options);
  set_texts(arguments, options);
  if (!arguments.predictor.empty()) {
    options.predictor = arguments.predictor;
    options.outside_model = outside_program(arguments.predictor, arguments.timeout_s);
  }
  return options;
}

void add_fit_options(CLI::App& command, FitArguments& arguments) {
  const auto text = [&](std::string_view name) -> std::string& {
    return arguments.texts[std::string(name)];
  };
  text("missing") = "error";
  text("seed") = "0";
  command.footer(
      "Examples:\n"
      "  tare fit cars.csv --target mpg -o cars.tare\n"
      "  tare fit cal.csv --target y --prediction yhat -o cal.tare        (your own model's "
      "column)\n"
      "  tare fit cal.csv --target y --prediction mu --prediction-sd sigma -o cal.tare\n"
      "  tare fit cal.csv --target y --prediction-quantiles 'q*' -o cal.tare    (columns q0.05, "
      "q0.5, ...)\n"
      "  tare fit cal.csv --target y --predictor 'python3 model.py' -o cal.tare\n"
      "  tare fit sales.csv --target units --split time --calibrate-on store,weekday -o "
      "sales.tare");
  command.add_option("data", arguments.data, "CSV or TSV file, also .gz; - is standard input")
      ->required();
  command.add_option("--target", text("target"), "Column to be predicted")->required();
  command.add_option("-o,--output", arguments.output, "Model file to write")->required();
  command.add_option(
      "--method", text("method"),
      "A row of 'tare methods' [auto; for a series, a split, a given law or an option of the nrc "
      "family: nrc_rf, or nrc where a prediction is given]");
  command.add_option("--config", arguments.config,
                     "Method and options that 'tare tune' found; flags and --set outrank it");
  command.add_option("--prediction", text("prediction"),
                     "Column with the predictions of a model that exists");
  command.add_option("--prediction-sd", text("prediction_sd"),
                     "Column with its standard deviation, above 0: then --prediction is the mean");
  command.add_option(
      "--prediction-quantiles", text("prediction_quantiles"),
      "Columns with the quantiles of a model that exists, with commas: names or patterns such as "
      "'q*' (levels are in the names, as in q0.05), or NAME=LEVEL");
  command.add_option(
      "--predictor", arguments.predictor,
      "Program that predicts: feature rows as CSV on its input, a number a line on its output");
  command.add_option("--timeout", arguments.timeout_s, "Seconds the predictor may take")
      ->capture_default_str()
      ->check(seconds());
  for (const ParamInfo& option : method_options()) {
    std::string flag = "--" + std::string(option.name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    command.add_option(
        flag, text(option.name),
        fmt::format("{} [{}]", option.help, option.name == "bands" ? "auto" : option.fallback));
  }
  command
      .add_option("--window", text("window"),
                  "Rows are a series in time order, and the model looks at this many of them [1; "
                  "lstm_nrc and lstm_hnn 5]")
      ->check(CLI::Range(std::size_t{1}, kMaxWindow));
  command.add_option(
      "--split", text("split"),
      "Rows that calibrate: a share [0.3], cross, time, time:SHARE, or by:COL=VALUE");
  command.add_option("--set", arguments.settings,
                     "NAME=VALUE for any option of the method or the regressor, such as trees=300 "
                     "('tare methods -v' lists them)");
  command.add_option("--features", text("features"), "Columns to use, with commas [all others]");
  command.add_option("--drop", text("drop"), "Columns not to use");
  command.add_option("--categorical", text("categorical"),
                     "Columns of numbers that are names of categories");
  command.add_option(
      "--calibrate-on", text("calibrate_on"),
      "Columns against which to calibrate: the kernel's features; auto finds those on "
      "which the residual's law depends [what the method takes]");
  command.add_option("--group", text("group"),
                     "Column within whose values the guarantee holds, each by its own held-out "
                     "rows [over all rows]");
  command.add_option("--weight", text("weight"), "Column of sample weights, 0 or more");
  command.add_option("--shift-to", text("shift_to"),
                     "File with rows to be predicted, as 'tare predict' takes it: the rows of the "
                     "fit are weighted so that their features resemble it");
  command.add_option("--missing", text("missing"), "Missing values: error, drop, impute")
      ->capture_default_str();
  command.add_option("--seed", text("seed"), "Same seed, same bytes")
      ->capture_default_str()
      ->check(whole_number());
  command.add_flag("--force", arguments.force, "Replace the model file if it exists");
  put_in_group(command, kMostUsed, {"--target", "--output", "--method", "--budget", "--guarantee"});
  put_in_group(command, kYourModel,
               {"--prediction", "--prediction-sd", "--prediction-quantiles", "--predictor",
                "--timeout", "--features-of-input"});
  put_in_group(command, kColumns,
               {"--features", "--drop", "--categorical", "--calibrate-on", "--group", "--weight",
                "--missing"});
  put_in_group(command, kRows, {"--window", "--split", "--folds", "--shift-to"});
  put_in_group(command, kAnswers, {"--bounds", "--bands", "--masses"});
  put_in_group(command, kKernel,
               {"--regressor", "--reducer", "--dims", "--scale", "--kernel", "--bandwidth",
                "--fallback", "--min-support", "--ranks", "--index"});
  put_in_group(command, kOutput, {"--force"});
  put_in_group(command, kGeneral, {"--config", "--set", "--seed"});
}

}  // namespace tare::cli
