// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/fail.h"
#include "bindings.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/shards/split_curve.h"
#include "calibrate/snq/shards/shard.h"
#include "calibrate/snq/shards/shard_plan.h"
#include "interruptible.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

// A sum is two words, the lower one first; sums of a window four, its total and its squares. Where
// all weights are 1 the lower word of the total says it all, and is all that travels.
constexpr std::size_t kShardWords = 4;

std::vector<std::uint64_t> shard_words(const std::vector<WindowSums>& sums, bool only_counts) {
  std::vector<std::uint64_t> words;
  words.reserve(sums.size() * (only_counts ? 1 : kShardWords));
  for (const WindowSums& sum : sums) {
    words.push_back(static_cast<std::uint64_t>(sum.total));
    if (only_counts) continue;
    words.push_back(static_cast<std::uint64_t>(sum.total >> 64));
    words.push_back(static_cast<std::uint64_t>(sum.squares));
    words.push_back(static_cast<std::uint64_t>(sum.squares >> 64));
  }
  return words;
}

FixedSum join_words(std::uint64_t low, std::uint64_t high) {
  return (static_cast<FixedSum>(high) << 64) | low;
}

using ShardWords =
    nb::ndarray<const std::uint64_t, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

std::vector<WindowSums> window_sums(const ShardWords& words) {
  const std::size_t width = words.shape(2);
  if (width != 1 && width != kShardWords) {
    fail(ErrorCode::kShapeMismatch, "sums of windows have 1 or {} words, not {}", kShardWords,
         width);
  }
  std::vector<WindowSums> sums(words.shape(0) * words.shape(1));
  const std::uint64_t* at = words.data();
  for (WindowSums& sum : sums) {
    sum.total = width == 1 ? at[0] : join_words(at[0], at[1]);
    sum.squares = width == 1 ? at[0] : join_words(at[2], at[3]);
    at += width;
  }
  return sums;
}

using ShardUnits = Vector<std::int32_t>;

/// Runs `work` without the interpreter's lock.
template <class Work>
auto run_shard(const Table2d<double>& z, std::size_t threads, Work work) {
  decltype(work(Execution{})) result{};
  run_rows(z.shape(0), threads, [&](const Execution& how) { result = work(how); });
  return result;
}

NewArray<std::uint64_t> shard_sums(const Shard& shard, const Table2d<double>& z,
                                   const Vector<double>& reach2, const ShardUnits& exponent,
                                   bool only_counts, std::size_t threads) {
  const auto sums = run_shard(z, threads, [&](const Execution& how) {
    return shard.sums({view_of(z), span_of(reach2), span_of(exponent)}, how);
  });
  return table_array(shard_words(sums, only_counts), sums.size(), only_counts ? 1 : kShardWords);
}

using ShardBetween = std::tuple<NewArray<std::uint64_t>, NewArray<std::uint64_t>, NewArray<double>>;

/// Rows below, number of distances between, and these, query after query.
ShardBetween shard_between(const Shard& shard, const Table2d<double>& z, const Vector<double>& low,
                           const Vector<double>& high, std::size_t threads) {
  const auto found = run_shard(z, threads, [&](const Execution& how) {
    return shard.between(view_of(z), span_of(low), span_of(high), how);
  });
  std::vector<std::uint64_t> below;
  std::vector<std::uint64_t> count;
  std::vector<double> squared;
  for (const DistancesBetween& query : found) {
    below.push_back(query.below);
    count.push_back(query.squared.size());
    squared.insert(squared.end(), query.squared.begin(), query.squared.end());
  }
  return {vector_array(std::move(below)), vector_array(std::move(count)),
          vector_array(std::move(squared))};
}

NewArray<double> shard_pick(const Shard& shard, const Table2d<double>& z,
                            const Vector<double>& reach2, const ShardUnits& exponent,
                            const Vector<std::uint32_t>& query,
                            const Table2d<std::uint64_t>& target, std::size_t threads) {
  std::vector<ShardPick> picks(query.shape(0));
  if (target.shape(0) != picks.size() || target.shape(1) != 2) {
    fail(ErrorCode::kShapeMismatch, "{} picks, {} targets", picks.size(), target.shape(0));
  }
  for (std::size_t k = 0; k < picks.size(); ++k) {
    picks[k] = {query.data()[k], join_words(target.data()[2 * k], target.data()[2 * k + 1])};
  }
  auto values = run_shard(z, threads, [&](const Execution& how) {
    return shard.pick({view_of(z), span_of(reach2), span_of(exponent)}, picks, how);
  });
  return vector_array(std::move(values));
}

using PickPlan =
    std::tuple<NewArray<std::uint64_t>, NewArray<std::uint32_t>, NewArray<std::uint64_t>>;

/// The first pick of each query, and of each pick its shard and its target.
PickPlan plan_of_picks(const ShardWords& words, const ShardUnits& exponent,
                       const std::vector<double>& levels, const std::string& ranks) {
  const std::vector<WindowSums> sums = window_sums(words);
  const ShardPlan plan =
      plan_picks({sums, span_of(exponent)}, levels_of(levels), parse_ranks(ranks));
  std::vector<std::uint32_t> shard;
  std::vector<std::uint64_t> target;
  for (const ShardPlan::Pick& pick : plan.picks) {
    shard.push_back(pick.shard);
    target.push_back(static_cast<std::uint64_t>(pick.target));
    target.push_back(static_cast<std::uint64_t>(pick.target >> 64));
  }
  const std::size_t count = plan.picks.size();
  return {vector_array(std::vector<std::uint64_t>(plan.first.begin(), plan.first.end())),
          vector_array(std::move(shard)), table_array(std::move(target), count, 2)};
}

NewArray<double> finish_of_picks(const ShardWords& words, const ShardUnits& exponent,
                                 const std::vector<double>& levels, const std::string& ranks,
                                 const Vector<double>& values) {
  const std::vector<WindowSums> sums = window_sums(words);
  return matrix_array(finish_picks({sums, span_of(exponent)}, levels_of(levels), parse_ranks(ranks),
                                   span_of(values)));
}

// A score is four numbers: the places of its upper and its lower end.
constexpr std::size_t kScoreNumbers = 4;

NewArray<double> scores_of(const Table2d<double>& quantiles, const Vector<double>& y,
                           std::uint64_t seed, std::uint64_t first) {
  const std::vector<RowScore> scores =
      score_quantiles(view_of(quantiles), span_of(y), Seed{seed}, first);
  std::vector<double> numbers;
  for (const RowScore& score : scores) {
    numbers.insert(numbers.end(),
                   {score.upper.at, score.upper.beyond, score.lower.at, score.lower.beyond});
  }
  return table_array(std::move(numbers), scores.size(), kScoreNumbers);
}

SplitCurve split_curve(const Table2d<double>& scores, const std::vector<double>& levels) {
  if (scores.shape(1) != kScoreNumbers) {
    fail(ErrorCode::kShapeMismatch, "scores have {} numbers, not {}", kScoreNumbers,
         scores.shape(1));
  }
  std::vector<RowScore> rows;
  for (std::size_t i = 0; i < scores.shape(0); ++i) {
    const double* at = scores.data() + i * kScoreNumbers;
    rows.push_back({.upper = {at[0], at[1]}, .lower = {at[2], at[3]}});
  }
  return {rows, levels_of(levels)};
}

std::vector<double> values_of_levels(std::span<const Level> levels) {
  std::vector<double> values;
  for (const Level& level : levels) values.push_back(level.value());
  return values;
}

}  // namespace

void bind_shards(nb::module_& module) {
  nb::class_<Shard>(module, "Shard", "Calibration rows whose residuals lie in one range.")
      .def(
          "__init__",
          [](Shard* self, const Table2d<double>& z, const Vector<double>& u,
             const std::optional<Vector<double>>& weight, const std::string& kernel,
             double bandwidth) {
            const KernelKind kind = parse_kernel(kernel);
            const nb::gil_scoped_release unlocked;
            new (self)
                Shard(view_of(z), span_of(u), weight ? span_of(*weight) : std::span<const double>{},
                      kind, bandwidth);
          },
          nb::arg("z"), nb::arg("u"), nb::arg("weight").none(), nb::arg("kernel"),
          nb::arg("bandwidth"))
      .def_prop_ro("rows", &Shard::rows)
      .def("sums", &shard_sums, nb::arg("z"), nb::arg("reach2"), nb::arg("exponent"),
           nb::arg("only_counts"), nb::arg("threads"))
      .def(
          "largest_weights",
          [](const Shard& shard, const Table2d<double>& z, const Vector<double>& reach2,
             const ShardUnits& exponent, std::size_t threads) {
            auto found = run_shard(z, threads, [&](const Execution& how) {
              return shard.largest_weights({view_of(z), span_of(reach2), span_of(exponent)}, how);
            });
            return vector_array(std::move(found));
          },
          nb::arg("z"), nb::arg("reach2"), nb::arg("exponent"), nb::arg("threads"))
      .def(
          "distances",
          [](const Shard& shard, const Table2d<double>& z, const std::vector<std::size_t>& ranks,
             std::size_t threads) {
            auto found = run_shard(z, threads, [&](const Execution& how) {
              return shard.distances(view_of(z), ranks, how);
            });
            return matrix_array(std::move(found));
          },
          nb::arg("z"), nb::arg("ranks"), nb::arg("threads"))
      .def("between", &shard_between, nb::arg("z"), nb::arg("low"), nb::arg("high"),
           nb::arg("threads"))
      .def("pick", &shard_pick, nb::arg("z"), nb::arg("reach2"), nb::arg("exponent"),
           nb::arg("query"), nb::arg("target"), nb::arg("threads"));
  module.def("plan_picks", &plan_of_picks, nb::arg("sums"), nb::arg("exponent"), nb::arg("levels"),
             nb::arg("ranks"));
  module.def("finish_picks", &finish_of_picks, nb::arg("sums"), nb::arg("exponent"),
             nb::arg("levels"), nb::arg("ranks"), nb::arg("values"));
  module.def("guarantee_levels", [] { return values_of_levels(guarantee_levels()); });
  module.def("score_quantiles", &scores_of, nb::arg("quantiles"), nb::arg("y"), nb::arg("seed"),
             nb::arg("first"));
  nb::class_<SplitCurve>(module, "SplitCurve",
                         "The split guarantee of a model on several machines.")
      .def(
          "__init__",
          [](SplitCurve* self, const Table2d<double>& scores, const std::vector<double>& levels) {
            new (self) SplitCurve(split_curve(scores, levels));
          },
          nb::arg("scores"), nb::arg("levels"))
      .def_prop_ro("asked", [](const SplitCurve& curve) { return values_of_levels(curve.asked()); })
      .def(
          "answer",
          [](const SplitCurve& curve, const Table2d<double>& own) {
            return matrix_array(curve.answer(view_of(own)));
          },
          nb::arg("own"));
}

}  // namespace tare::python
