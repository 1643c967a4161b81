// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "calibrate/guarantee/flipped_bytes.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/guarantee_coverage.h"
#include "data/rows.h"
#include "expect_error.h"
#include "infinity.h"
#include "io/tensor_store.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

/// What one ranked row says about the new row: the values of its upper and its lower score.
struct Said {
  double upper, lower;
  std::uint64_t mass;
};

/// A row's values by their definition: where its own curve meets y, on the curve of the new row. A
/// slow search for the place, apart from ties and rounding.
Said said_by(std::span<const double> own, double y, std::span<const double> fresh,
             std::uint64_t mass) {
  const auto value = [](std::span<const double> curve, std::size_t k, double share) {
    return share == 0.0 ? curve[k]
                        : std::min(curve[k] + share * (curve[k + 1] - curve[k]), curve[k + 1]);
  };
  Said said{fresh.back() + (y - own.back()), fresh.front() + (y - own.front()), mass};
  if (y > own.back()) said.lower = said.upper;
  if (y < own.front()) said.upper = said.lower;
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (own[k] == y) said.lower = fresh[k];
    if (k + 1 < own.size() && own[k] < y && y < own[k + 1]) {
      const double share = (y - own[k]) / (own[k + 1] - own[k]);
      said.upper = said.lower = value(fresh, k, share);
    }
  }
  for (std::size_t k = own.size(); k-- > 0;) {
    if (own[k] == y) said.upper = fresh[k];
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

/// Infinite ones are the same; places are rounded by 1e-13 of a step between knots.
void expect_same(double answer, double expected, const std::string& where) {
  EXPECT_TRUE(answer == expected || std::abs(answer - expected) < 1e-9)
      << answer << " and " << expected << ": " << where;
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
      ranks.emplace_back(scores);
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
      expect_same(answer[j], cross_oracle(said, 2 * j + 1, counts),
                  "level " + std::to_string(2 * j + 1) + ", trial " + std::to_string(trial));
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
      ranks.emplace_back(scores);
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
  const GuaranteeRanks ranks(scores);
  const std::vector<double> fresh = tied_quantiles(9, rng);
  const std::vector<std::vector<std::size_t>> all = {all_rows(9)};
  const FoldMerge merge(FoldRanks({ranks}), all);
  const std::vector<std::span<const double>> rows = {fresh};
  const std::vector<Level> levels = metric_levels();
  std::vector<double> answer(levels.size());
  merge.answer(rows, levels, 1, answer);
  for (std::size_t j = 0; j < levels.size(); ++j) {
    if (!can_keep(levels[j], ranks.mass(), 1)) {
      EXPECT_EQ(answer[j], levels[j].value() < 0.5 ? -kInf : kInf);
    } else {
      EXPECT_EQ(answer[j], value_at(fresh, ranks.place(levels[j])));
    }
  }
}

FitInput input_of(const Sample& data) {
  FitInput input{.x = data.x, .y = data.y};
  input.seed = Seed{12};
  return input;
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
  params.set("guarantee", "cross:4,strict");
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
      expect_same(p.quantiles(i, j), cross_oracle(said[i], j + 1, 1),
                  "row " + std::to_string(i) + ", level " + std::to_string(j + 1));
    }
  }
}

/// Where n is too small: from the outermost value on, by the mean of what the folds' models move.
TEST(CrossGuarantee, GoesOnAsItsModelsDoWhereRowsAreTooFew) {
  const Sample data = draw(find_problem("hetero_1"), 124, Seed{5});
  const Sample fresh = draw(find_problem("hetero_1"), 15, Seed{6});
  const Method& method = find_method("hnn");
  const auto fit = [&](const char* guarantee) {
    Params params = Params::parse("epochs=5");
    params.set("guarantee", guarantee);
    return fit_method(method, input_of(data), params);
  };
  const auto model = fit("cross:2");
  const auto strict = fit("cross:2,strict");
  const std::vector<Level> levels = {Level(0.0001), Level(0.001), Level(0.008), Level(0.5),
                                     Level(0.992),  Level(0.999), Level(0.9999)};  // of 1/125
  const auto p = model->predict({fresh.x}, levels);
  const auto q = strict->predict({fresh.x}, levels);
  TensorStore store;
  model->save(TensorWriter(store));
  std::vector<Matrix> own;
  for (const char* fold : {"fold0", "fold1"}) {
    const auto inner = method.load(TensorReader(store).part(fold));
    own.push_back(inner->predict({fresh.x}, levels).quantiles);
  }
  for (std::size_t i = 0; i < fresh.x.rows(); ++i) {
    EXPECT_EQ(q.quantiles(i, 0), -kInf);
    EXPECT_EQ(q.quantiles(i, 6), kInf);
    EXPECT_TRUE(std::ranges::is_sorted(p.quantiles.row(i)));
    for (const std::size_t j : {2U, 3U, 4U}) EXPECT_EQ(p.quantiles(i, j), q.quantiles(i, j));
    for (const auto& [from, to] : {std::pair{2U, 0U}, {2U, 1U}, {4U, 5U}, {4U, 6U}}) {
      const double tail =
          0.5 * (own[0](i, to) - own[0](i, from)) + 0.5 * (own[1](i, to) - own[1](i, from));
      // The models' curves are taken to be straight between knots.
      EXPECT_NEAR(p.quantiles(i, to) - p.quantiles(i, from), tail, 0.01 * std::abs(tail) + 1e-6);
      const auto alone = model->predict({fresh.x}, std::span(levels).subspan(to, 1));
      EXPECT_EQ(alone.quantiles(i, 0), p.quantiles(i, to)) << "without the other levels";
    }
  }
  const Matrix kept = model->delivered({fresh.x}, levels);
  EXPECT_EQ(kept(0, 6), 1.0 - cross_miss_bound(124, 2, 1.0 / 125.0));
  EXPECT_EQ(strict->delivered({fresh.x}, levels)(0, 6), 1.0);
}

/// Groups and diagnostics are there.
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

TEST(CrossGuarantee, SurvivesFlippedBytes) {
  const Sample data = draw(find_problem("hetero_1"), 60, Seed{4});
  const Method& method = find_method("pure_kernel");
  const Rows rows{data.x.view().middle_rows(0, 3)};
  for (const char* form :
       {"guarantee=cross:3 bandwidth=rate", "guarantee=split:0.5 bandwidth=rate split=cross",
        "guarantee=split:0.5,own bandwidth=rate split=cross"}) {
    TensorStore whole;
    fit_method(method, input_of(data), Params::parse(form))->save(TensorWriter(whole));
    const std::size_t refused = expect_flipped_bits_survived(
        whole, "guarantee.", 300, rows, metric_levels(),
        [&](const TensorReader& in) { return GuaranteedModel::load(in, method.load); });
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
  EXPECT_EQ(a.window_n, b.window_n);
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
