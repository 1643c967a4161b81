// SPDX-License-Identifier: BSD-3-Clause
// Damaged states of a stream: refused, or a state whose answers are sound; never a crash, and never
// memory for rows that the state does not hold.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>

#include "draws.h"
#include "online/stream/stream_cases.h"
#include "tare/base/error.h"

namespace tare::online_testing {
namespace {

std::size_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss);
}

/// Loads a state that may be damaged, and uses it if it is taken.
bool is_taken(const TensorStore& store) {
  try {
    OnlineStream stream = OnlineStream::load(TensorReader(store));
    for (std::size_t t = 0; t < 40; ++t) {
      const std::vector<double> x(stream.options().features, 0.25 * static_cast<double>(t));
      const PendingRow row = stream.answer(1.0, x);
      const auto& q = row.answer.quantiles;
      for (std::size_t j = 0; j < q.size(); ++j) {
        EXPECT_FALSE(std::isnan(q[j]));
        if (j > 0) {
          EXPECT_LE(q[j - 1], q[j]);
        }
      }
      stream.learn(row, x, t % 2 == 0 ? 2.0 : 0.0);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

TensorStore some_state(const std::string& method) {
  // Enough rows for a choice of structure with columns, and a window that is full.
  StreamOptions options = stream_options(method, 2, 1, method == "snq" ? "window=50" : "");
  options.known_later = {1};
  OnlineStream stream(options);
  follow_rows(stream, stream_rows(90, 2, Seed{421}));
  return state_of(stream);
}

Tensor with_bytes(const Tensor& tensor, std::vector<std::byte> bytes) {
  return {tensor.dtype, tensor.shape, Buffer<std::byte>(std::move(bytes))};
}

TEST(StreamDamage, WhatIsAbsentOrOfAnotherShapeIsRefused) {
  for (const OnlineMethodInfo& method : online_methods()) {
    const TensorStore good = some_state(std::string(method.name));
    ASSERT_TRUE(is_taken(good)) << method.name;
    for (const auto& [name, tensor] : good.tensors) {
      TensorStore bad = good;
      bad.tensors.erase(name);
      EXPECT_FALSE(is_taken(bad)) << method.name << " without " << name;
      bad = good;
      bad.tensors[name].shape.push_back(1);
      EXPECT_FALSE(is_taken(bad)) << method.name << ", shape of " << name;
      bad = good;
      bad.tensors[name].dtype = Dtype::kU8;
      EXPECT_FALSE(is_taken(bad)) << method.name << ", type of " << name;
    }
    for (const auto& [name, value] : good.values) {
      TensorStore bad = good;
      bad.values.erase(name);
      EXPECT_FALSE(is_taken(bad)) << method.name << " without " << name;
      bad = good;
      bad.values[name] = Json::object({{"a", Json::array()}});
      EXPECT_FALSE(is_taken(bad)) << method.name << ", type of " << name;
    }
  }
}

TEST(StreamDamage, FlippedBytesAreRefusedOrGiveSoundAnswers) {
  for (const OnlineMethodInfo& method : online_methods()) {
    const TensorStore good = some_state(std::string(method.name));
    for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
      Rng rng(split(Seed{422}, draw));
      for (const auto& [name, tensor] : good.tensors) {
        if (tensor.bytes.size() == 0) continue;
        std::vector<std::byte> bytes(tensor.bytes.span().begin(), tensor.bytes.span().end());
        const std::size_t size = dtype_size(tensor.dtype);
        const std::size_t at = size * rng.below(bytes.size() / size);
        // The whole element, or its end with sign and exponent.
        for (std::size_t i = draw % 2 == 0 ? 0 : size - 2; i < size; ++i) {
          bytes[at + i] = static_cast<std::byte>(rng.below(256));
        }
        TensorStore bad = good;
        bad.tensors[name] = with_bytes(tensor, std::move(bytes));
        is_taken(bad);
        if (HasFailure()) FAIL() << method.name << ": " << name << ", draw " << draw;
      }
    }
  }
}

TEST(StreamDamage, ElementsAtTheEndsOfTheNumbersGiveNoNan) {
  const TensorStore good = some_state("snq");
  for (const double value : {0.0, -1.0, 5e-324, 1e305, -1e305, std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    for (const auto& [name, tensor] : good.tensors) {
      if (tensor.dtype != Dtype::kF64 || tensor.bytes.size() == 0) continue;
      for (const bool all : {false, true}) {
        auto values = TensorReader(good).values<double>(name, tensor.shape);
        std::fill(values.begin(), all ? values.end() : values.begin() + 1, value);
        const auto bytes = std::as_bytes(std::span(values));
        TensorStore bad = good;
        bad.tensors[name] = with_bytes(tensor, {bytes.begin(), bytes.end()});
        is_taken(bad);
        if (HasFailure()) FAIL() << name << ", " << value;
      }
    }
  }
}

TEST(StreamDamage, CountsAreRefusedBeforeAnythingOfTheirSizeIsAllocated) {
  const TensorStore good = some_state("snq");
  const std::size_t before = peak_kilobytes();
  for (const auto& [name, value] : good.values) {
    for (const Json& other :
         {Json(-1), Json(0), Json(1), Json(std::uint64_t{1} << 31), Json(std::uint64_t{1} << 52),
          Json(1e300), Json(-1e300), Json("window"), Json(nullptr)}) {
      TensorStore bad = good;
      bad.values[name] = other;
      is_taken(bad);
      if (HasFailure()) FAIL() << name << " " << other;
    }
  }
  // Lists that are longer than any stream writes.
  const auto list = [&](const char* name, std::size_t length, std::size_t from) {
    TensorStore bad = good;
    Json::array_t values;
    for (std::size_t i = 0; i < length; ++i) values.push_back(from + i);
    bad.values[name] = std::move(values);
    EXPECT_FALSE(is_taken(bad)) << name;
  };
  list("method.structure.lags", 5'000, 2);
  list("method.structure.lags", 2, 1);  // within the delay of 1
  list("method.structure.columns", 5'000, 0);
  list("known_later", 3, 0);
  TensorStore bad = good;
  bad.values["method.structure.columns"] = Json::array({1, 0});
  EXPECT_FALSE(is_taken(bad));
  // A window for a million rows, and two billion features.
  bad = good;
  bad.values["params"] = Json::object({{"window", "1000000"}});
  EXPECT_FALSE(is_taken(bad));
  EXPECT_LT(peak_kilobytes() - before, 300'000U);
}

}  // namespace
}  // namespace tare::online_testing
