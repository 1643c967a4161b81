// SPDX-License-Identifier: BSD-3-Clause
#include "support/fit_options.h"

#include <algorithm>
#include <cctype>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/method_config.h"
#include "data/schema.h"
#include "support/help.h"
#include "support/outside_program.h"
#include "tare/calibrate/methods.h"

namespace tare::cli {
namespace {

/// The flags of 'fit': `budget` and `time` of `auto`, the options of the NRC family and the common
/// options. All other options of methods and regressors go through --set. --split and --window are
/// added below, because they also determine how the file is read.
std::vector<ParamInfo> method_options() {
  std::vector<ParamInfo> flags;
  for (const ParamInfo& option : find_method("auto").options) {
    if (option.name == "budget" || option.name == "time") flags.push_back(option);
  }
  const std::span<const ParamInfo> options = find_method("nrc").options;
  flags.insert(flags.end(), options.begin(), options.end());
  flags.insert(flags.end(), common_options().begin(), common_options().end());
  std::erase_if(flags, [](const ParamInfo& option) {
    return option.name == "split" || option.name == "screen";  // --calibrate-on auto
  });
  return flags;
}

/// Order: --config, flags, --set. Later values override earlier ones.
void set_texts(const FitArguments& arguments, FitOptions& options) {
  for (const auto& [name, text] : arguments.texts) {
    if (!text.empty()) options.set(name, text);
  }
  for (const std::string& setting : arguments.settings) {
    const std::size_t mark = setting.find('=');
    if (mark == std::string::npos || mark == 0) {
      fail(ErrorCode::kInvalidArgument, "--set requires NAME=VALUE, got '{}'", setting);
    }
    options.params.set(canonical_name(setting.substr(0, mark)), setting.substr(mark + 1));
  }
}

void add_config(const FitArguments& arguments, FitOptions& options) {
  const MethodConfig config = read_config(arguments.config);
  const auto named = arguments.texts.find("method");
  if (named != arguments.texts.end() && !named->second.empty() &&
      find_method(named->second).name != config.method) {
    fail(ErrorCode::kInvalidArgument, "{} is for method '{}', but --method is '{}'",
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
  command
      .add_option("data", arguments.data, "CSV or TSV file, plain or .gz; - reads standard input")
      ->required();
  command.add_option("--target", text("target"), "Column to predict")->required();
  command.add_option("-o,--output", arguments.output, "Model file to write")->required();
  command.add_option("--method", text("method"),
                     "Name of a method in 'tare methods' [auto. With --window above 1, --split, "
                     "--prediction-sd, --prediction-quantiles or an option that auto does not "
                     "have: nrc if a prediction is given, else nrc_rf]");
  command.add_option(
      "--config", arguments.config,
      "File with the method and options that 'tare tune' found; flags and --set override it");
  command.add_option("--prediction", text("prediction"),
                     "Column with the predictions of your own model");
  command.add_option("--prediction-sd", text("prediction_sd"),
                     "Column with the standard deviation that your model predicts, above 0; "
                     "--prediction is then the mean");
  command.add_option("--prediction-quantiles", text("prediction_quantiles"),
                     "Columns with the quantiles of your own model, separated by commas: names or "
                     "patterns like 'q*' whose level is part of the name (q0.05), or NAME=LEVEL");
  command.add_option("--predictor", arguments.predictor,
                     "Program that predicts: it reads feature rows as CSV on standard input and "
                     "writes one number per line to standard output");
  command.add_option("--timeout", arguments.timeout_s, "Time limit of the predictor, in seconds")
      ->capture_default_str()
      ->check(seconds());
  for (const ParamInfo& option : method_options()) {
    std::string flag = "--" + std::string(option.name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    std::string help(option.help);
    help.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(help.front())));
    command.add_option(
        flag, text(option.name),
        fmt::format("{} [{}]", help, option.name == "bands" ? "auto" : option.fallback));
  }
  command
      .add_option("--window", text("window"),
                  "Number of consecutive rows that the model sees; above 1, the rows must be a "
                  "series in time order [1; 5 for lstm_nrc and lstm_hnn]")
      ->check(CLI::Range(std::size_t{1}, kMaxWindow));
  command.add_option(
      "--split", text("split"),
      "Which rows calibrate: a random share [0.3], cross (cross-fitting: every row), time or "
      "time:SHARE (the last rows), or by:COL=VALUE (the rows where COL is VALUE)");
  command.add_option("--set", arguments.settings,
                     "NAME=VALUE sets any option of the method or the regressor, for example "
                     "trees=300 ('tare methods -v' lists them)");
  command.add_option("--features", text("features"),
                     "Columns to use, separated by commas [all remaining columns]");
  command.add_option("--drop", text("drop"), "Columns not to use, separated by commas");
  command.add_option("--categorical", text("categorical"),
                     "Columns whose numbers are category codes, separated by commas");
  command.add_option("--calibrate-on", text("calibrate_on"),
                     "Features of the kernel, separated by commas; auto selects the columns on "
                     "which the distribution of the residual depends [the method's choice]");
  command.add_option("--group", text("group"),
                     "Column of groups: the guarantee then holds within each group, by the "
                     "held-out rows of the group [over all rows]");
  command.add_option("--weight", text("weight"), "Column of row weights, 0 or more");
  command.add_option(
      "--shift-to", text("shift_to"),
      "File with rows to predict, in the form that 'tare predict' reads; the rows of the fit are "
      "weighted so that the distribution of their features matches it");
  command
      .add_option("--missing", text("missing"),
                  "What to do with missing values: error, drop (leave the row out), impute (median "
                  "or most frequent category)")
      ->capture_default_str();
  command
      .add_option("--seed", text("seed"),
                  "Seed of random numbers; the same seed gives the same model file")
      ->capture_default_str()
      ->check(whole_number());
  command.add_flag("--force", arguments.force, "Replace the model file if it exists");
  put_in_group(command, kMostUsed,
               {"--target", "--output", "--method", "--budget", "--time", "--guarantee"});
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
