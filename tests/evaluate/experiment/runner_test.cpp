// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "evaluate/experiment/summary.h"
#include "expect_error.h"
#include "io/temp_folder.h"

namespace tare {
namespace {

ExperimentPlan small_plan() {
  return parse_plan(R"({"name": "small", "repeats": 3,
    "cases": [{"name": "flat", "test": "law", "problem": "flat", "rows": 60, "test_rows": 20},
              {"name": "sine", "test": "law", "problem": "sine", "rows": 60, "test_rows": 20}],
    "methods": ["pure_kernel bandwidth=infinite", "nrc regressor=ridge"]})",
                    "small.json");
}

/// The file without the column of seconds, which no two runs share.
std::string without_seconds(const std::string& path) {
  std::istringstream lines(read_bytes(path));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    std::size_t from = 0;
    for (int k = 0; k < 7; ++k) from = line.find(',', from) + 1;
    result += line.substr(0, from) + line.substr(line.find(',', from)) + "\n";
  }
  return result;
}

class Runner : public testing::Test {
 protected:
  std::string run(const std::string& name, std::size_t threads = 1) {
    const std::string path = folder / name;
    ResultFile results(path);
    const RunReport report =
        run_plan(small_plan(), folder / "no-data", results, {.threads = threads, .progress = {}});
    EXPECT_TRUE(report.failed.empty());
    return path;
  }
  TempFolder folder;
};

TEST_F(Runner, GivesTheSameFileOnAnyNumberOfThreads) {
  EXPECT_EQ(without_seconds(run("one.csv", 1)), without_seconds(run("eight.csv", 8)));
}

TEST_F(Runner, TakesUpAFileThatWasCutAnywhere) {
  const std::string whole = read_bytes(run("whole.csv"));
  const std::string expected = without_seconds(folder / "whole.csv");
  const std::size_t header = whole.find('\n') + 1;
  for (std::size_t cut = header; cut < whole.size(); cut += whole.size() / 23) {
    std::ofstream(folder / "cut.csv", std::ios::binary) << whole.substr(0, cut);
    EXPECT_EQ(without_seconds(run("cut.csv")), expected) << "cut at " << cut;
  }
}

TEST_F(Runner, DoesNotRepeatWhatIsDone) {
  const std::string path = run("done.csv");
  const std::string before = read_bytes(path);  // with the seconds, which a second run would change
  EXPECT_EQ(read_bytes(run("done.csv")), before);
}

TEST_F(Runner, RefusesAFileThatIsSomethingElse) {
  std::ofstream(folder / "mine.csv") << "a,b\n1,2\n";
  expect_error(ErrorCode::kBadData, "not a result file",
               [&] { ResultFile results(folder / "mine.csv"); });
  EXPECT_EQ(read_bytes(folder / "mine.csv"), "a,b\n1,2\n");
}

TEST_F(Runner, SaysWhichDataIsAbsentAndRunsTheRest) {
  ExperimentPlan plan = small_plan();
  ExperimentCase absent;
  absent.name = "Boston";
  absent.file = "boston.csv";
  absent.target = "MEDV";
  absent.origin = "from StatLib";
  plan.cases.push_back(absent);
  ResultFile results(folder / "some.csv");
  const RunReport report = run_plan(plan, folder / "no-data", results, {});
  ASSERT_EQ(report.absent.size(), 1U);
  EXPECT_NE(report.absent[0].find("boston.csv is not there (from StatLib)"), std::string::npos);
  EXPECT_EQ(results.results().size(), 12U);
  EXPECT_EQ(summarise(plan, results.results()).tables.size(), 2U);
}

TEST_F(Runner, ReportsATrialThatFailsAndGoesOn) {
  ExperimentPlan plan = small_plan();
  plan.methods[0].params.set("no_such_option", "1");
  ResultFile results(folder / "failed.csv");
  const RunReport report = run_plan(plan, "", results, {});
  EXPECT_EQ(report.failed.size(), 6U);
  EXPECT_EQ(results.results().size(), 6U);
}

TEST_F(Runner, RowsInMemoryGiveWhatTheirFileGives) {
  std::string text = "a,y\n";
  CaseData rows;
  rows.rows.x = Matrix(60, 1);
  for (int i = 0; i < 60; ++i) {
    rows.rows.x(static_cast<std::size_t>(i), 0) = i * i % 17;
    rows.rows.y.push_back(i % 7);
    text += std::to_string(i * i % 17) + "," + std::to_string(i % 7) + "\n";
  }
  std::ofstream(folder / "rows.csv") << text;
  const ExperimentPlan plan = parse_plan(R"({"name": "one", "repeats": 2,
    "cases": [{"name": "rows", "file": "rows.csv", "target": "y"}],
    "methods": ["pure_kernel bandwidth=infinite", "nrc regressor=ridge"]})",
                                         "one.json");
  ResultFile of_file;
  ResultFile of_memory;
  run_plan(plan, folder / ".", of_file, {.threads = 1, .progress = {}});
  run_plan(plan, rows, of_memory, {.threads = 2, .progress = {}});
  ASSERT_EQ(of_memory.results().size(), 4U);
  for (const auto& [key, result] : of_file.results()) {
    const std::vector<MetricValue>& other = of_memory.results().at(key).values;
    ASSERT_EQ(result.values.size(), other.size());
    for (std::size_t k = 0; k < other.size(); ++k)
      EXPECT_EQ(result.values[k].value, other[k].value);
  }
  expect_error(ErrorCode::kInvalidArgument, "rows of one case for a plan with 2",
               [&] { run_plan(small_plan(), rows, of_memory, {}); });
}

TEST_F(Runner, StopsWithinATrial) {
  ExperimentPlan plan = small_plan();
  plan.methods = {{"auto", {}}};
  const std::atomic<bool> stop{true};
  ResultFile results;
  Execution how;
  how.threads = 1;
  how.stop = &stop;
  EXPECT_THROW(run_plan(plan, "", results, how), Stopped);
  EXPECT_THROW(
      run_trial(plan.methods[0], draw_trial(plan, plan.cases[0], {}, 1, Seed{1}), Seed{1}, &stop),
      Stopped);
}

TEST_F(Runner, AllMethodsOfARepeatSeeTheSameRows) {
  ResultFile results(run("same.csv"));
  // The floor of AGCE is simulated from the repeat's seed, and an infinite window on a flat law
  // knows nothing but the calibration rows: a method that differs in name only must score the same.
  ExperimentPlan plan = small_plan();
  plan.methods = {plan.methods[0], plan.methods[0]};
  plan.methods[1].params.set("kernel", "laplace");
  ResultFile pair(folder / "pair.csv");
  run_plan(plan, "", pair, {});
  const SummaryTable table = summarise(plan, pair.results()).tables.at(0);
  ASSERT_EQ(table.rows.size(), 2U);
  for (std::size_t k = 0; k < table.metrics.size(); ++k) {
    EXPECT_EQ(table.rows[0].cells[k].mean, table.rows[1].cells[k].mean) << table.metrics[k];
  }
}

}  // namespace
}  // namespace tare
