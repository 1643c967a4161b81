// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/case_data.h"

#include <filesystem>
#include <utility>

#include "base/fail.h"
#include "data/partition.h"
#include "data/rows.h"
#include "data/windows.h"
#include "evaluate/experiment/resample.h"
#include "io/csv.h"

namespace tare {
namespace {

std::string path_of(const ExperimentCase& one, const std::string& folder, const std::string& file) {
  if (file == "-") return file;
  const std::filesystem::path path = std::filesystem::path(folder) / file;
  if (!std::filesystem::exists(path)) {
    fail(ErrorCode::kNotFound, "{}: {} is not there ({})", one.name, path.string(),
         one.origin.empty() ? "no public copy is known" : one.origin);
  }
  return path.string();
}

Roles roles_of(const ExperimentCase& one) {
  Roles roles;
  roles.target = one.target;
  roles.features = one.features;
  roles.drop = one.drop;
  roles.categorical = one.categorical;
  roles.split = one.column;
  return roles;
}

Table read_table(const std::string& path, const Roles& roles) {
  CsvReader reader(path);
  reader.select(Schema::fit_requests(reader.source(), reader.header(), roles));
  return read_all(reader);
}

std::vector<std::string> key_of(const Table& table, const std::string& name,
                                std::span<const std::size_t> rows) {
  const Column& column = *table.find(name);
  std::vector<std::string> key;
  for (const std::size_t i : rows) {
    const std::int32_t code = column.codes[i];
    key.push_back(code < 0 ? "" : column.vocabulary[static_cast<std::size_t>(code)]);
  }
  return key;
}

/// Fills in what trains and what tests, out of one table.
void take_parts(const Encoded& rows, const Partition& parts, TrialRows& trial) {
  trial.x = take_rows(rows.x, parts.first);
  trial.y = take_rows(rows.y, parts.first);
  trial.test_x = take_rows(rows.x, parts.second);
  trial.test_y = take_rows(rows.y, parts.second);
}

Partition partition_by_key(const ExperimentCase& one, const std::vector<std::string>& key) {
  Partition parts;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == one.train_value) parts.first.push_back(i);
    if (key[i] == one.test_value) parts.second.push_back(i);
  }
  if (parts.first.empty() || parts.second.empty()) {
    fail(ErrorCode::kBadData, "{}: {} rows have {}={} and {} rows have {}={}; both parts need rows",
         one.name, parts.first.size(), one.column, one.train_value, parts.second.size(), one.column,
         one.test_value);
  }
  return parts;
}

void take_series(const ExperimentPlan& plan, const Encoded& rows, std::size_t window,
                 TrialRows& trial) {
  Encoded windows = rows;
  Windows(window).apply(windows);
  take_parts(windows, time_partition(windows.y.size(), plan.test_share), trial);
  trial.window = window;
}

void draw_law(const ExperimentCase& one, Seed seed, TrialRows& trial) {
  trial.problem = &find_problem(one.problem);
  Sample train = draw(*trial.problem, one.rows, split(seed, 10));
  Sample test = draw(*trial.problem, one.test_rows, split(seed, 11));
  trial.x = std::move(train.x);
  trial.y = std::move(train.y);
  trial.test_x = std::move(test.x);
  trial.test_y = std::move(test.y);
}

void take_resampled(const ExperimentPlan& plan, const ExperimentCase& one, const Encoded& rows,
                    Seed seed, TrialRows& trial) {
  take_parts(rows, random_partition(rows.y.size(), plan.test_share, split(seed, 0)), trial);
  auto chosen = resample_around(trial.x, trial.test_x, one.test_rows, split(seed, 3));
  trial.test_x = take_rows(trial.test_x, chosen);
  trial.test_y = take_rows(trial.test_y, chosen);
  trial.test_source = std::move(chosen);
}

/// Which of the rows that train are set apart for calibration: the last ones of a series, else
/// random ones.
std::vector<std::uint8_t> calibration_flags(const ExperimentPlan& plan, const ExperimentCase& one,
                                            std::size_t rows, Seed seed) {
  const Partition parts = one.test == TestRows::kLast
                              ? time_partition(rows, plan.calibrate_share)
                              : random_partition(rows, plan.calibrate_share, split(seed, 1));
  std::vector<std::uint8_t> flag(rows, 0);
  for (const std::size_t i : parts.second) flag[i] = 1;
  return flag;
}

}  // namespace

CaseData read_case(const ExperimentCase& one, const std::string& folder) {
  CaseData data;
  if (one.test == TestRows::kLaw) return data;
  const Roles roles = roles_of(one);
  const MissingPolicy missing = parse_missing_policy(one.missing);
  const Table table = read_table(path_of(one, folder, one.file), roles);
  const Schema schema = Schema::learn(table, roles);
  data.rows = schema.encode(table, Need::kFeaturesAndTarget, missing);
  if (one.test == TestRows::kColumn) data.key = key_of(table, one.column, data.rows.rows);
  if (one.test == TestRows::kFile) {
    const Table other = read_table(path_of(one, folder, one.test_file), roles);
    data.test = schema.encode(other, Need::kFeaturesAndTarget, missing);
  }
  return data;
}

TrialRows draw_trial(const ExperimentPlan& plan, const ExperimentCase& one, const CaseData& data,
                     std::size_t window, Seed seed) {
  TrialRows trial;
  const std::size_t rows = data.rows.y.size();
  switch (one.test) {
    case TestRows::kRandom:
      take_parts(data.rows, random_partition(rows, plan.test_share, split(seed, 0)), trial);
      break;
    case TestRows::kLast:
      take_series(plan, data.rows, window, trial);
      break;
    case TestRows::kFile:
      trial.x = data.rows.x;
      trial.y = data.rows.y;
      trial.test_x = data.test.x;
      trial.test_y = data.test.y;
      break;
    case TestRows::kColumn:
      take_parts(data.rows, partition_by_key(one, data.key), trial);
      break;
    case TestRows::kResampled:
      take_resampled(plan, one, data.rows, seed, trial);
      break;
    case TestRows::kLaw:
      draw_law(one, seed, trial);
      break;
  }
  trial.calibrate = calibration_flags(plan, one, trial.y.size(), seed);
  return trial;
}

}  // namespace tare
