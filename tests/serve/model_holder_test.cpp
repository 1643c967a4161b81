// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/model_holder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "expect_error.h"
#include "io/temp_folder.h"
#include "small_model.h"

namespace tare::serve {
namespace {

std::vector<double> answers(const ServedModel& model) {
  Matrix x(2, 3);
  x(0, 0) = 4.0;
  x(0, 1) = 1.0;
  x(1, 0) = 9.0;
  x(1, 2) = 1.0;
  const std::vector<Level> levels = {Level{0.1}, Level{0.5}, Level{0.9}};
  const Prediction prediction = model.fitted().model->predict({x}, levels);
  return {prediction.quantiles.values().begin(), prediction.quantiles.values().end()};
}

class Holder : public testing::Test {
 protected:
  Holder() { save_model(path_, small_model(1)); }

  TempFolder folder_;
  std::string path_ = folder_ / "m.tare";
};

TEST_F(Holder, SwitchesToAnotherFileAndNumbersModels) {
  ModelHolder holder(path_);
  EXPECT_EQ(holder.now()->number, 1U);
  const auto before = holder.now();
  save_model(path_, small_model(2), Replace::kReplace);
  std::uint32_t announced = 0;
  const auto result = holder.reload([&](std::uint32_t number) {
    announced = number;
    EXPECT_EQ(holder.now(), before) << "announced before the switch";
  });
  EXPECT_EQ(result.outcome, ModelHolder::Outcome::kSwitched);
  EXPECT_EQ(announced, 2U);
  EXPECT_EQ(holder.now()->number, 2U);
  EXPECT_NE(answers(*holder.now()->model), answers(*before->model));
}

TEST_F(Holder, TheSameBytesAreTheSameModel) {
  ModelHolder holder(path_);
  const auto before = holder.now();
  const auto result = holder.reload([](std::uint32_t) { FAIL(); });
  EXPECT_EQ(result.outcome, ModelHolder::Outcome::kSame);
  EXPECT_EQ(holder.now(), before);
}

TEST_F(Holder, RefusesEveryFileThatIsCutOrDamagedAndGoesOnServing) {
  const std::string good = read_bytes(path_);
  ModelHolder holder(path_);
  const auto before = holder.now();
  const std::vector<double> expected = answers(*before->model);
  std::vector<std::string> bad = {"", "x", good.substr(0, good.size() / 2),
                                  good.substr(0, good.size() - 1), good + "x"};
  for (std::size_t i = 0; i < good.size(); i += good.size() / 20) {
    bad.push_back(good);
    bad.back()[i] = static_cast<char>(bad.back()[i] ^ 1);
  }
  for (const std::string& bytes : bad) {
    write_bytes(path_, bytes);  // in place: what serves must not be a map of this file
    const auto result = holder.reload([](std::uint32_t) { FAIL(); });
    EXPECT_EQ(result.outcome, ModelHolder::Outcome::kRefused);
    EXPECT_NE(result.reason.find("m.tare"), std::string::npos) << result.reason;
    EXPECT_EQ(result.reason.find("/proc/"), std::string::npos) << result.reason;
    EXPECT_EQ(holder.now(), before);
    EXPECT_EQ(answers(*holder.now()->model), expected);
  }
  std::filesystem::remove(path_);
  EXPECT_EQ(holder.reload([](std::uint32_t) {}).outcome, ModelHolder::Outcome::kRefused);
  EXPECT_EQ(answers(*holder.now()->model), expected);
}

TEST_F(Holder, RefusesAModelThatNeedsOtherColumns) {
  ModelHolder holder(path_);
  save_model(path_, small_model(1, "renamed"), Replace::kReplace);
  const auto result = holder.reload([](std::uint32_t) { FAIL(); });
  EXPECT_EQ(result.outcome, ModelHolder::Outcome::kRefused);
  EXPECT_NE(result.reason.find("'renamed'"), std::string::npos) << result.reason;
}

TEST_F(Holder, AFileHasChangedOnceItIsAnotherAndStaysThat) {
  ModelHolder holder(path_);
  EXPECT_FALSE(holder.file_changed());
  write_bytes(path_, "half");
  EXPECT_FALSE(holder.file_changed()) << "it may still be written";
  write_bytes(path_, "whole file");
  EXPECT_FALSE(holder.file_changed()) << "it has changed once more";
  EXPECT_TRUE(holder.file_changed());
  EXPECT_FALSE(holder.file_changed()) << "said once";
  std::filesystem::remove(path_);
  EXPECT_FALSE(holder.file_changed());
  EXPECT_FALSE(holder.file_changed()) << "no file is nothing to load";
}

TEST_F(Holder, AFileThatWasLoadedOnRequestHasNotChanged) {
  ModelHolder holder(path_);
  save_model(path_, small_model(2), Replace::kReplace);
  EXPECT_EQ(holder.reload([](std::uint32_t) {}).outcome, ModelHolder::Outcome::kSwitched);
  EXPECT_FALSE(holder.file_changed());
  EXPECT_FALSE(holder.file_changed());
}

TEST_F(Holder, AFileThatIsNoModelIsAnErrorAtTheStart) {
  write_bytes(path_, "nothing");
  expect_error(ErrorCode::kCorruptFile, "m.tare", [&] { ModelHolder holder(path_); });
  expect_error(ErrorCode::kNotFound, "no such file", [&] { ModelHolder holder(path_ + "x"); });
}

}  // namespace
}  // namespace tare::serve
