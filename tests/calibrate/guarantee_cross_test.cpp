// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "calibrate/guarantee.h"
#include "data/rows.h"
#include "expect_error.h"
#include "guarantee_coverage.h"
#include "io/tensor_store.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// What one ranked row says about the new row: the values of its upper and its lower score.
struct Said {
  double upper, lower;
  std::uint64_t mass;
};

/// A row's values by their definition: the quantile of the new row where its own meets y.
Said said_by(std::span<const double> own, double y, std::span<const double> fresh,
             std::uint64_t mass) {
  Said said{fresh.back() + (y - own.back()), fresh.front() + (y - own.front()), mass};
  for (std::size_t k = own.size(); k-- > 0;) {
    if (own[k] >= y) said.upper = fresh[k];
  }
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (own[k] <= y) said.lower = fresh[k];
  }
  return said;
}

/// The level percent / 100 by counting, for every value, the mass on its good side. `fresh` is the
/// new row's.
double cross_oracle(const std::vector<Said>& rows, std::uint64_t percent, std::uint64_t fresh) {
  std::uint64_t all = fresh;
  for (const Said& row : rows) all += row.mass;
  const auto best = [&](bool upper, std::uint64_t needed_percent) {
    double result = kInf;  // the smallest upper bound; the largest lower one, mirrored
    for (const Said& candidate : rows) {
      const double value = upper ? candidate.upper : -candidate.lower;
      std::uint64_t kept = 0;
      for (const Said& row : rows) {
        if ((upper ? row.upper : -row.lower) <= value) kept += row.mass;
      }
      if (100 * kept >= needed_percent * all) result = std::min(result, value);
    }
    return result;
  };
  if (percent >= 50) return best(true, percent);
  return std::min(-best(false, 100 - percent), best(true, 50));
}

std::vector<double> tied_quantiles(std::size_t knots, Rng& rng) {
  std::vector<double> q(knots);
  for (double& value : q) value = static_cast<double>(rng.below(2 * knots));
  std::ranges::sort(q);
  return q;
}

/// Folds of rows with few distinct values, so that everything ties with everything.
TEST(FoldMerge, IsTheRankAmongAllValues) {
  Rng rng(Seed{31});
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t folds = 1 + rng.below(6);
    const bool many = trial % 20 == 7;  // so many that ranks are looked for by halving
    const std::size_t knots = many ? 150 : 1 + rng.below(12);
    const std::uint64_t most = trial % 2 == 0 ? 1 : 5;  // without and with masses
    std::vector<GuaranteeRanks> ranks;
    std::vector<std::vector<double>> fresh;
    std::vector<Said> said;
    for (std::size_t k = 0; k < folds; ++k) {
      fresh.push_back(tied_quantiles(knots, rng));
      std::vector<RowScore> scores;
      const std::size_t rows = many ? 100 : 1 + rng.below(trial % 3 == 0 ? 3 : 15);
      for (std::size_t i = 0; i < rows; ++i) {
        std::vector<double> own = tied_quantiles(knots, rng);
        const double y = static_cast<double>(rng.below(2 * knots + 8)) - 4.0;
        // Where all quantiles are the target, the lower score lies above the upper one.
        if (trial % 5 == 0) std::ranges::fill(own, y);
        scores.push_back(score_row(own, y));
        scores.back().mass = 1 + rng.below(most);
        said.push_back(said_by(own, y, fresh.back(), scores.back().mass));
      }
      ranks.emplace_back(scores, knots);
    }
    const FoldRanks line(ranks);
    std::vector<std::vector<std::size_t>> asked;
    std::vector<std::vector<double>> quantiles;
    for (std::size_t k = 0; k < folds; ++k) {
      std::vector<std::uint8_t> flag(knots, 0);
      FoldMerge::mark_knots(ranks[k], flag);
      asked.emplace_back();
      quantiles.emplace_back();
      for (std::size_t j = 0; j < knots; ++j) {
        if (flag[j] == 0) continue;
        asked.back().push_back(j);
        quantiles.back().push_back(fresh[k][j]);
      }
    }
    const FoldMerge merge(line, asked);
    const std::uint64_t counts = 1 + rng.below(most);
    std::vector<Level> levels;
    for (int percent = 1; percent < 100; percent += 2) levels.emplace_back(percent / 100.0);
    std::vector<double> answer(levels.size());
    const std::vector<std::span<const double>> rows(quantiles.begin(), quantiles.end());
    merge.answer(rows, levels, counts, answer);
    EXPECT_TRUE(std::ranges::is_sorted(answer));
    for (std::size_t j = 0; j < levels.size(); ++j) {
      EXPECT_EQ(answer[j], cross_oracle(said, 2 * j + 1, counts))
          << folds << " folds, " << said.size() << " rows, level " << levels[j].value()
          << ", trial " << trial;
      double alone = 0.0;
      merge.answer(rows, {&levels[j], 1}, counts, {&alone, 1});
      EXPECT_EQ(alone, answer[j]) << "without the levels before";
    }
  }
}

TEST(FoldMerge, EndsWhateverTheQuantilesAre) {
  Rng rng(Seed{33});
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<GuaranteeRanks> ranks;
    std::vector<std::vector<std::size_t>> asked(3);
    std::vector<std::vector<double>> quantiles(3);
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<RowScore> scores;
      for (int i = 0; i < 40; ++i) {
        scores.push_back(score_row(tied_quantiles(30, rng), static_cast<double>(rng.below(60))));
      }
      ranks.emplace_back(scores, 30);
      for (std::size_t j = 0; j < 30; ++j) {
        asked[k].push_back(j);
        const std::uint64_t what = rng.below(4);  // in no order, as no model would have them
        quantiles[k].push_back(what == 0   ? std::nan("")
                               : what == 1 ? kInf
                               : what == 2 ? -kInf
                                           : rng.normal());
      }
    }
    const FoldMerge merge(FoldRanks(ranks), asked);
    std::vector<Level> levels;
    for (int percent = 1; percent < 100; percent += 3) levels.emplace_back(percent / 100.0);
    std::vector<double> answer(levels.size());
    const std::vector<std::span<const double>> rows(quantiles.begin(), quantiles.end());
    merge.answer(rows, levels, 1, answer);
    merge.answer(rows, std::span(levels).first(2), 1, std::span(answer).first(2));
  }
}

/// With one model there is nothing to merge: the answer is at the place of the split form.
TEST(FoldMerge, OfOneFoldIsItsPlace) {
  Rng rng(Seed{32});
  std::vector<RowScore> scores;
  for (int i = 0; i < 40; ++i) {
    scores.push_back(score_row(tied_quantiles(9, rng), static_cast<double>(rng.below(22)) - 2.0));
  }
  const GuaranteeRanks ranks(scores, 9);
  const std::vector<double> fresh = tied_quantiles(9, rng);
  const std::vector<std::vector<std::size_t>> all = {all_rows(9)};
  const FoldMerge merge(FoldRanks({ranks}), all);
  const std::vector<std::span<const double>> rows = {fresh};
  const std::vector<Level> levels = metric_levels();
  std::vector<double> answer(levels.size());
  merge.answer(rows, levels, 1, answer);
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const KnotPlace place = ranks.place(levels[j]);
    EXPECT_EQ(answer[j],
              std::isinf(place.beyond) ? place.beyond : fresh[place.knot] + place.beyond);
  }
}

FitInput input_of(const Sample& data) {
  FitInput input{.x = data.x, .y = data.y};
  input.seed = Seed{12};
  return input;
}

TEST(GuaranteeFolds, AreOfEqualSizeAndLeaveTheRestToEveryModel) {
  const Sample data = draw(find_problem("hetero_1"), 103, Seed{4});
  FitInput input = input_of(data);
  const auto sizes = [&](const FoldPlan& plan, auto&& counts_row) {
    std::vector<std::size_t> size(plan.folds + 1, 0);
    for (std::size_t i = 0; i < plan.fold_of_row.size(); ++i) {
      if (counts_row(i)) ++size[plan.fold_of_row[i]];
    }
    return size;
  };
  const auto all = [](std::size_t) { return true; };
  const GuaranteeRule five{GuaranteeRule::Form::kCross, 0.2, 5};
  EXPECT_EQ(sizes(guarantee_folds(input, five, RowOrder::kNone), all),
            (std::vector<std::size_t>{20, 20, 20, 20, 20, 3}));
  const FoldPlan blocks = guarantee_folds(input, five, RowOrder::kTime);
  EXPECT_EQ(blocks.fold_of_row[2], 5U);
  EXPECT_TRUE(std::ranges::is_sorted(std::span(blocks.fold_of_row).subspan(3)));
  EXPECT_EQ(sizes(blocks, all), (std::vector<std::size_t>{20, 20, 20, 20, 20, 3}));

  // Rows of a group that has ranks of its own are divided by themselves; those of small ones
  // together.
  std::vector<std::uint32_t> group(103);
  for (std::size_t i = 0; i < 103; ++i) group[i] = i < 41 ? 0 : i < 93 ? 1 : i < 100 ? 2 : 3;
  input.group = group;
  const FoldPlan grouped = guarantee_folds(input, five, RowOrder::kNone);
  const auto in = [&](std::uint32_t g) {
    return [&group, g](std::size_t i) { return group[i] == g; };
  };
  EXPECT_EQ(sizes(grouped, in(0)), (std::vector<std::size_t>{8, 8, 8, 8, 8, 1}));
  EXPECT_EQ(sizes(grouped, in(1)), (std::vector<std::size_t>{10, 10, 10, 10, 10, 2}));
  EXPECT_EQ(sizes(grouped, [&](std::size_t i) { return group[i] > 1; }),
            (std::vector<std::size_t>{2, 2, 2, 2, 2, 0}));

  // Rows that do not count or do not stand for those to come train every model.
  input.group = {};
  std::vector<double> weight(103, 1.0);
  weight[7] = 0.0;
  std::vector<std::uint8_t> flag(103, 1);
  flag[9] = 0;
  input.weight = weight;
  input.calibrate_rows = flag;
  const FoldPlan some = guarantee_folds(input, five, RowOrder::kNone);
  EXPECT_EQ(some.fold_of_row[7], 5U);
  EXPECT_EQ(some.fold_of_row[9], 5U);
  EXPECT_EQ(sizes(some, all), (std::vector<std::size_t>{20, 20, 20, 20, 20, 3}));

  input.weight = std::span<const double>();
  input.calibrate_rows = {};
  input.x = data.x.view().middle_rows(0, 19);
  input.y = std::span<const double>(data.y).first(19);
  expect_error(ErrorCode::kBadData, "at least 20 rows",
               [&] { guarantee_folds(input, five, RowOrder::kNone); });
}

TEST(CrossBound, IsThatOfTheTheorem) {
  EXPECT_NEAR(cross_miss_bound(200, 5, 0.05), 0.1 + 1.6 / 41.0, 1e-15);
  EXPECT_NEAR(cross_miss_bound(20, 20, 0.05), 0.1, 1e-15) << "leave-one-out: jackknife+";
  EXPECT_NEAR(cross_miss_bound(40, 20, 0.05), 0.1 + 0.5 / 21.0, 1e-15);
  EXPECT_EQ(cross_miss_bound(20, 2, 0.5), 1.0);
}

/// Every step again by hand: the folds' fits, the scores by looking at each knot, all n values of
/// each new row.
TEST(CrossGuarantee, IsWhatItSays) {
  const Sample data = draw(find_problem("hetero_1"), 63, Seed{5});
  const Sample fresh = draw(find_problem("hetero_1"), 15, Seed{6});
  const FitInput input = input_of(data);
  const Method& method = find_method("pure_kernel");
  const Params plain = Params::parse("bandwidth=rate split=cross");  // all rows, no draw
  Params params = plain;
  params.set("guarantee", "cross:4");
  const auto model = fit_method(method, input, params);

  const FoldPlan plan =
      guarantee_folds(input, {GuaranteeRule::Form::kCross, 0.2, 4}, RowOrder::kNone);
  std::vector<std::vector<Said>> said(fresh.x.rows());
  for (std::size_t k = 0; k < 4; ++k) {
    std::vector<std::size_t> others, own;
    for (std::size_t i = 0; i < 63; ++i) (plan.fold_of_row[i] == k ? own : others).push_back(i);
    const Matrix x = take_rows(data.x, others);
    const std::vector<double> y = take_rows(std::span<const double>(data.y), others);
    const auto inner = fit_method(method, {.x = x, .y = y}, plain);
    const auto unseen = inner->predict({take_rows(data.x, own)}, guarantee_levels());
    const auto there = inner->predict({fresh.x}, guarantee_levels());
    for (std::size_t i = 0; i < fresh.x.rows(); ++i) {
      for (std::size_t r = 0; r < own.size(); ++r) {
        said[i].push_back(
            said_by(unseen.quantiles.row(r), data.y[own[r]], there.quantiles.row(i), 1));
      }
    }
  }
  std::vector<Level> levels;
  for (int percent = 1; percent < 100; ++percent) levels.emplace_back(percent / 100.0);
  const auto p = model->predict({fresh.x}, levels);
  for (std::size_t i = 0; i < fresh.x.rows(); ++i) {
    EXPECT_EQ(said[i].size(), 60U);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      EXPECT_EQ(p.quantiles(i, j), cross_oracle(said[i], j + 1, 1)) << i << ", level " << j + 1;
    }
  }
}

/// cqr in folds of 28 rows has infinite quantiles of its own, and groups and diagnostics are there.
TEST(CrossGuarantee, ComesBackFromItsFile) {
  const Sample data = draw(find_problem("hetero_1"), 120, Seed{4});
  std::vector<std::uint32_t> group(120);
  for (std::size_t i = 0; i < 120; ++i) group[i] = i < 110 ? i % 2 : 2;
  FitInput input = input_of(data);
  input.group = group;
  for (const char* name : {"pure_kernel", "cqr"}) {
    const Method& method = find_method(name);
    const auto model = fit_method(
        method, input,
        Params::parse(name[0] == 'c' ? "guarantee=cross:3 epochs=3" : "guarantee=cross"));
    const auto& guaranteed = dynamic_cast<const GuaranteedModel&>(*model);
    EXPECT_TRUE(guaranteed.has_ranks(1));
    EXPECT_FALSE(guaranteed.has_ranks(2)) << "10 rows are too few";
    EXPECT_TRUE(guaranteed.has_bound());
    TensorStore store;
    model->save(TensorWriter(store));
    const TensorReader in(store);
    ASSERT_TRUE(GuaranteedModel::is_in(in));
    const auto loaded = GuaranteedModel::load(in, method.load);
    EXPECT_EQ(loaded->overall().rows(), guaranteed.overall().rows());
    EXPECT_EQ(loaded->seen_coverage(), guaranteed.seen_coverage());
    const auto levels = metric_levels();
    const Rows rows{data.x, {}, group};
    const auto before = model->predict(rows, levels);
    const auto after = loaded->predict(rows, levels);
    EXPECT_TRUE(std::ranges::equal(before.quantiles.values(), after.quantiles.values()));
    EXPECT_EQ(before.fallback, after.fallback);
    for (std::size_t i = 0; i < data.x.rows(); ++i) {
      EXPECT_TRUE(std::ranges::is_sorted(before.quantiles.row(i)));
    }
    store.values["guarantee.folds"] = 2;
    expect_error(ErrorCode::kCorruptFile, "guarantee",
                 [&] { GuaranteedModel::load(in, method.load); });
  }
}

/// A file can be wrong and have the right checksum: it is refused, or answers in order.
TEST(CrossGuarantee, SurvivesFlippedBytes) {
  const Sample data = draw(find_problem("hetero_1"), 60, Seed{4});
  const Method& method = find_method("pure_kernel");
  const auto levels = metric_levels();
  Rng rng(Seed{9});
  for (const char* form :
       {"guarantee=cross:3 bandwidth=rate", "guarantee=split:0.5 bandwidth=rate split=cross"}) {
    TensorStore whole;
    fit_method(method, input_of(data), Params::parse(form))->save(TensorWriter(whole));
    std::vector<std::string> names;
    for (const auto& [name, tensor] : whole.tensors) {
      if (name.starts_with("guarantee.") && tensor.bytes.size() > 0) names.push_back(name);
    }
    ASSERT_GE(names.size(), 7U);
    std::size_t refused = 0;
    for (int trial = 0; trial < 300; ++trial) {
      TensorStore store = whole;
      Tensor& tensor = store.tensors[names[rng.below(names.size())]];
      std::vector<std::byte> bytes(tensor.bytes.span().begin(), tensor.bytes.span().end());
      bytes[rng.below(bytes.size())] ^= static_cast<std::byte>(1U << rng.below(8));
      tensor.bytes = Buffer<std::byte>(bytes);
      try {
        const auto model = GuaranteedModel::load(TensorReader(store), method.load);
        const auto p = model->predict({data.x.view().middle_rows(0, 3)}, levels);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::ranges::is_sorted(p.quantiles.row(i)));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kCorruptFile);
        ++refused;
      }
    }
    EXPECT_GT(refused, 150U) << form;
  }
}

TEST(CrossGuarantee, DoesNotDependOnThreadsOrBatches) {
  const Sample data = draw(find_problem("hetero_1"), 300, Seed{4});
  const Method& method = find_method("nrc_rf");
  const Params params = Params::parse("guarantee=cross:3 trees=10");
  const auto levels = metric_levels();
  const auto one = fit_method(method, input_of(data), params, {.threads = 1, .progress = {}});
  const auto two = fit_method(method, input_of(data), params, {.threads = 3, .progress = {}});
  const auto a = one->predict({data.x}, levels, {.threads = 1, .progress = {}});
  const auto b = two->predict({data.x}, levels, {.threads = 3, .progress = {}});
  EXPECT_TRUE(std::ranges::equal(a.quantiles.values(), b.quantiles.values()));
  EXPECT_EQ(a.effective_n, b.effective_n);
  for (std::size_t i = 0; i < 300; i += 37) {
    const auto alone = one->predict({data.x.view().middle_rows(i, 1)}, levels);
    EXPECT_TRUE(std::ranges::equal(a.quantiles.row(i), alone.quantiles.row(0)));
  }
  EXPECT_EQ(one->predict({data.x.view().middle_rows(0, 0)}, levels).quantiles.rows(), 0U);
}

TEST(CrossGuarantee, TellsItsProgressOnce) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{4});
  double last = 0.0;
  bool ascends = true;
  Execution how;
  how.progress = [&](std::string_view, double share) {
    ascends = ascends && share >= last - 1e-9;
    last = share;
  };
  fit_method(find_method("hnn"), input_of(data), Params::parse("guarantee=cross:2 epochs=5"), how);
  EXPECT_TRUE(ascends);
  EXPECT_GT(last, 0.5);
}

TEST(CrossGuarantee, ClaimsNoBoundForASeriesOrUnequalWeights) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{4});
  FitInput input = input_of(data);
  const Method& method = find_method("pure_kernel");
  const auto has_bound = [&](const char* params) {
    const auto model = fit_method(method, input, Params::parse(params));
    return dynamic_cast<const GuaranteedModel&>(*model).has_bound();
  };
  EXPECT_TRUE(has_bound("guarantee=cross"));
  EXPECT_FALSE(has_bound("guarantee=cross split=time"));
  std::vector<double> weight(100, 2.5);
  input.weight = weight;
  EXPECT_TRUE(has_bound("guarantee=cross"));
  weight[3] = 2.0;
  EXPECT_FALSE(has_bound("guarantee=cross"));
}

TEST(CrossGuarantee, CoversInPractice) {
  for (const std::size_t n : {20U, 50U}) expect_cross_coverage(n, 100);
}

}  // namespace
}  // namespace tare
