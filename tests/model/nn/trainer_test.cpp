// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "model/nn/graph/operations.h"
#include "model/nn/layers.h"
#include "tare/base/error.h"

namespace {

thread_local std::size_t allocations = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded =
      (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// For the whole program: counts what each thread allocates.
void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t a) {
  return counted(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return counted(size, static_cast<std::size_t>(a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tare::nn {
namespace {

/// y = sin(3 x) on 230 rows, 200 of which train: neither a multiple of the minibatch nor of a
/// vector.
class Sine {
 public:
  explicit Sine(double dropout = 0.0)
      : mlp_(layout_, 1, std::vector<std::size_t>{16, 8}, 1), rows_(230) {
    mlp_.dropout_rate = dropout;
    std::iota(rows_.begin(), rows_.end(), 0);
    problem.parameters = layout_.size();
    problem.train = std::span(rows_).first(200);
    problem.validation = std::span(rows_).subspan(200);
    problem.initialise = [this](std::span<float> values, Rng& rng) {
      mlp_.initialise(values, rng);
    };
    problem.record = [this](Graph<float>& graph, std::size_t rows, Rng* noise) {
      const Var<float> x = graph.input(rows, 1);
      const Var<float> y = graph.input(rows, 1);
      Batch batch;
      batch.loss = mean(square(mlp_(x, noise) - y));
      batch.load = [this, x, y](std::span<const std::size_t> chosen) {
        loaded += chosen.size();
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          x.value()[i] = x_of(chosen[i]);
          y.value()[i] = std::sin(3.0F * x_of(chosen[i]));
        }
      };
      return batch;
    };
  }

  double validation_loss(std::span<const float> parameters) const {
    Graph<float> graph(parameters);
    const Batch batch = problem.record(graph, 30, nullptr);
    batch.load(problem.validation);
    graph.forward();
    return static_cast<double>(batch.loss.value()[0]);
  }

  TrainProblem problem;
  mutable std::size_t loaded = 0;

 private:
  static float x_of(std::size_t row) {
    return static_cast<float>((row * 97) % 230) / 115.0F - 1.0F;
  }

  Layout layout_;
  Mlp mlp_;
  std::vector<std::size_t> rows_;
};

TrainOptions quick() {
  TrainOptions options;
  options.adam.learning_rate = 1e-2;
  options.batch = 32;
  options.epochs = 200;
  options.seed = Seed{4};
  return options;
}

TEST(Train, LearnsAndGivesBackTheBestWeights) {
  const Sine sine;
  std::vector<double> losses;
  TrainOptions options = quick();
  options.progress = [&](std::size_t epoch, double loss) {
    losses.push_back(loss);
    EXPECT_EQ(epoch, losses.size());
  };
  const TrainResult result = train(sine.problem, options);
  EXPECT_LT(result.validation_loss, 0.01);
  EXPECT_EQ(result.validation_loss, std::ranges::min(losses));
  EXPECT_EQ(losses[result.best_epoch - 1], result.validation_loss);
  EXPECT_EQ(result.epochs, losses.size());
  EXPECT_NEAR(sine.validation_loss(result.parameters), result.validation_loss, 1e-6);
}

TEST(Train, StopsWhenTheBestLossIsPatienceEpochsOld) {
  const Sine sine;
  TrainOptions options = quick();
  options.adam.learning_rate = 0.5;  // restless: it will not improve for long
  options.epochs = 5000;
  options.patience = 7;
  const TrainResult result = train(sine.problem, options);
  EXPECT_LT(result.epochs, 5000U);
  EXPECT_EQ(result.epochs, result.best_epoch + 7);
}

TEST(Train, SameSeedSameWeightsAlsoSideBySide) {
  const Sine sine(0.1);
  const TrainResult alone = train(sine.problem, quick());
  std::vector<TrainResult> results(3);
  {
    std::vector<std::jthread> threads;
    for (TrainResult& result : results) {
      threads.emplace_back([&result] { result = train(Sine(0.1).problem, quick()); });
    }
  }
  for (const TrainResult& result : results) EXPECT_EQ(result.parameters, alone.parameters);
  TrainOptions other = quick();
  other.seed = Seed{5};
  EXPECT_NE(train(sine.problem, other).parameters, alone.parameters);
}

TEST(Train, AllocatesNothingAfterTheFirstStep) {
  const Sine sine(0.1);
  TrainOptions options = quick();
  options.epochs = 30;
  options.patience = 30;
  std::size_t first = 0;
  std::size_t last = 0;
  options.schedule = [&](double share) {
    if (share == 0.0) first = allocations;
    return 1.0;
  };
  options.progress = [&](std::size_t, double) { last = allocations; };
  train(sine.problem, options);
  EXPECT_GT(first, 0U);
  EXPECT_EQ(first, last);
}

TEST(Train, RowsThatFillNoMinibatchAreTrainedOnOrDropped) {
  for (const auto& [remainder, rows] :
       {std::pair{Remainder::kTrain, 200U}, std::pair{Remainder::kDrop, 192U}}) {
    const Sine sine;
    TrainOptions options = quick();
    options.epochs = 3;
    options.remainder = remainder;
    train(sine.problem, options);
    EXPECT_EQ(sine.loaded, 3 * (rows + 30));
  }
}

TEST(Train, AMinibatchLargerThanTheDataIsAllOfIt) {
  const Sine sine;
  TrainOptions options = quick();
  options.batch = 100'000;
  options.epochs = 2;
  options.remainder = Remainder::kDrop;
  train(sine.problem, options);
  EXPECT_EQ(sine.loaded, 2 * 230U);
}

TEST(Train, ScheduleGoesFromZeroTowardsOne) {
  const Sine sine;
  TrainOptions options = quick();
  options.epochs = 3;
  std::vector<double> shares;
  options.schedule = [&](double share) {
    shares.push_back(share);
    return 0.0;  // nothing is learned
  };
  const TrainResult result = train(sine.problem, options);
  EXPECT_EQ(shares.front(), 0.0);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_LT(shares.back(), 1.0);
  EXPECT_EQ(shares.size(), 3 * 7U);
  EXPECT_EQ(result.best_epoch, 1U);
}

/// One parameter p, starting at 1, with loss p^4: overflows for |p| above 4.3e9.
TrainProblem steep(std::span<const std::size_t> row, const Layout& layout, const Block& block) {
  TrainProblem problem;
  problem.parameters = layout.size();
  problem.train = problem.validation = row;
  problem.initialise = [](std::span<float> values, Rng&) { values[0] = 1.0F; };
  problem.record = [&block](Graph<float>& graph, std::size_t, Rng*) {
    return Batch{sum(square(square(graph.parameter(block)))), [](std::span<const std::size_t>) {}};
  };
  return problem;
}

TEST(Train, TriesOnceMoreAtAThirdOfTheRate) {
  const std::size_t row[] = {0};
  Layout layout;
  const Block block = layout.add(1, 1);
  TrainOptions options;
  options.epochs = 1;
  options.adam.learning_rate = 1e10;
  EXPECT_DOUBLE_EQ(train(steep(row, layout, block), options).learning_rate, 1e10 / 3.0);
  options.adam.learning_rate = 1e11;
  try {
    train(steep(row, layout, block), options);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    EXPECT_THAT(error.what(), testing::HasSubstr("diverged"));
    EXPECT_THAT(error.what(), testing::HasSubstr("smaller learning_rate"));
  }
}

}  // namespace
}  // namespace tare::nn
