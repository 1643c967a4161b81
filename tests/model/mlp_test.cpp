// SPDX-License-Identifier: BSD-3-Clause
#include "model/network/mlp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

#include "io/tensor_store.h"
#include "model/sample.h"
#include "tare/base/error.h"

namespace tare {
namespace {

/// What networks on rows share.
class NetworkRegressor : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Regressor> fit(const Sample& sample, const char* options = "epochs=20",
                                 const Execution& how = {}) const {
    return find_regressor(GetParam()).fit(sample.data(), Params::parse(options), Seed{1}, how);
  }

  static TensorStore stored(const Regressor& model) {
    TensorStore store;
    model.save(TensorWriter(store));
    return store;
  }

  void expect_corrupt(const TensorStore& store) const {
    try {
      find_regressor(GetParam()).load(TensorReader(store));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorruptFile) << error.what();
    }
  }
};

double rmse(const Regressor& model, const Sample& sample) {
  const auto predicted = predictions(model, sample.x);
  double squares = 0.0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    squares += std::pow(predicted[i] - sample.y[i], 2.0);
  return std::sqrt(squares / static_cast<double>(predicted.size()));
}

TEST_P(NetworkRegressor, LearnsAWave) {
  const auto model = fit(make_sample(2000, 2, Seed{1}, 0.1), "");
  EXPECT_LT(rmse(*model, make_sample(2000, 2, Seed{2}, 0.1)), 0.13);  // 0.1 is noise
}

TEST_P(NetworkRegressor, AnswerToARowDoesNotDependOnTheRowsAroundIt) {
  const Sample sample = make_sample(10'000, 5, Seed{3});
  const auto model = fit(sample, "epochs=2");
  const auto all = predictions(*model, sample.x, 2);
  for (const auto& [first, count] :
       {std::pair{0U, 1U}, {1U, 7U}, {9'000U, 129U}, {77U, 5'000U}, {9'999U, 1U}}) {
    const auto some = predictions(*model, sample.x.view().middle_rows(first, count));
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + first)) << first;
  }
}

TEST_P(NetworkRegressor, FarAwayQueriesGetFiniteAnswers) {
  const Sample sample = make_sample(100, 3, Seed{4});
  const auto model = fit(sample);
  Matrix far(2, 3, std::numeric_limits<double>::max());
  far(1, 0) = far(1, 1) = -std::numeric_limits<double>::max();
  for (const double value : predictions(*model, far)) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(NetworkRegressor, GridKeepsThePairWithTheLowestValidationLoss) {
  const Sample sample = make_sample(300, 2, Seed{5});
  const auto loss_of = [&](const char* options) {
    return stored(*fit(sample, options)).values.at("validation_loss").get<double>();
  };
  const TensorStore chosen = stored(*fit(sample, "grid=paper epochs=5"));
  const double best = chosen.values.at("validation_loss").get<double>();
  double lowest = std::numeric_limits<double>::infinity();
  for (const char* rate : {"0.01", "0.005", "0.001"}) {
    for (const char* batch : {"10", "64", "128"}) {
      const std::string options = std::string("epochs=5 learning_rate=") + rate + " batch=" + batch;
      lowest = std::min(lowest, loss_of(options.c_str()));
    }
  }
  EXPECT_EQ(best, lowest);
  const TensorStore fixed = stored(*fit(sample, "grid=paper epochs=5 learning_rate=0.002"));
  EXPECT_EQ(fixed.values.at("learning_rate").get<double>(), 0.002);
}

TEST_P(NetworkRegressor, GridDoesNotDependOnThreads) {
  const Sample sample = make_sample(200, 2, Seed{6});
  Execution one, four;
  one.threads = 1;
  four.threads = 4;
  EXPECT_EQ(predictions(*fit(sample, "grid=paper epochs=3", one), sample.x),
            predictions(*fit(sample, "grid=paper epochs=3", four), sample.x));
}

TEST_P(NetworkRegressor, ReportsProgressUpToTheEndAndCanBeStopped) {
  const Sample sample = make_sample(100, 2, Seed{7});
  double last = 0.0;
  Execution how;
  how.threads = 2;
  how.progress = [&](std::string_view stage, double share) {
    EXPECT_EQ(stage, GetParam());
    EXPECT_GE(share, last - 1e-12);
    last = share;
  };
  fit(sample, "grid=paper epochs=3", how);
  EXPECT_NEAR(last, 1.0, 1e-9);
  how.progress = [](std::string_view, double) { throw Error(ErrorCode::kIo, "stop"); };
  EXPECT_THROW(fit(sample, "epochs=3", how), Error);
}

TEST_P(NetworkRegressor, DamagedFilesAreRejected) {
  const TensorStore good = stored(*fit(make_sample(50, 5, Seed{8}), "epochs=1"));
  for (const auto& [name, tensor] : good.tensors) {
    TensorStore bad = good;
    bad.tensors.at(name).shape.back() += 1;
    expect_corrupt(bad);
    bad = good;
    bad.tensors.erase(name);
    expect_corrupt(bad);
    bad = good;
    bad.tensors.at(name).bytes = Buffer<std::byte>(
        std::vector<std::byte>(tensor.bytes.size(), std::byte{0xff}));  // not a number
    expect_corrupt(bad);
  }
  for (const auto& [name, value] : good.values) {
    TensorStore bad = good;
    bad.values.at(name) = "nonsense";
    expect_corrupt(bad);
  }
}

INSTANTIATE_TEST_SUITE_P(All, NetworkRegressor, testing::Values("mlp", "lstm"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Mlp, EmbeddingIsWhatTheOutputLayerSees) {
  const Sample sample = make_sample(500, 3, Seed{9});
  const auto model =
      fit_mlp(sample.data(), Params::parse("hidden=8 embed=4 epochs=30"), Seed{1}, {});
  const MlpRegressor* mlp = as_mlp(*model);
  ASSERT_NE(mlp, nullptr);
  EXPECT_EQ(mlp->embedding_size(), 4U);
  const Matrix embedded = mlp->embed(sample.x);
  ASSERT_EQ(embedded.cols(), 4U);

  TensorStore store;
  model->save(TensorWriter(store));
  const TensorReader in(store);
  const auto weight = in.part("layer2").values<float>("weight", {4, 1});
  const auto bias = in.part("layer2").values<float>("bias", {1, 1});
  const auto target = in.values<double>("target", {2});
  const auto predicted = predictions(*model, sample.x);
  for (std::size_t i = 0; i < 500; ++i) {
    double sum = static_cast<double>(bias[0]);
    for (std::size_t j = 0; j < 4; ++j) sum += embedded(i, j) * static_cast<double>(weight[j]);
    EXPECT_NEAR(predicted[i], target[0] + target[1] * sum, 1e-5);
  }
  const auto loaded = load_mlp(in);
  EXPECT_TRUE(std::ranges::equal(as_mlp(*loaded)->embed(sample.x).values(), embedded.values()));
}

TEST(Mlp, WithoutAnEmbeddingItIsTheLastHiddenLayer) {
  const Sample sample = make_sample(50, 2, Seed{10});
  const auto model = fit_mlp(sample.data(), Params::parse("hidden=6,3 epochs=1"), Seed{1}, {});
  EXPECT_EQ(as_mlp(*model)->embedding_size(), 3U);
  EXPECT_THROW(as_mlp(*model)->embed(Matrix(1, 3)), Error);
}

TEST(Mlp, OtherRegressorsAreNotOne) {
  const Sample sample = make_sample(50, 2, Seed{11});
  EXPECT_EQ(as_mlp(*find_regressor("ridge").fit(sample.data(), {}, {}, {})), nullptr);
}

TEST(Mlp, LayersThatCannotBeAreRejected) {
  const Sample sample = make_sample(50, 2, Seed{12});
  for (const char* hidden :
       {"hidden=", "hidden=0", "hidden=20,,20", "hidden=a", "hidden=1e3", "hidden=5000"}) {
    EXPECT_THROW(fit_mlp(sample.data(), Params::parse(hidden), {}, {}), Error) << hidden;
  }
}

}  // namespace
}  // namespace tare
