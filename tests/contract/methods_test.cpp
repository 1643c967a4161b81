// SPDX-License-Identifier: BSD-3-Clause
// What every method promises, checked for every row of the table: a new row is tested the moment it
// exists.
#include "tare/calibrate/methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include <unistd.h>

#include "every_method.h"
#include "expect_error.h"
#include "expect_finite.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/model_file.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr std::size_t kRows = 240;

class MethodContract : public testing::TestWithParam<std::string> {
 protected:
  MethodContract()
      : method(find_method(GetParam())),
        data(draw(find_problem("hetero_2"), kRows, Seed{1})),
        params(quick_params(method)) {
    path = std::filesystem::temp_directory_path() /
           ("tare_contract_" + GetParam() + "_" + std::to_string(::getpid()) + ".tare");
  }
  ~MethodContract() override { std::filesystem::remove(path); }

  std::unique_ptr<QuantileModel> fit(std::uint64_t seed = 7, std::size_t threads = 0) const {
    FitInput input{.x = data.x, .y = data.y};
    input.seed = Seed{seed};
    return fit_method(method, input, params, {.threads = threads, .progress = {}});
  }
  /// What fit() gives, trained once for all tests of this method that only ask it.
  const QuantileModel& fitted() const {
    static std::map<std::string, std::unique_ptr<QuantileModel>> models;
    auto& model = models[GetParam()];
    if (model == nullptr) model = fit();
    return *model;
  }
  std::vector<double> quantiles(const QuantileModel& model, std::size_t threads = 0) const {
    const auto p = model.predict({data.x}, levels, {.threads = threads, .progress = {}});
    return {p.quantiles.values().begin(), p.quantiles.values().end()};
  }
  void save(std::unique_ptr<QuantileModel> model) const {
    FittedModel fitted;
    fitted.method = GetParam();
    fitted.params = params;
    fitted.rows = kRows;
    fitted.model = std::move(model);
    save_model(path, fitted, Replace::kReplace);
  }
  std::string bytes() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const Method& method;
  Sample data;
  Params params;
  std::vector<Level> levels = metric_levels();
  std::filesystem::path path;
};

TEST_P(MethodContract, QuantilesDoNotCross) {
  const auto p = fitted().predict({data.x}, levels);
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto row = p.quantiles.row(i);
    EXPECT_TRUE(std::is_sorted(row.begin(), row.end())) << "row " << i;
    for (const double q : row) EXPECT_FALSE(std::isnan(q)) << "row " << i;
  }
}

TEST_P(MethodContract, SameSeedSameFileAndSameAnswers) {
  save(fit());
  const std::string first = bytes();
  save(fit());
  EXPECT_EQ(first, bytes());
}

TEST_P(MethodContract, ThreadsDoNotChangeAByte) {
  save(fit(7, 1));
  const std::string one = bytes();
  const auto expected = quantiles(*load_model(path).model, 1);
  for (const std::size_t threads : {2U, 8U}) {
    save(fit(7, threads));
    EXPECT_EQ(one, bytes()) << threads << " threads";
    EXPECT_EQ(expected, quantiles(*load_model(path).model, threads)) << threads << " threads";
  }
}

TEST_P(MethodContract, MemoryIsAsGoodAsAFile) {
  save(fit());
  const FittedModel from_file = load_model(path);
  std::vector<std::byte> memory = save_model_to_memory(from_file);
  const std::string file = bytes();
  ASSERT_EQ(memory.size(), file.size());
  EXPECT_TRUE(std::ranges::equal(memory, std::as_bytes(std::span(file))));
  const FittedModel from_memory = load_model_from_memory(memory, "here");
  EXPECT_EQ(from_memory.method, GetParam());
  EXPECT_EQ(quantiles(*from_memory.model), quantiles(*from_file.model));
  memory[memory.size() / 2] ^= std::byte{1};
  expect_error(ErrorCode::kCorruptFile, "here: ", [&] { load_model_from_memory(memory, "here"); });
  memory.resize(5);
  expect_error(ErrorCode::kCorruptFile, "here: ", [&] { load_model_from_memory(memory, "here"); });
}

TEST_P(MethodContract, DescribesItselfAsItsFileDoes) {
  for (const char* around : {"", "guarantee=split bounds=-100,100"}) {
    FittedModel own;
    own.method = GetParam();
    own.params = params;
    own.params.merge(Params::parse(around));
    own.rows = kRows;
    own.seed = Seed{7};
    FitInput input{.x = data.x, .y = data.y};
    input.seed = own.seed;
    own.model = fit_method(method, input, own.params);
    const Description description = describe(own);
    const FittedModel loaded = load_model_from_memory(save_model_to_memory(own));
    EXPECT_EQ(description_json(description), description_json(describe(loaded)));
    EXPECT_EQ(description.guarantee.has_value(), own.model->has_guarantee());
    EXPECT_EQ(loaded.model->has_guarantee(), own.model->has_guarantee());
    EXPECT_EQ(loaded.model->delivers_levels(), own.model->delivers_levels());
    EXPECT_EQ(description.warnings.empty(), own.model->has_guarantee());
  }
}

TEST_P(MethodContract, SavedAndLoadedPredictsTheSame) {
  auto model = fit();
  const auto before = quantiles(*model);
  save(std::move(model));
  const FittedModel loaded = load_model(path);
  EXPECT_EQ(before, quantiles(*loaded.model));
  EXPECT_EQ(loaded.method, GetParam());
  EXPECT_EQ(loaded.model->features(), data.x.cols());
}

TEST_P(MethodContract, OneRowAtATimeGivesTheSameAsAll) {
  const auto all = fitted().predict({data.x}, levels);
  for (std::size_t i = 0; i < kRows; i += 17) {
    const auto one = fitted().predict({data.x.view().middle_rows(i, 1)}, levels);
    EXPECT_TRUE(std::ranges::equal(all.quantiles.row(i), one.quantiles.row(0))) << "row " << i;
  }
}

TEST_P(MethodContract, NoRowsGiveNoAnswers) {
  const auto none = fitted().predict({data.x.view().middle_rows(0, 0)}, levels);
  EXPECT_EQ(none.quantiles.rows(), 0U);
}

TEST_P(MethodContract, WrongColumnCountIsRefused) {
  const Matrix wider(3, data.x.cols() + 1);
  expect_error(ErrorCode::kShapeMismatch, "features", [&] { fitted().predict({wider}, levels); });
  const Matrix given(3, 1);
  expect_error(ErrorCode::kShapeMismatch, "given", [&] {
    fitted().predict({data.x.view().middle_rows(0, 3), given}, levels);
  });
}

TEST_P(MethodContract, RowsThatDisagreeAreRefused) {
  FitInput input{.x = data.x, .y = std::span<const double>(data.y).first(kRows - 1)};
  expect_error(ErrorCode::kShapeMismatch, "239 targets",
               [&] { fit_method(method, input, params); });
}

TEST_P(MethodContract, ValuesThatAreNotFiniteAreRefused) {
  data.y[5] = std::nan("");
  expect_error(ErrorCode::kBadData, "row 6", [&] { fit(); });
}

TEST_P(MethodContract, AConstantTargetGivesThatConstant) {
  std::fill(data.y.begin(), data.y.end(), 0.1);
  for (const double q : quantiles(*fit())) EXPECT_EQ(q, 0.1);
}

TEST_P(MethodContract, UnitsOfTheTargetDoNotMatter) {
  const auto before = quantiles(fitted());
  for (double& y : data.y) y *= 1024.0;  // a power of two: exact but for what is added to it
  const auto after = quantiles(*fit());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(after[i], 1024.0 * before[i], 1e-3 * (1.0 + std::abs(1024.0 * before[i])));
  }
}

TEST_P(MethodContract, AnAbsurdQueryGetsAnOrderedAnswer) {
  for (double& y : data.y) y *= 1e300;
  Matrix far(2, data.x.cols(), 1e308);
  for (double& value : far.row(1)) value = -1e308;
  const auto p = fit()->predict({far}, levels);
  for (std::size_t i = 0; i < far.rows(); ++i) {
    const auto row = p.quantiles.row(i);
    EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
    for (const double q : row) EXPECT_FALSE(std::isnan(q));
  }
}

TEST_P(MethodContract, AnUnknownOptionIsRefused) {
  params.set("no_such_option", "1");
  expect_error(ErrorCode::kInvalidArgument, "no_such_option", [&] { fit(); });
}

TEST_P(MethodContract, AnAnswerDoesNotDependOnWhatElseIsAsked) {
  const auto all = fitted().predict({data.x}, levels);
  for (const std::size_t j : {0U, 4U, 50U, 99U}) {
    const auto one = fitted().predict({data.x}, std::span<const Level>(levels).subspan(j, 1));
    for (std::size_t i = 0; i < kRows; ++i) {
      EXPECT_EQ(all.quantiles(i, j), one.quantiles(i, 0)) << "row " << i << ", level " << j;
    }
  }
}

TEST_P(MethodContract, TakesAGuarantee) {
  params.set("guarantee", "split:0.25");
  auto model = fit(7, 1);
  const auto before = quantiles(*model);
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::span<const double> row(before.data() + i * levels.size(), levels.size());
    EXPECT_TRUE(std::ranges::is_sorted(row)) << "row " << i;
    // 60 rows: ranks 1 and 60 of 61 keep levels from 1/61 = 0.0164 on, others go on from there.
    for (const double q : row) EXPECT_TRUE(std::isfinite(q)) << "row " << i;
  }
  save(std::move(model));
  const std::string first = bytes();
  EXPECT_EQ(before, quantiles(*load_model(path).model));
  FittedModel loaded = load_model(path);
  save_model(path.string() + ".again", loaded, Replace::kReplace);
  std::ifstream again(path.string() + ".again", std::ios::binary);
  EXPECT_EQ(first, std::string(std::istreambuf_iterator<char>(again), {}));
  std::filesystem::remove(path.string() + ".again");
  save(fit(7, 2));
  EXPECT_EQ(first, bytes()) << "2 threads";
}

TEST_P(MethodContract, TakesAGuaranteeByFolds) {
  params.set("guarantee", "cross:2");
  auto model = fit(7, 1);
  const auto before = quantiles(*model);
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::span<const double> row(before.data() + i * levels.size(), levels.size());
    EXPECT_TRUE(std::ranges::is_sorted(row)) << "row " << i;
    for (const double q : row) EXPECT_TRUE(std::isfinite(q)) << "row " << i;
  }
  save(std::move(model));
  const std::string first = bytes();
  EXPECT_EQ(before, quantiles(*load_model(path).model));
  save(fit(7, 2));
  EXPECT_EQ(first, bytes()) << "2 threads";
}

/// From the far tails on. A method may refuse 30 rows, with a reason.
TEST_P(MethodContract, EveryAnswerIsFinite) {
  for (const std::size_t rows : {30U, 300U}) {
    const Sample sample = draw(find_problem("hetero_2"), rows, Seed{3});
    for (const char* guarantee : {"none", "split:0.7", "cross:2"}) {
      if (rows == 300U && guarantee[0] == 'c') continue;  // TakesAGuaranteeByFolds
      params.set("guarantee", guarantee);
      FitInput input{.x = sample.x, .y = sample.y};
      input.seed = Seed{7};
      std::unique_ptr<QuantileModel> model;
      try {
        model = fit_method(method, input, params);
      } catch (const Error& error) {
        EXPECT_LT(rows, 100U) << guarantee;
        EXPECT_EQ(error.code(), ErrorCode::kBadData) << error.what();
        continue;
      }
      SCOPED_TRACE(std::to_string(rows) + " rows, guarantee " + guarantee);
      expect_finite(*model, data.x.view().middle_rows(0, 60));
    }
  }
}

TEST_P(MethodContract, TheTableSaysWhatItIs) {
  EXPECT_FALSE(method.summary.empty());
  EXPECT_FALSE(method.guarantee.empty());
  EXPECT_FALSE(method.citation.empty());
  EXPECT_NO_THROW(Params::parse(method.defaults));
}

INSTANTIATE_TEST_SUITE_P(All, MethodContract, testing::ValuesIn(all_method_names()),
                         [](const auto& name) { return name.param; });

TEST(Methods, AreFoundInAnySpelling) {
  EXPECT_EQ(find_method("NRC-RF").name, "nrc_rf");
  EXPECT_EQ(find_method("pure kernel").name, "pure_kernel");
  for (const Method& method : methods()) {
    if (method.paper.empty()) continue;
    EXPECT_EQ(find_method(method.paper).name, method.name);
  }
  expect_error(ErrorCode::kNotFound, "known: auto, nrc", [] { find_method("magic"); });
}

TEST(ModelFile, CanOnlyBeReplacedOnPurpose) {
  const auto path =
      std::filesystem::temp_directory_path() / ("tare_replace_" + std::to_string(::getpid()));
  const Sample data = draw(find_problem("hetero_1"), 50, Seed{1});
  FittedModel fitted;
  fitted.method = "pure_kernel";
  fitted.model = fit_method(find_method("pure_kernel"), {.x = data.x, .y = data.y}, {});
  save_model(path, fitted);
  expect_error(ErrorCode::kInvalidArgument, "exists already", [&] { save_model(path, fitted); });
  EXPECT_NO_THROW(save_model(path, fitted, Replace::kReplace));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tare
