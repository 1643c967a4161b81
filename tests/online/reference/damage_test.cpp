// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "expect_error.h"
#include "online/reference/streams.h"

namespace tare::online_testing {
namespace {

TensorStore saved(const Configuration& one, const OnlineSetup& made) {
  const auto method = find_online_method(one.method).make(made);
  run(*method, streams(50, 7).front());
  TensorStore store;
  method->save(TensorWriter(store));
  return store;
}

void expect_refused(const Configuration& one, const OnlineSetup& made, const TensorStore& store) {
  try {
    find_online_method(one.method).load(made, TensorReader(store));
    ADD_FAILURE() << one.method << " " << one.options << ": a damaged state was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorruptFile) << error.what();
  }
}

Tensor with_first(const Tensor& tensor, double value) {
  std::vector<std::byte> bytes(tensor.bytes.span().begin(), tensor.bytes.span().end());
  std::memcpy(bytes.data(), &value, sizeof value);
  return {tensor.dtype, tensor.shape, Buffer<std::byte>(std::move(bytes))};
}

TEST(OnlineDamagedState, AbsentPartsWrongShapesAndValuesAreRefused) {
  for (const Configuration& one : configurations()) {
    const OnlineSetup made = setup({0.05, 0.25, 0.75, 0.95}, one.options);
    const TensorStore good = saved(one, made);
    for (const auto& [name, tensor] : good.tensors) {
      TensorStore bad = good;
      bad.tensors.erase(name);
      expect_refused(one, made, bad);
      for (const double value :
           {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        bad = good;
        bad.tensors[name] = with_first(tensor, value);
        expect_refused(one, made, bad);
      }
      bad = good;
      bad.tensors[name].shape.push_back(1);
      expect_refused(one, made, bad);
      bad = good;
      bad.tensors[name].dtype = Dtype::kI64;
      expect_refused(one, made, bad);
    }
    for (const Json& count : {Json(-1), Json(1e300), Json("50"), Json(1),
                              Json(std::uint64_t{1} << 60), Json(nullptr)}) {
      TensorStore bad = good;
      bad.values["learned"] = count;
      expect_refused(one, made, bad);
    }
  }
}

TEST(OnlineDamagedState, AStateForOtherLevelsOrAnotherWindowIsRefused) {
  for (const Configuration& one : configurations()) {
    const TensorStore good = saved(one, setup({0.05, 0.95}, one.options));
    if (one.method != "enbpi" && one.method != "trailing") {
      expect_refused(one, setup({0.05, 0.25, 0.75, 0.95}, one.options), good);
    }
    if (one.options.find("window=") == std::string::npos) {
      expect_refused(one, setup({0.05, 0.95}, one.options + " window=10"), good);
    }
  }
}

TEST(OnlineDamagedState, ValuesThatNoStreamLeadsToAreRefused) {
  const auto refuse = [](const Configuration& one, const std::string& tensor, double value) {
    const OnlineSetup made = setup({0.05, 0.95}, one.options);
    TensorStore bad = saved(one, made);
    bad.tensors[tensor] = with_first(bad.tensors[tensor], value);
    expect_refused(one, made, bad);
  };
  refuse({"dtaci", ""}, "state", -0.5);  // a weight
  refuse({"dtaci", ""}, "state", 2.0);
  refuse({"aci", ""}, "scores_0", -1.0);  // an absolute score
  refuse({"eci", ""}, "state", std::numeric_limits<double>::max());
  // The number of misses of pid is whole and at most that of the rows.
  for (const double misses : {-1.0, 0.5, 51.0}) {
    const Configuration pid{"pid", ""};
    const OnlineSetup made = setup({0.05, 0.95});
    TensorStore bad = saved(pid, made);
    const std::vector<double> state = {0.0, misses};
    TensorWriter(bad).tensor("state", std::span<const double>(state), {1, 2});
    expect_refused(pid, made, bad);
  }
}

TEST(OnlineMethodTable, UnknownNamesAndOptionsAreNamed) {
  expect_error(ErrorCode::kNotFound, "tracker", [] { find_online_method("traker"); });
  for (const OnlineMethodInfo& method : online_methods()) {
    EXPECT_EQ(find_online_method(method.name).name, method.name);
    EXPECT_FALSE(method.summary.empty());
    EXPECT_FALSE(method.guarantee.empty());
    EXPECT_FALSE(method.citation.empty());
    expect_error(ErrorCode::kInvalidArgument, "colour",
                 [&] { method.make(setup({0.1}, "colour=red")); });
    expect_error(ErrorCode::kInvalidArgument, "level", [&] { method.make(setup({})); });
    for (const ParamInfo& option : method.options) {
      // The default that is shown is the default that is used.
      OnlineSetup shown = setup({0.05, 0.95});
      shown.params.set(std::string(option.name), std::string(option.fallback));
      const auto with = method.make(shown);
      const auto without = method.make(setup({0.05, 0.95}));
      for (const Stream& stream : streams(400, 8)) {
        const auto a = run(*with, stream);
        const auto b = run(*without, stream);
        for (std::size_t t = 0; t < stream.rows(); ++t) {
          ASSERT_EQ(a[t].quantiles, b[t].quantiles) << method.name << " " << option.name;
        }
      }
      shown.params.set(std::string(option.name), "-1");
      EXPECT_THROW(method.make(shown), Error) << method.name << " " << option.name;
    }
  }
}

}  // namespace
}  // namespace tare::online_testing
