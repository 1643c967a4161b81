// SPDX-License-Identifier: BSD-3-Clause
#include "apply/level_columns.h"
#include "base/fail.h"
#include "base/strings.h"
#include "tare/apply/predictor.h"

namespace tare {
namespace {

bool parse_truth(std::string_view option, std::string_view text) {
  const std::string word = canonical_name(text);
  if (word == "yes" || word == "true" || word == "1") return true;
  if (word == "no" || word == "false" || word == "0") return false;
  fail_option(option, text, "must be yes or no");
}

SetForm parse_set_form(std::string_view text) {
  const std::string word = canonical_name(text);
  if (word.empty() || word == "interval") return SetForm::kInterval;
  if (word == "shortest") return SetForm::kShortest;
  fail_option("set", text, "must be interval or shortest");
}

}  // namespace

void PredictOptions::set(std::string_view name, std::string_view text) {
  const std::string wanted = canonical_name(name);
  if (wanted == "levels") {
    levels = parse_level_list(text, wanted);
  } else if (wanted == "interval") {
    intervals = parse_level_list(text, wanted);
  } else if (wanted == "set") {
    form = parse_set_form(text);
  } else if (wanted == "cost") {
    cost.reset();
    if (!text.empty()) cost = Cost::parse(text);
  } else if (wanted == "keep") {
    keep = split_names(text);
  } else if (wanted == "missing") {
    missing = parse_missing_policy(text);
  } else if (wanted == "diagnostics") {
    diagnostics = parse_truth(wanted, text);
  } else {
    fail(
        ErrorCode::kInvalidArgument,
        {.option = wanted,
         .value = std::string(text),
         .remedies = {advice("there are: levels, interval, set, cost, keep, missing, diagnostics")},
         .named_in_problem = true},
        "a prediction has no option '{}'", wanted);
  }
}

void check_predict_options(const PredictOptions& options) {
  level_columns(options.levels, options.intervals);
}

}  // namespace tare
