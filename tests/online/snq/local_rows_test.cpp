// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/local_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "draws.h"
#include "expect_error.h"
#include "online/snq/history.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// The rows as a plain list, weighed in double precision from the definition in the header.
class ListedRows {
 public:
  ListedRows(std::size_t most, std::size_t dims) : most_(most), dims_(dims) {}

  void add(std::uint64_t time, double residual, const KernelPoint& point) {
    if (rows_.size() == most_) rows_.erase(rows_.begin());
    rows_.push_back({static_cast<double>(time), residual, point});
  }

  struct Weighed {
    double residual, weight;
  };
  /// Ascending; of equal residuals the one that came first.
  std::vector<Weighed> weigh(const KernelPoint& at, std::size_t window) const {
    const std::size_t kernel = window / 2;
    const bool forgets = window % 2 == 1;
    double newest = -std::numeric_limits<double>::infinity();
    for (const Row& row : rows_) newest = std::max(newest, row.time);
    std::vector<Weighed> weighed;
    for (const Row& row : rows_) {
      double weight = 1.0;
      if (kernel < 2 * kBandwidths) {
        const std::size_t dims = kernel < kBandwidths ? kNearDims : dims_;
        const double h = 2.8 / std::pow(2.0, static_cast<double>(kernel % kBandwidths));
        double squares = 0.0;
        for (std::size_t j = 0; j < dims; ++j) {
          squares += std::pow(static_cast<double>(row.point[j]) - static_cast<double>(at[j]), 2);
        }
        weight = std::exp(-squares / (2.0 * h * h)) + 1e-3;
      }
      if (forgets) weight *= std::exp((row.time - newest) / 300.0);
      weighed.push_back({row.residual, weight});
    }
    std::stable_sort(weighed.begin(), weighed.end(),
                     [](const Weighed& a, const Weighed& b) { return a.residual < b.residual; });
    return weighed;
  }

  static double quantile(const std::vector<Weighed>& rows, double level) {
    double total = 0.0;
    for (const Weighed& row : rows) total += row.weight;
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (sum + rows[i].weight >= level * total) {
        if (i == 0) return rows[0].residual;
        const double share = (level * total - sum) / rows[i].weight;
        return rows[i - 1].residual + share * (rows[i].residual - rows[i - 1].residual);
      }
      sum += rows[i].weight;
    }
    return rows.back().residual;
  }

 private:
  struct Row {
    double time, residual;
    KernelPoint point;
  };
  std::size_t most_;
  std::size_t dims_;
  std::vector<Row> rows_;
};

KernelPoint random_point(Rng& rng) {
  KernelPoint point;
  for (float& x : point) {
    x = static_cast<float>(std::clamp(2.0 * rng.normal(), -10.0, 10.0));
    if (rng.below(8) == 0) x = rng.below(2) == 0 ? 10.0F : -10.0F;
  }
  return point;
}

/// Weights are floats, and sums over blocks of 64 of them: cumulative shares are off by less than
/// this. The weights of the largest bandwidth are off by 3e-6 of themselves, and those of each
/// following one are their fourth powers. So a quantile lies between the list's at levels as much
/// lower and higher.
double share_off(std::size_t window) {
  const std::size_t kernel = window / 2;
  return kernel < 2 * kBandwidths
             ? 2e-5 + 3e-6 * std::pow(4.0, static_cast<double>(kernel % kBandwidths))
             : 2e-5;
}

void expect_same_quantiles(const LocalRows& rows, const ListedRows& list, const KernelPoint& at) {
  LocalRows::Weights weights;
  rows.weigh(at, weights);
  for (std::size_t window = 0; window < kWindows; ++window) {
    const auto weighed = list.weigh(at, window);
    double last = -std::numeric_limits<double>::infinity();
    for (const double level : {0.002, 0.05, 0.31, 0.5, 0.77, 0.95, 0.998}) {
      const double found = rows.quantile(weights, window, level);
      const double eps = 1e-9 * (1.0 + std::abs(found));
      ASSERT_GE(found, ListedRows::quantile(weighed, level - share_off(window)) - eps)
          << "window " << window << ", level " << level;
      ASSERT_LE(found, ListedRows::quantile(weighed, level + share_off(window)) + eps)
          << "window " << window << ", level " << level;
      ASSERT_LE(last, found);
      last = found;
    }
    double total = 0.0;
    double squares = 0.0;
    for (const auto& row : weighed) {
      total += row.weight;
      squares += row.weight * row.weight;
    }
    ASSERT_NEAR(rows.effective_rows(weights, window) / (total * total / squares), 1.0,
                5.0 * share_off(window))
        << "window " << window;
  }
}

TEST(LocalRows, QuantilesAreThoseOfAPlainListOfRows) {
  for (std::uint64_t draw = 0; draw < draws(60); ++draw) {
    Rng rng(split(Seed{301}, draw));
    const std::size_t most = draw % 7 == 0 ? 2 : 2 + rng.below(400);
    const std::size_t dims = rng.below(2) == 0 ? kDimsWithoutSeason : kKernelDims;
    LocalRows rows(most);
    rows.clear(dims);
    ListedRows list(most, dims);
    const bool tied = rng.below(3) == 0;
    std::uint64_t time = rng.below(2) == 0 ? 0 : rng.below(1'000'000'000);
    const std::size_t steps = 1 + rng.below(2 * most + 5);
    for (std::size_t t = 0; t < steps; ++t) {
      time += rng.below(20) == 0 ? 1 + rng.below(200) : 1;
      const double residual = tied ? std::round(rng.normal()) : rng.normal() / rng.uniform();
      const KernelPoint point = random_point(rng);
      rows.add(time, residual, point);
      list.add(time, residual, point);
      ASSERT_EQ(rows.size(), std::min(t + 1, most));
    }
    expect_same_quantiles(rows, list, random_point(rng));
    if (HasFatalFailure()) return;
  }
}

TEST(LocalRows, RecencyKeepsItsMeaningOverManySteps) {
  // The numbers that say how recent a row is are rebased every 18,000 steps.
  Rng rng(Seed{302});
  constexpr std::size_t kMost = 150;
  LocalRows rows(kMost);
  rows.clear(kKernelDims);
  ListedRows list(kMost, kKernelDims);
  std::uint64_t time = 0;
  for (std::size_t t = 0; t < 50'000; ++t) {
    // Two gaps: of some half-lives, and longer than what a float can express.
    time += t == 20'000 ? 2'000 : t == 40'000 ? 60'000 : 1;
    const double residual = rng.normal();
    const KernelPoint point = random_point(rng);
    rows.add(time, residual, point);
    list.add(time, residual, point);
    if (t % 2'500 == 0 || (t >= 18'000 && t < 18'003) || (t >= 40'000 && t < 40'003)) {
      expect_same_quantiles(rows, list, point);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(LocalRows, AnswersAreTheSameBitsWhereverTheyAreComputed) {
  // Sums have a written order, so a state that was saved and loaded, or a scratch that was used for
  // more rows before, changes nothing.
  for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
    Rng rng(split(Seed{303}, draw));
    const std::size_t dims = draw % 2 == 0 ? kDimsWithoutSeason : kKernelDims;
    LocalRows rows(200);
    rows.clear(dims);
    LocalRows::Weights used;
    for (std::size_t t = 0; t < 1 + 20 * draw; ++t) rows.add(t, rng.normal(), random_point(rng));
    LocalRows large(1'000);
    for (std::size_t t = 0; t < 1'000; ++t) large.add(t, rng.normal(), random_point(rng));
    large.weigh(random_point(rng), used);
    TensorStore store;
    rows.save(TensorWriter(store));
    LocalRows loaded(200);
    loaded.clear(dims);
    loaded.load(TensorReader(store));
    for (std::size_t t = 0; t < 5; ++t) {
      const KernelPoint at = random_point(rng);
      LocalRows::Weights fresh;
      rows.weigh(at, fresh);
      loaded.weigh(at, used);
      ASSERT_EQ(fresh.totals, used.totals);
      for (std::size_t window = 0; window < kWindows; ++window) {
        ASSERT_EQ(rows.quantile(fresh, window, 0.3), loaded.quantile(used, window, 0.3));
      }
      const double residual = rng.normal();
      rows.add(20'000 + t, residual, at);
      loaded.add(20'000 + t, residual, at);
    }
  }
}

/// 2^x for x <= 0 as power_of_two.h defines it, one number at a time.
float power_in_order(float x) {
  const float whole = std::nearbyint(x);
  const float r = x - whole;
  const float square = r * r;
  const float low = r * 0x1.62e12cp-1F + 1.0F;
  const float high = (r * 0x1.c9fc46p-5F + 0x1.ec0378p-3F) + square * 0x1.3a02ccp-7F;
  return std::ldexp(high * square + low, static_cast<int>(whole));
}

/// The total of a window with every operation in single precision and in the order that the source
/// promises: sixteen lanes in each block of 64 rows, then lanes that are eight apart, then
/// neighbours, then the blocks.
double total_in_order(const std::vector<std::pair<float, KernelPoint>>& rows, const KernelPoint& at,
                      std::size_t dims, std::size_t window) {
  const std::size_t kernel = window / 2;
  const float factor = -0.5F * 1.442695040888963407359924681F / (2.8F * 2.8F);
  double total = 0.0;
  for (std::size_t first = 0; first < rows.size(); first += 64) {
    std::array<float, 16> lanes = {};
    std::array<float, 16> recent = {};
    const std::size_t end = std::min(first + 64, rows.size());
    for (std::size_t i = first; i < end; ++i) {
      float squares = 0.0F;
      for (std::size_t j = 0; j < (kernel < 4 ? kNearDims : dims); ++j) {
        const float d = rows[i].second[j] - at[j];
        squares += d * d;
      }
      float weight = power_in_order(factor * std::min(squares, -96.0F / factor));
      for (std::size_t b = 0; b < kernel % 4; ++b) {
        weight *= weight;
        weight *= weight;
      }
      lanes[i % 16] += window % 2 == 1 ? weight * rows[i].first : weight;
      recent[i % 16] += rows[i].first;
    }
    const auto added = [&](const std::array<float, 16>& l) {
      const auto two = [&](std::size_t k) { return l[k] + l[k + 8]; };
      return static_cast<double>(((two(0) + two(1)) + (two(2) + two(3))) +
                                 ((two(4) + two(5)) + (two(6) + two(7))));
    };
    const double all = window % 2 == 1 ? added(recent) : static_cast<double>(end - first);
    total += kernel < 8 ? added(lanes) + static_cast<double>(1e-3F) * all : all;
  }
  return total;
}

TEST(LocalRows, SumsHaveTheOrderThatIsWritten) {
  // So they are the same bits with any compiler and vector width.
  for (const std::size_t count : {1U, 7U, 8U, 15U, 16U, 17U, 63U, 64U, 65U, 200U, 256U, 391U}) {
    for (const std::size_t dims : {kDimsWithoutSeason, kKernelDims}) {
      Rng rng(split(Seed{305}, count));
      LocalRows rows(400);
      rows.clear(dims);
      std::vector<std::pair<float, KernelPoint>> in_order;
      for (std::size_t t = 0; t < count; ++t) {
        in_order.emplace_back(static_cast<float>(std::exp(static_cast<double>(t) / 300.0)),
                              random_point(rng));
        rows.add(t, static_cast<double>(t), in_order.back().second);
      }
      const KernelPoint at = random_point(rng);
      LocalRows::Weights weights;
      rows.weigh(at, weights);
      for (std::size_t window = 0; window < kWindows; ++window) {
        ASSERT_EQ(weights.totals[window], total_in_order(in_order, at, dims, window))
            << count << " rows, window " << window;
      }
    }
  }
}

TEST(LocalRows, SeveralQuantilesAreThoseAskedOneByOne) {
  for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
    Rng rng(split(Seed{306}, draw));
    LocalRows rows(500);
    for (std::size_t t = 0; t < 1 + rng.below(700); ++t) {
      rows.add(t, rng.normal(), random_point(rng));
    }
    LocalRows::Weights weights;
    rows.weigh(random_point(rng), weights);
    std::vector<LocalRows::WindowLevel> asked(rng.below(200));
    for (auto& a : asked) a = {rng.below(kWindows), 0.002 + 0.996 * rng.uniform()};
    std::vector<double> found(asked.size());
    rows.quantiles(weights, asked, found);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(found[i], rows.quantile(weights, asked[i].window, asked[i].level));
    }
  }
}

TEST(LocalRows, QuantilesOfTiesAndOfFarRowsStayAmongTheRows) {
  constexpr double kFar = kFarthestError;
  for (const std::vector<double>& residuals :
       {std::vector<double>{0.0, -0.0, 0.0}, {5e-324, 0.0}, {kFar, -kFar, kFar}, {-kFar}}) {
    LocalRows rows(50);
    for (std::size_t t = 0; t < 100; ++t) rows.add(t, residuals[t % residuals.size()], {});
    LocalRows::Weights weights;
    rows.weigh({}, weights);
    const auto [low, high] = std::minmax_element(residuals.begin(), residuals.end());
    for (std::size_t window = 0; window < kWindows; ++window) {
      double last = *low;
      for (double level = 0.002; level < 1.0; level += 0.0123) {
        const double q = rows.quantile(weights, window, level);
        ASSERT_GE(q, last);
        ASSERT_LE(q, *high);
        last = q;
      }
    }
  }
}

TEST(LocalRows, DamagedStatesAreRefused) {
  Rng rng(Seed{304});
  LocalRows rows(60);
  for (std::size_t t = 0; t < 80; ++t) rows.add(t, rng.normal(), random_point(rng));
  TensorStore good;
  rows.save(TensorWriter(good));
  const auto refuse = [&](const TensorStore& bad) {
    LocalRows loaded(60);
    expect_error(ErrorCode::kCorruptFile, "", [&] { loaded.load(TensorReader(bad)); });
  };
  for (const auto& [name, tensor] : good.tensors) {
    TensorStore bad = good;
    bad.tensors.erase(name);
    refuse(bad);
    bad = good;
    bad.tensors[name].shape = {59};
    refuse(bad);
  }
  const auto damaged = [&](const std::string& name, auto first) {
    TensorStore bad = good;
    auto values = TensorReader(good).list<decltype(first)>(name);
    values.front() = first;
    TensorWriter(bad).tensor(name, values);
    return bad;
  };
  refuse(damaged("arrived", -1e305));  // too far
  refuse(damaged("arrived", std::numeric_limits<double>::quiet_NaN()));
  refuse(damaged("recency", 0.0F));
  refuse(damaged("recency", 1e35F));
  refuse(damaged("recency", std::numeric_limits<float>::infinity()));
  refuse(damaged("point3", std::numeric_limits<float>::quiet_NaN()));
  LocalRows small(10);
  expect_error(ErrorCode::kCorruptFile, "more rows", [&] { small.load(TensorReader(good)); });
}

}  // namespace
}  // namespace tare
