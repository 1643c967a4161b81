// SPDX-License-Identifier: BSD-3-Clause
#include "support/input_options.h"

#include <fmt/format.h>

#include "support/bar.h"
#include "support/help.h"
#include "support/outside_program.h"
#include "tare/apply/predictor.h"

namespace tare::cli {

std::optional<MissingPolicy> InputOptions::policy() const {
  if (missing.empty()) return std::nullopt;
  return parse_missing_policy(missing);
}

OutsideModel InputOptions::outside_model() const {
  return predictor.empty() ? OutsideModel{} : outside_program(predictor, timeout_s);
}

void add_input_options(CLI::App& command, InputOptions& options) {
  command.add_option(
      "--missing", options.missing,
      "What to do with missing values: error, drop (leave the row out), impute (median or most "
      "frequent category of the fit) [impute if the model was fitted with it, else error]");
  command.add_option("--predictor", options.predictor,
                     "Program that predicts, for a model that was fitted with --predictor");
  command
      .add_option("--timeout", options.timeout_s,
                  "Time limit of the predictor for a batch of rows, in seconds")
      ->capture_default_str()
      ->check(seconds());
  put_in_group(command, kColumns, {"--missing"});
  put_in_group(command, kYourModel, {"--predictor", "--timeout"});
}

ModelInput measured_rows(const FittedModel& fitted, const std::string& path,
                         const InputOptions& options, const std::vector<std::string>& keep) {
  return ModelInput(fitted, path, options.policy(), options.outside_model(), keep);
}

bool wants_shortest_sets(const std::string& text) {
  PredictOptions options;
  options.set("set", text);
  return options.form == SetForm::kShortest;
}

void warn_about(const std::vector<Notice>& notices, const std::string& source,
                const Common& common) {
  for (const Notice& notice : notices) {
    warn(common, fmt::format("{}: {} [{}]", source, notice.text, notice.code));
  }
}

}  // namespace tare::cli
