// SPDX-License-Identifier: BSD-3-Clause
#include "index/dense/dense_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel_oracle.h"
#include "tare/base/rng.h"
#include "vector_targets.h"

namespace tare {
namespace {

using Real = long double;

constexpr KernelKind kDenseKernels[] = {KernelKind::kNaive,      KernelKind::kEpanechnikov,
                                        KernelKind::kTriangular, KernelKind::kTricube,
                                        KernelKind::kGaussian,   KernelKind::kLaplace};

TEST(DenseKernels, ExponentialsAreGoodToTwoUnits) {
  on_every_vector_target([] {
    Real worst = 0;
    std::array<float, kDenseChunk> distance;
    std::array<float, kDenseChunk> weight;
    // The scale of this bandwidth is -1: the weight of v is 2^-v, and nothing else is rounded.
    const double bandwidth = std::sqrt(0.5 / std::log(2.0));
    ASSERT_EQ(dense_curve(KernelKind::kGaussian, bandwidth).scale, -1.0F);
    for (std::size_t i = 0; i < 20'000; i += kDenseChunk) {
      for (std::size_t k = 0; k < kDenseChunk; ++k) {
        distance[k] = static_cast<float>(i + k) * (124.9F / 20'000.0F);
      }
      dense_row_weights(dense_curve(KernelKind::kGaussian, bandwidth), distance.data(), 0.0F,
                        nullptr, weight.data());
      for (std::size_t k = 0; k < kDenseChunk; ++k) {
        const Real exact = std::exp2(-static_cast<Real>(distance[k]));
        worst = std::max(worst, std::abs(static_cast<Real>(weight[k]) / exact - 1));
      }
    }
    EXPECT_LT(worst, 2 * 0x1.0p-23L);
    distance.fill(200.0F);
    distance[1] = std::numeric_limits<float>::infinity();
    distance[2] = 1e30F;
    distance[3] = 0.0F;
    dense_row_weights(dense_curve(KernelKind::kGaussian, bandwidth), distance.data(), 0.0F, nullptr,
                      weight.data());
    for (std::size_t k = 0; k < kDenseChunk; ++k) EXPECT_EQ(weight[k], k == 3 ? 1.0F : 0.0F);
  });
}

struct Points {
  std::size_t rows = 0;
  std::size_t dims = 0;
  std::vector<double> columns;
  std::vector<double> weights;
  std::vector<std::vector<double>> queries;

  Real squared_distance(std::size_t row, std::size_t query) const {
    Real sum = 0;
    for (std::size_t j = 0; j < dims; ++j) {
      const Real apart = static_cast<Real>(columns[j * rows + row]) - queries[query][j];
      sum += apart * apart;
    }
    return sum;
  }
  Real weight(std::size_t row) const {
    if (weights.empty()) return 1;
    return weights[row] / *std::max_element(weights.begin(), weights.end());
  }
};

Points random_points(Rng& rng, std::size_t rows, std::size_t dims, bool weighted) {
  Points p{rows, dims, std::vector<double>(rows * dims), {}, {}};
  for (double& value : p.columns) value = 5.0 + rng.normal();
  for (std::size_t i = 0; i < rows && weighted; ++i) p.weights.push_back(rng.uniform(0.1, 3.0));
  p.queries.assign(kDenseBlock, std::vector<double>(dims));
  for (auto& query : p.queries) {
    for (double& value : query) value = 5.0 + rng.normal();
  }
  for (std::size_t j = 0; j < dims; ++j) p.queries[0][j] = p.columns[j * rows];  // a row itself
  return p;
}

/// Chunk sums, minima, squares, places and the sweep for one block, each against the definition.
void check_block(const Points& p, DenseMetric metric) {
  const DenseRows rows(p.columns, p.rows, p.dims, p.weights);
  ASSERT_TRUE(rows.usable());
  std::vector<DenseQueries> block(1, DenseQueries(rows, metric));
  for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
    ASSERT_TRUE(block[0].set(lane, p.queries[lane]));
  }
  const double h = 0.8 * std::sqrt(static_cast<double>(p.dims));
  const DenseCurve curve = dense_curve(KernelKind::kGaussian, h);
  std::vector<DenseSums> sums(1);
  sum_dense_weights(rows, block, curve, sums);
  constexpr std::size_t kTargets = 9;
  Matrix targets(kDenseBlock, kTargets);
  for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
    for (std::size_t t = 0; t < kTargets; ++t) {
      targets(lane, t) = sums[0].total(lane) * static_cast<double>(t + 1) / (kTargets + 0.5);
    }
  }
  std::vector<std::uint32_t> places(kDenseBlock * kTargets);
  dense_places(rows, block, curve, sums, targets, places);
  for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
    std::vector<Real> cumulated(p.rows + 1, 0);
    Real squares = 0;
    Real nearest = std::numeric_limits<Real>::infinity();
    for (std::size_t i = 0; i < p.rows; ++i) {
      const Real r2 = p.squared_distance(i, lane);
      const Real w = p.weight(i) * oracle::kernel(KernelKind::kGaussian, r2, h);
      cumulated[i + 1] = cumulated[i] + w;
      squares += w * w;
      nearest = std::min(nearest, r2);
      const double found = static_cast<double>(sums[0].chunk_nearest(i / kDenseChunk)[lane]);
      const double norm = block[0].norm(lane);
      const double r = std::sqrt(static_cast<double>(r2));
      ASSERT_LE(found,
                static_cast<double>(r2) + dense_squared_error(metric, {p.dims, norm, norm + r, r}));
    }
    const Real total = cumulated.back();
    ASSERT_NEAR(sums[0].total(lane) / static_cast<double>(total), 1.0, 1e-5);
    ASSERT_NEAR(sums[0].squares(lane) / static_cast<double>(squares), 1.0, 1e-5);
    ASSERT_NEAR(sums[0].nearest(lane), static_cast<double>(nearest), 1e-4);
    for (std::size_t t = 0; t < kTargets; ++t) {
      const std::size_t place = places[lane * kTargets + t];
      ASSERT_LT(place, p.rows);
      const Real share = static_cast<Real>(t + 1) / (kTargets + 0.5L);
      ASSERT_GE(cumulated[place + 1] / total, share - 1e-5L) << "lane " << lane;
      ASSERT_LE(cumulated[place] / total, share + 1e-5L) << "lane " << lane;
    }
  }
}

TEST(DenseWeights, AreThoseOfTheDefinitionWithRowsOutOfTheCache) {
  Rng rng(Seed{13});
  const Points p = random_points(rng, 4'500, 32, false);
  ASSERT_FALSE(DenseRows(p.columns, p.rows, p.dims, p.weights).in_cache());
  check_block(p, DenseMetric::kDifferences);
}

/// Places at some levels for `count` queries of `p`, in turn.
std::vector<std::uint32_t> places_of(const Points& p, const DenseRows& rows, std::size_t count) {
  constexpr std::size_t kTargets = 5;
  const DenseCurve curve = dense_curve(KernelKind::kLaplace, 2.0);
  std::vector<DenseQueries> blocks((count + kDenseBlock - 1) / kDenseBlock,
                                   DenseQueries(rows, DenseMetric::kDifferences));
  for (std::size_t q = 0; q < count; ++q) {
    EXPECT_TRUE(blocks[q / kDenseBlock].set(q % kDenseBlock, p.queries[q * 7 % kDenseBlock]));
  }
  std::vector<DenseSums> sums(blocks.size());
  sum_dense_weights(rows, blocks, curve, sums);
  Matrix targets(count, kTargets);
  for (std::size_t q = 0; q < count; ++q) {
    for (std::size_t t = 0; t < kTargets; ++t) {
      targets(q, t) =
          sums[q / kDenseBlock].total(q % kDenseBlock) * (static_cast<double>(t) + 0.5) / kTargets;
    }
  }
  std::vector<std::uint32_t> places(count * kTargets);
  dense_places(rows, blocks, curve, sums, targets, places);
  return places;
}

TEST(DenseWeights, PlacesDoNotDependOnTheQueriesBeside) {
  Rng rng(Seed{14});
  for (const std::size_t dims : {3U, 32U}) {  // rows in the cache, and not
    const Points p = random_points(rng, 4'500, dims, false);
    const DenseRows rows(p.columns, p.rows, p.dims, p.weights);
    EXPECT_EQ(rows.in_cache(), dims == 3);
    const auto many = places_of(p, rows, 77);
    for (const std::size_t count : {1U, 31U, 34U, 70U}) {
      const auto few = places_of(p, rows, count);
      ASSERT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << count << " queries";
    }
  }
}

TEST(DenseWeights, NoPlaceHasNoWeight) {
  // Two clusters so far apart that the weights of one are zero for the other's queries.
  on_every_vector_target([] {
    Rng rng(Seed{15});
    Points p = random_points(rng, 200, 1, false);
    for (std::size_t i = 0; i < p.rows; ++i) p.columns[i] += i % 3 == 0 ? 0.0 : 1000.0;
    const DenseRows rows(p.columns, p.rows, p.dims, p.weights);
    for (const std::uint32_t place : places_of(p, rows, kDenseBlock)) ASSERT_EQ(place % 3, 0U);
  });
}

TEST(DenseWeights, AreThoseOfTheDefinition) {
  on_every_vector_target([] {
    Rng rng(Seed{3});
    for (const std::size_t rows : {1U, 31U, 32U, 33U, 500U, 1100U}) {
      for (const std::size_t dims : {1U, 2U, 7U, 33U}) {
        const Points p = random_points(rng, rows, dims, rows % 2 == 1);
        for (const auto metric :
             {DenseMetric::kProduct, DenseMetric::kDifferences, DenseMetric::kSplit}) {
          check_block(p, metric);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

TEST(DenseWeights, OneQueryAndABlockOfThemGiveTheSameBits) {
  on_every_vector_target([] {
    Rng rng(Seed{4});
    const Points p = random_points(rng, 100, 11, false);
    const DenseRows rows(p.columns, p.rows, p.dims, {});
    for (const auto metric :
         {DenseMetric::kProduct, DenseMetric::kDifferences, DenseMetric::kSplit}) {
      DenseQueries block(rows, metric);
      for (std::size_t lane = 0; lane < kDenseBlock; ++lane) block.set(lane, p.queries[lane]);
      std::vector<float> pairs(kDenseChunk * kDenseBlock);
      std::array<float, kDenseChunk> one;
      for (const KernelKind kind : {KernelKind::kGaussian, KernelKind::kLaplace}) {
        for (std::size_t chunk = 0; chunk < rows.chunks(); ++chunk) {
          dense_chunk_distances(rows.view(), block.view(), chunk, kind, pairs.data());
          for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
            dense_row_distances(rows.view(), block.view(), lane, {chunk, chunk + 1}, kind,
                                one.data());
            for (std::size_t r = 0; r < kDenseChunk; ++r) {
              ASSERT_EQ(one[r], pairs[r * kDenseBlock + lane]);
            }
          }
        }
      }
    }
  });
}

TEST(DenseWeights, TheBoundOnTheErrorHoldsAndIsNotIdle) {
  Rng rng(Seed{5});
  for (const auto metric :
       {DenseMetric::kProduct, DenseMetric::kDifferences, DenseMetric::kSplit}) {
    double largest_share = 0.0;
    for (const std::size_t dims : {1U, 3U, 30U}) {
      Points p = random_points(rng, 400, dims, false);
      // Queries near rows and far from the centre: where norms cancel.
      for (std::size_t i = 0; i < p.rows; ++i) p.columns[i] += i % 2 == 0 ? 100.0 : -100.0;
      for (std::size_t q = 0; q < kDenseBlock; ++q) {
        for (std::size_t j = 0; j < dims; ++j) {
          p.queries[q][j] = p.columns[j * p.rows + q] + 0.01 * rng.normal();
        }
      }
      const DenseRows rows(p.columns, p.rows, p.dims, {});
      DenseQueries block(rows, metric);
      for (std::size_t q = 0; q < kDenseBlock; ++q) block.set(q, p.queries[q]);
      std::vector<float> found(rows.chunks() * kDenseChunk);
      for (std::size_t q = 0; q < kDenseBlock; ++q) {
        dense_row_distances(rows.view(), block.view(), q, {0, rows.chunks()}, KernelKind::kGaussian,
                            found.data());
        for (std::size_t i = 0; i < p.rows; ++i) {
          const Real r2 = p.squared_distance(i, q);
          const double r = std::sqrt(static_cast<double>(r2));
          const double bound = dense_squared_error(
              metric, {dims, block.norm(q), std::min(block.norm(q) + r, rows.largest_norm()), r});
          const auto error = static_cast<double>(std::abs(static_cast<Real>(found[i]) - r2));
          ASSERT_LE(error, bound) << dims << " features";
          largest_share = std::max(largest_share, error / bound);
        }
      }
    }
    EXPECT_GT(largest_share, 0.02) << "a bound so loose would send queries away for nothing";
  }
}

TEST(DenseKernels, TheSweepAddsUpTheWeightsOfEveryKernel) {
  on_every_vector_target([] {
    Rng rng(Seed{6});
    for (const bool weighted : {false, true}) {
      const Points p = random_points(rng, 32, 2, weighted);
      const DenseRows rows(p.columns, p.rows, p.dims, p.weights);
      DenseQueries block(rows, DenseMetric::kDifferences);
      for (std::size_t lane = 0; lane < kDenseBlock; ++lane) block.set(lane, p.queries[lane]);
      const std::array<float, kDenseBlock> no_shift{};
      std::vector<float> pairs(kDenseChunk * kDenseBlock);
      const std::vector<double> bandwidths = {0.3, 1.0, 7.0};
      std::vector<float> sums(bandwidths.size() * kDenseBlock);
      for (const KernelKind kind : kDenseKernels) {
        std::vector<DenseCurve> curves;
        for (const double h : bandwidths) curves.push_back(dense_curve(kind, h));
        dense_chunk_distances(rows.view(), block.view(), 0, kind, pairs.data());
        dense_sweep_sums(curves, pairs.data(), no_shift.data(), rows.view().weights, kDenseBlock,
                         sums.data());
        for (std::size_t b = 0; b < bandwidths.size(); ++b) {
          for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
            Real expected = 0;
            for (std::size_t i = 0; i < p.rows; ++i) {
              expected +=
                  p.weight(i) * oracle::kernel(kind, p.squared_distance(i, lane), bandwidths[b]);
            }
            ASSERT_NEAR(sums[b * kDenseBlock + lane], static_cast<double>(expected), 3e-5)
                << kernel_name(kind) << ", bandwidth " << bandwidths[b];
          }
        }
      }
    }
  });
}

TEST(DenseKernels, APlaceHasWeightAndReachesItsTarget) {
  on_every_vector_target([] {
    Rng rng(Seed{7});
    for (int trial = 0; trial < 300; ++trial) {
      std::array<float, kDenseChunk> weight;
      for (float& w : weight) w = rng.below(3) == 0 ? static_cast<float>(rng.below(4)) : 0.0F;
      weight[rng.below(kDenseChunk)] = 1.0F;
      const double before = static_cast<double>(rng.below(5));
      double total = before;
      for (const float w : weight) total += static_cast<double>(w);
      // Whole numbers: everything is exact. The last target is out of reach.
      const std::vector<double> targets = {before + 1.0, 0.5 * (before + total) + 0.25, total,
                                           total + 1e-9};
      std::array<std::size_t, 4> places{};
      dense_row_places(weight.data(), before, targets, places.data());
      for (std::size_t t = 0; t < targets.size(); ++t) {
        double reached = before;
        std::size_t expected = 0;
        for (std::size_t i = 0; i < kDenseChunk && reached < targets[t]; ++i) {
          reached += static_cast<double>(weight[i]);
          if (weight[i] > 0.0F) expected = i;
        }
        ASSERT_EQ(places[t], expected) << "trial " << trial << ", target " << targets[t];
      }
    }
  });
}

}  // namespace
}  // namespace tare
