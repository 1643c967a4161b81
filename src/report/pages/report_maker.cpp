// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/report_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/fail.h"
#include "data/schema.h"
#include "report/html/numbers.h"
#include "tare/base/version.h"
#include "tare/calibrate/description.h"

namespace tare {
namespace {

/// With the group of the guarantee, each once, and without those that are shown as a category.
std::vector<std::string> chosen_groups(const Schema& schema, std::vector<std::string> groups) {
  if (!schema.group().empty()) groups.push_back(schema.group().name());
  std::vector<std::string> chosen;
  for (std::string& name : groups) {
    const bool category = std::ranges::any_of(schema.inputs(), [&](const InputColumn& input) {
      return input.categorical && input.name == name;
    });
    const bool known = std::ranges::find(chosen, name) != chosen.end();
    if (!category && !known) chosen.push_back(std::move(name));
  }
  return chosen;
}

std::string file_name(const std::string& path) {
  return path == "-" || path == "<stdin>" ? "standard input"
                                          : std::filesystem::path(path).filename().string();
}

}  // namespace

ReportMaker::ReportMaker(const FittedModel& fitted, std::string model_path,
                         std::vector<std::string> groups)
    : fitted_(fitted),
      model_path_(std::move(model_path)),
      groups_(chosen_groups(*fitted.schema, std::move(groups))),
      columns_(*fitted.schema, groups_) {}

void ReportMaker::check_groups(const ModelInput& input) const {
  // To the input 'all' is a word for every column.
  if (input.keep() == groups_) return;
  fail(ErrorCode::kNotFound, {.source = input.source(), .named_in_problem = true},
       "has no column 'all' to group by");
}

void ReportMaker::add(const ModelInput& input, const Execution& how) {
  exam_.add(*fitted_.model, input.rows(), input.encoded().y, how);
  if (worth_) worth_->add(*fitted_.model, input.rows(), input.encoded().y, how);
  if (sets_) sets_->add(*fitted_.model, input.rows(), input.encoded().y, how);
  columns_.add_features(input.encoded().x);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Column& column = *input.table().find(groups_[g]);
    for (const std::size_t row : input.encoded().rows) {
      columns_.add_group_cell(g, column.raw[row]);
    }
  }
}

std::optional<CostComparison> ReportMaker::worth(Seed seed) const {
  if (!worth_) return std::nullopt;
  return worth_->finish(seed);
}

std::optional<SetComparison> ReportMaker::sets() const {
  if (!sets_) return std::nullopt;
  return sets_->finish();
}

Facts input_facts(const ModelInput& input) {
  Facts facts = {{"file", file_name(input.source())}, {"rows read", count_text(input.rows_read())}};
  const auto add = [&](const char* what, std::size_t count) {
    if (count > 0) facts.emplace_back(what, count_text(count));
  };
  add("rows left out for a missing value", input.rows_read() - input.rows_used());
  add("rows left out for want of a full window", input.rows_without_window());
  add("missing values filled in", input.imputed());
  add("cells with a category that was not there at fit", input.unseen());
  return facts;
}

ModelReport ReportMaker::finish(const ModelInput& input, Facts facts, Seed seed) {
  ModelReport report = examine_rows(exam_, std::move(columns_).finish(exam_.outcomes()), seed);
  const Description model = describe(fitted_);
  report.model_name = file_name(model_path_);
  report.data_name = file_name(input.source());
  report.provenance = fmt::format("tare {}, {} on {} of {}", kVersion, fitted_.method,
                                  rows_text(exam_.outcomes().rows()), report.data_name);
  report.target = fitted_.schema->target().empty() ? "y" : fitted_.schema->target();
  report.series = fitted_.schema->window() > 1;
  report.guaranteed = model.guarantee.has_value();
  report.model = std::move(facts);
  report.data = input_facts(input);
  if (model.kernel) report.bandwidth = model.kernel->bandwidth;
  report.of_first_fold = model.of_first_fold;
  report.trail = model.trail;
  report.worth = worth(seed);
  report.sets = sets();
  return report;
}

}  // namespace tare
