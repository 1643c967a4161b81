// SPDX-License-Identifier: BSD-3-Clause
// Files whose parts agree with each other, made to cost more than they weigh or to read outside.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "expect_error.h"
#include "forged_models.h"
#include "io/safetensors.h"
#include "memory_limit.h"
#include "small_models.h"
#include "tare/apply/predictor.h"
#include "tare/base/error.h"
#include "tare/calibrate/model_file.h"

namespace tare {
namespace {

TensorStore store_of(const std::string& name) {
  const auto bytes = std::make_shared<const std::vector<std::byte>>(small_model(name).bytes);
  return read_safetensors(*bytes, bytes, name);
}

template <class T>
std::vector<T> elements(const TensorStore& store, const std::string& name) {
  const Tensor& tensor = store.tensors.at(name);
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

template <class T>
void put(TensorStore& store, const std::string& name, const std::vector<T>& values) {
  TensorWriter(store).tensor(name, values);
}

FittedModel load_within_limit(const TensorStore& store) {
  const std::vector<std::byte> bytes = safetensors_bytes(store);
  const MemoryLimit limit(kFixedBytes + kBytesPerByte * bytes.size());
  return load_model_from_memory(bytes, "hostile");
}

void expect_refused(const TensorStore& store, const std::string& part) {
  expect_error(ErrorCode::kCorruptFile, part, [&] { load_within_limit(store); });
}

Json number_column(const std::string& name) {
  return {{"name", name},
          {"categorical", false},
          {"vocabulary", Json::array()},
          {"typical", 0.0},
          {"for_model", true}};
}

// A window multiplies the columns: 20 KB would ask for rows of 16 MB each.
TEST(HostileModels, AWindowDoesNotMultiplyColumnsWithoutEnd) {
  TensorStore store = store_of("pure_kernel");
  constexpr std::size_t kColumns = 200;
  constexpr std::size_t kWindow = 10'000;
  Json& schema = store.values["schema"];
  schema["inputs"] = Json::array();
  for (std::size_t j = 0; j < kColumns; ++j) {
    schema["inputs"].push_back(number_column(fmt::format("x{}", j)));
  }
  schema["window"] = kWindow;
  for (const char* name : {"model.features", "model.features.inputs", "model.point.0.features"}) {
    ASSERT_TRUE(store.values.contains(name)) << name;
    store.values[name] = kColumns * kWindow;
  }
  expect_refused(store, "too large for the file");
}

TEST(HostileModels, ALongNameDoesNotMultiplyCategories) {
  TensorStore store = store_of("pure_kernel");
  Json column = number_column(std::string(1 << 20, 'n'));
  column["categorical"] = true;
  for (int k = 0; k < 900; ++k) column["vocabulary"].push_back(fmt::format("{:03}", k));
  store.values["schema"]["inputs"].push_back(column);
  expect_refused(store, "too long a name");
}

// One role asks for the column's cells as numbers, the other for texts.
TEST(HostileModels, AColumnHasOneRole) {
  const TensorStore good = store_of("given_sd");
  for (const char* name : {"a", "yhat", "sd", "y"}) {
    TensorStore store = good;
    Json& inputs = store.values["schema"]["inputs"];
    for (Json& input : inputs) {
      if (input["name"] == "colour") input["name"] = name;
    }
    expect_refused(store, "two roles");
  }
}

TEST(HostileModels, CategoriesAreInOrder) {
  TensorStore store = store_of("pure_kernel");
  for (Json& input : store.values["schema"]["inputs"]) {
    if (input["name"] == "colour") input["vocabulary"] = {"red", "green"};
  }
  expect_refused(store, "contradicts itself");
}

// 60 layers of one unit on 10,000 steps: 600,000 states from a file of 400 KB.
TEST(HostileModels, ALongWindowAndManyLayersAreRefused) {
  TensorStore store = store_of("window_lstm");
  const std::string part = "model.point.0.";
  ASSERT_TRUE(store.values.contains(part + "units"));
  store.values[part + "window"] = 10'000;
  store.values[part + "units"] = std::vector<int>(60, 1);
  store.values[part + "features"] = 10'000;
  put(store, part + "center", std::vector<double>(10'000, 0.0));
  put(store, part + "scale", std::vector<double>(10'000, 1.0));
  expect_refused(store, "60 layers on a window of 10000 steps");
}

// What is allowed stays within the memory that is stated.
TEST(HostileModels, TheLargestRecurrentNetworkIsWithinTheLimit) {
  TensorStore store = store_of("window_lstm");
  const std::string part = "model.point.0.";
  constexpr std::size_t kWindow = 10'000;
  const TensorWriter out(store);
  std::string last = part;
  store.values[part + "window"] = kWindow;
  store.values[part + "units"] = std::vector<int>(6, 1);
  store.values[part + "features"] = kWindow;
  put(store, part + "center", std::vector<double>(kWindow, 0.0));
  put(store, part + "scale", std::vector<double>(kWindow, 1.0));
  const std::vector<float> four(4, 0.0F);
  for (int k = 0; k < 6; ++k) {
    for (const char* name : {"input", "recurrent", "bias"}) {
      out.tensor<float>(fmt::format("{}layer{}.{}", part, k, name), four, {1, 4});
    }
  }
  out.tensor<float>(part + "head.weight", std::vector<float>(1), {1, 1});
  out.tensor<float>(part + "head.bias", std::vector<float>(1), {1, 1});
  store.values["model.features"] = kWindow;
  store.values["model.features.inputs"] = kWindow;
  store.values["model.point.members"] = 1;
  Json& schema = store.values["schema"];
  schema["inputs"] = Json::array({number_column("a")});  // braces around one value: clang copies it
  schema["window"] = kWindow;
  Table rows;
  rows.add_numbers("a", std::vector<double>(kWindow + 1, 0.5));
  const std::vector<std::byte> bytes = safetensors_bytes(store);
  std::string how;
  EXPECT_EQ(outcome_of(bytes, rows, false, how), "");
  EXPECT_EQ(how, "answered");
}

TEST(HostileModels, AWalkThroughATreeEnds) {
  const TensorStore good = store_of("with_bounds");
  const std::string part = "model.point.0.";
  const auto feature = elements<std::int32_t>(good, part + "feature");
  const auto left = elements<std::int32_t>(good, part + "left");
  std::size_t split = 0;  // a split that is not the root
  for (std::size_t k = 1; k < feature.size() && split == 0; ++k) {
    if (feature[k] >= 0) split = k;
  }
  ASSERT_GT(split, 0U);
  const auto nodes = static_cast<std::int32_t>(feature.size());
  for (const std::int32_t child : {static_cast<std::int32_t>(split), 0, -1, nodes, nodes + 1000}) {
    for (const char* side : {"left", "right"}) {
      TensorStore store = good;
      auto children = elements<std::int32_t>(good, part + side);
      children[split] = child;
      put(store, part + side, children);
      expect_refused(store, "damaged at node");
    }
  }
  for (const std::int32_t column : {-2, 1'000'000}) {
    TensorStore store = good;
    auto columns = feature;
    columns[split] = column;
    put(store, part + "feature", columns);
    expect_refused(store, "damaged at node");
  }
}

// Finite weights whose products are not: an Error, never NaN as a quantile.
TEST(HostileModels, WhatIsNoNumberIsNoAnswer) {
  TensorStore store = store_of("cqr");
  auto weight = elements<float>(store, "model.network.level_weight");
  std::fill(weight.begin(), weight.end(), 3e38F);
  const Shape shape = store.tensors.at("model.network.level_weight").shape;
  TensorWriter(store).tensor<float>("model.network.level_weight", weight, shape);
  Predictor predictor(load_within_limit(store));
  expect_error(ErrorCode::kBadData, "too large to compute with",
               [&] { predictor.answer(small_model("pure_kernel").rows); });
}

}  // namespace
}  // namespace tare
