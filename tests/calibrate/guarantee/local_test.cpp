// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/local/local_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "calibrate/guarantee/flipped_bytes.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/local/kernel_draw.h"
#include "calibrate/guarantee/rowwise/fit_rowwise.h"
#include "calibrate/guarantee/rowwise_problem.h"
#include "data/rows.h"
#include "draws.h"
#include "expect_error.h"
#include "math/kernel.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr double kEverywhere = std::numeric_limits<double>::infinity();

/// Held-out rows and where they lie on the curves of the line.
struct ScoredRows {
  explicit ScoredRows(CurvedProblem::Data rows)
      : data(std::move(rows)),
        scores(score_rows(*CurvedProblem::line_model(), guarantee_levels(),
                          {.x = data.x, .y = data.y}, {})) {}
  CurvedProblem::Data data;
  std::vector<RowScore> scores;
};

/// A guarantee with a kernel that is given: distances in the first feature, in its own units.
RowwiseGuarantee local_model(const ScoredRows& held_out, KernelKind kernel, double bandwidth,
                             LocalRanks::Options options) {
  auto inner = CurvedProblem::line_model();
  FeatureMapOptions columns;
  columns.columns = {0};
  columns.scale = Scale::kNone;
  LocalChoice choice;
  choice.map = FeatureMap::fit(Matrix(1, 4), {}, all_rows(1), columns, Seed{1});
  choice.kernel = kernel;
  choice.bandwidth = bandwidth;
  RowwiseGuarantee::Parts parts;
  parts.rule = std::make_unique<const LocalRanks>(std::move(choice), options, Rows{held_out.data.x},
                                                  *inner, held_out.scores, Execution{});
  parts.overall = GuaranteeRanks(held_out.scores);
  parts.inner = std::move(inner);
  parts.outer = options.outer;
  return RowwiseGuarantee(std::move(parts));
}

TEST(LocalRanks, AreThoseOfASplitWhereTheKernelIsFlat) {
  const ScoredRows held_out(CurvedProblem::draw(90, Seed{1}));
  const auto fresh = CurvedProblem::draw(20, Seed{2});
  const auto levels = metric_levels();
  for (const OuterLevels outer : {OuterLevels::kOwnTail, OuterLevels::kInfinite}) {
    const GuaranteedModel split(CurvedProblem::line_model(),
                                {.x = held_out.data.x, .y = held_out.data.y}, {}, outer);
    const RowwiseGuarantee local =
        local_model(held_out, KernelKind::kGaussian, kEverywhere, {.outer = outer});
    const Matrix expected = split.predict({fresh.x}, levels).quantiles;
    const Matrix found = local.predict({fresh.x}, levels).quantiles;
    EXPECT_TRUE(std::ranges::equal(expected.values(), found.values()));
  }
}

/// The largest share that a row can have of the weight: what coverage may exceed its level by.
double largest_share(const RowwiseGuarantee& model, const Matrix& x) {
  const std::vector<Level> outermost = {Level(0.999999)};
  const Matrix kept = model.delivered({x}, outermost);
  double sum = 0.0;
  for (const double level : kept.values()) sum += 1.0 - level;
  return sum / static_cast<double>(x.rows());
}

/// Over draws of held-out and new rows, the exact probability of each side is at least its level,
/// less two standard errors of its mean, and above it by at most the mean of the largest share of
/// the weight. There are 12 comparisons; the seed is fixed.
TEST(LocalRanks, KeepTheirLevelForEveryKernel) {
  struct Sums {
    double sum[2] = {};
    double squares[2] = {};
    double share = 0.0;
  };
  const std::vector<Level> levels = {Level(0.1), Level(0.9)};
  constexpr std::size_t kNew = 20;
  const std::uint64_t count = draws(500);
  const auto n = static_cast<double>(count);
  std::array<Sums, kAllKernels.size()> all;
  for (std::uint64_t d = 0; d < count; ++d) {
    const ScoredRows held_out(CurvedProblem::draw(80, split(Seed{5}, d)));
    const auto fresh = CurvedProblem::draw(kNew, split(Seed{6}, d));
    for (std::size_t k = 0; k < kAllKernels.size(); ++k) {
      const KernelKind kernel = kAllKernels[k];
      if (kernel == KernelKind::kKnn) continue;
      const double bandwidth = 0.4 * kernel_width_factor(kernel);
      const LocalRanks::Options options{.seed = split(Seed{7}, d), .fixed = false};
      LocalRanks::Options strict = options;
      strict.outer = OuterLevels::kInfinite;
      all[k].share += largest_share(local_model(held_out, kernel, bandwidth, options), fresh.x) / n;
      const Matrix q =
          local_model(held_out, kernel, bandwidth, strict).predict({fresh.x}, levels).quantiles;
      double covered[2] = {};
      for (std::size_t i = 0; i < kNew; ++i) {
        const double x = fresh.x(i, 0);
        covered[0] += (1.0 - CurvedProblem::below(x, q(i, 0))) / kNew;
        covered[1] += CurvedProblem::below(x, q(i, 1)) / kNew;
      }
      for (int side = 0; side < 2; ++side) {
        all[k].sum[side] += covered[side];
        all[k].squares[side] += covered[side] * covered[side];
      }
    }
  }
  for (std::size_t k = 0; k < kAllKernels.size(); ++k) {
    if (kAllKernels[k] == KernelKind::kKnn) continue;
    for (int side = 0; side < 2; ++side) {
      const double mean = all[k].sum[side] / n;
      const double error = std::sqrt((all[k].squares[side] / n - mean * mean) / n);
      const std::string name(kernel_name(kAllKernels[k]));
      RecordProperty(name + (side == 0 ? "_lower" : "_upper"), std::to_string(mean));
      EXPECT_GT(mean, 0.9 - 2.0 * error) << name << " " << error;
      EXPECT_LT(mean, 0.9 + all[k].share + 2.0 * error) << name << " " << error;
    }
  }
}

/// Exact coverage of the 90 % interval in five slices of x, over a grid.
std::vector<double> slices_of(const QuantileModel& model) {
  const auto [low, high] = interval_levels(0.9);
  const std::vector<Level> levels = {low, high};
  constexpr std::size_t kEach = 60;
  Matrix grid(5 * kEach, 2);
  Rng rng(Seed{77});
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    grid(i, 0) = -1.0 + 2.0 * (static_cast<double>(i) + 0.5) / static_cast<double>(grid.rows());
    grid(i, 1) = rng.uniform(-1.0, 1.0);  // each row has its own draw
  }
  const Matrix q = model.predict({grid}, levels).quantiles;
  std::vector<double> slices(5, 0.0);
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    const double x = grid(i, 0);
    slices[i / kEach] +=
        (CurvedProblem::below(x, q(i, 1)) - CurvedProblem::below(x, q(i, 0))) / kEach;
  }
  return slices;
}

double worst_error(std::span<const double> slices) {
  double worst = 0.0;
  for (const double slice : slices) worst = std::max(worst, std::abs(slice - 0.9));
  return worst;
}

/// The coverage of each slice over draws of 600 held-out rows, of which local ranks two thirds.
TEST(LocalRanks, HalveTheErrorOfTheWorstSlice) {
  std::vector<double> split_mean(5, 0.0), local_mean(5, 0.0);
  const std::uint64_t count = draws(40);
  const auto training = CurvedProblem::draw(500, Seed{20});
  for (std::uint64_t d = 0; d < count; ++d) {
    const auto held_out = CurvedProblem::draw(600, split(Seed{21}, d));
    const FitInput held{.x = held_out.x, .y = held_out.y, .seed = split(Seed{22}, d)};
    const GuaranteedModel by_split(CurvedProblem::line_model(), held, {});
    GuaranteeRule rule;
    rule.form = GuaranteeRule::Form::kLocal;
    const auto by_local = fit_rowwise(CurvedProblem::line_model(),
                                      {.x = training.x, .y = training.y}, held, rule, {});
    const auto of_split = slices_of(by_split);
    const auto of_local = slices_of(*by_local);
    for (std::size_t k = 0; k < 5; ++k) {
      split_mean[k] += of_split[k] / static_cast<double>(count);
      local_mean[k] += of_local[k] / static_cast<double>(count);
    }
  }
  EXPECT_LT(worst_error(local_mean), 0.5 * worst_error(split_mean))
      << worst_error(local_mean) << " " << worst_error(split_mean);
  RecordProperty("worst_of_split", std::to_string(worst_error(split_mean)));
  RecordProperty("worst_of_local", std::to_string(worst_error(local_mean)));
}

TEST(LocalRanks, ARowHasTheSameAnswerInEveryFile) {
  const ScoredRows held_out(CurvedProblem::draw(200, Seed{3}));
  const auto fresh = CurvedProblem::draw(30, Seed{4});
  const RowwiseGuarantee model =
      local_model(held_out, KernelKind::kGaussian, 0.2, {.seed = Seed{8}});
  const RowwiseGuarantee other =
      local_model(held_out, KernelKind::kGaussian, 0.2, {.seed = Seed{9}});
  const auto levels = metric_levels();
  const Matrix together = model.predict({fresh.x}, levels).quantiles;
  const Matrix drawn_again = other.predict({fresh.x}, levels).quantiles;
  EXPECT_FALSE(std::ranges::equal(together.values(), drawn_again.values()));
  for (std::size_t i = 0; i < fresh.x.rows(); ++i) {
    const Matrix alone = model.predict({fresh.x.view().middle_rows(i, 1)}, levels).quantiles;
    EXPECT_TRUE(std::ranges::equal(together.row(i), alone.row(0)));
    EXPECT_TRUE(std::ranges::is_sorted(together.row(i)));
    const std::vector<Level> one = {levels[90]};
    EXPECT_EQ(model.predict({fresh.x.view().middle_rows(i, 1)}, one).quantiles(0, 0),
              together(i, 90));
  }
}

/// The distance of a draw is below r with the kernel's own probability, by a sum over a fine grid.
TEST(LocalRanks, DrawFromTheKernel) {
  const std::size_t count = 5000;
  for (const KernelKind kernel : kAllKernels) {
    if (kernel == KernelKind::kKnn) continue;
    for (const std::size_t dims : {1U, 2U, 3U}) {
      Rng rng(Seed{dims});
      const std::vector<double> center(dims, 5.0);
      std::vector<double> drawn(dims);
      for (const double r : {0.3, 0.6, 0.9, 1.5}) {
        double whole = 0.0, inside = 0.0;
        for (double s = 0.0025; s < 30.0; s += 0.005) {
          const double squared = s * s;
          double weight = 0.0;
          kernel_weights(kernel, 1.0, {&squared, 1}, {&weight, 1});
          weight *= std::pow(s, static_cast<double>(dims) - 1.0);
          whole += weight;
          if (s < r) inside += weight;
        }
        std::size_t near = 0;
        for (std::size_t k = 0; k < count; ++k) {
          draw_near(kernel, 2.0, center, rng, drawn);
          double squares = 0.0;
          for (const double value : drawn) squares += (value - 5.0) * (value - 5.0) / 4.0;
          near += squares < r * r ? 1 : 0;
        }
        // Five standard errors of a share.
        EXPECT_NEAR(static_cast<double>(near) / count, inside / whole, 0.037)
            << kernel_name(kernel) << " " << dims << " " << r;
      }
    }
  }
}

TEST(LocalRanks, SayWhatIsProven) {
  const ScoredRows held_out(CurvedProblem::draw(200, Seed{3}));
  const auto fresh = CurvedProblem::draw(50, Seed{4});
  const std::vector<Level> levels = {Level(0.001), Level(0.4), Level(0.6), Level(0.999)};
  const auto drawn = local_model(held_out, KernelKind::kGaussian, 0.1, {});
  EXPECT_TRUE(drawn.delivers_levels());
  const Matrix kept = drawn.delivered({fresh.x}, levels);
  for (std::size_t i = 0; i < kept.rows(); ++i) {
    EXPECT_GT(kept(i, 0), 0.01) << "200 rows cannot keep it";
    EXPECT_LT(kept(i, 3), 0.99);
    EXPECT_EQ(kept(i, 1), 0.4);
    EXPECT_EQ(kept(i, 2), 0.6);
  }
  const auto fixed = local_model(held_out, KernelKind::kGaussian, 0.1, {.fixed = true});
  EXPECT_FALSE(fixed.delivers_levels());
  EXPECT_EQ(fixed.delivered({fresh.x}, levels).cols(), 0U);
  EXPECT_TRUE(fixed.has_guarantee());
}

FitInput input_from(const Sample& data) { return {.x = data.x, .y = data.y}; }

TEST(LocalGuarantee, ComesBackFromItsFileAndSurvivesFlippedBytes) {
  const Sample data = draw(find_problem("hetero_1"), 900, Seed{4});
  const Method& method = find_method("pure_kernel");
  const auto levels = metric_levels();
  const Rows rows{data.x.view().middle_rows(0, 5)};
  for (const char* form : {"local,share=0.5", "local,fixed,strict,share=0.5", "local,share=0.1",
                           "local,epanechnikov,share=0.6"}) {
    const auto model = fit_method(method, input_from(data),
                                  Params::parse(std::string("bandwidth=rate guarantee=") + form));
    TensorStore whole;
    model->save(TensorWriter(whole));
    ASSERT_TRUE(RowwiseGuarantee::is_in(TensorReader(whole)));
    const auto loaded = RowwiseGuarantee::load(TensorReader(whole), method.load);
    EXPECT_TRUE(std::ranges::equal(model->predict(rows, levels).quantiles.values(),
                                   loaded->predict(rows, levels).quantiles.values()));
    expect_flipped_bits_survived(whole, "rowwise.", 100, rows, levels, [&](const TensorReader& in) {
      return RowwiseGuarantee::load(in, method.load);
    });
  }
}

TEST(LocalGuarantee, RefusesWhatItCannotRank) {
  const Sample data = draw(find_problem("hetero_1"), 400, Seed{4});
  const Method& method = find_method("pure_kernel");
  const auto fit = [&](const FitInput& input, const char* options) {
    return fit_method(method, input, Params::parse(std::string("bandwidth=rate ") + options));
  };
  std::vector<double> weight(400, 1.0);
  weight[3] = 2.0;
  FitInput weighted = input_from(data);
  weighted.weight = weight;
  expect_error(ErrorCode::kInvalidArgument, "weights", [&] { fit(weighted, "guarantee=local"); });
  const std::vector<std::uint32_t> group(400, 0);
  FitInput grouped = input_from(data);
  grouped.group = group;
  expect_error(ErrorCode::kInvalidArgument, "groups", [&] { fit(grouped, "guarantee=local"); });
  expect_error(ErrorCode::kInvalidArgument, "time order",
               [&] { fit(input_from(data), "guarantee=local split=time"); });
  for (const char* wrong : {"local:0.3", "local,share=1", "local,knn", "local,near", "local,"}) {
    expect_error(ErrorCode::kInvalidArgument, "local",
                 [&] { fit(input_from(data), (std::string("guarantee=") + wrong).c_str()); });
  }
}

}  // namespace
}  // namespace tare
