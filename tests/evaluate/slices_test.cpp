// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "draws.h"
#include "infinity.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// What must hold for any cut of numbers, checked value by value.
void expect_sound_cut(const Cut& cut, const std::vector<double>& values, std::size_t most) {
  ASSERT_EQ(cut.part_of_row.size(), values.size());
  EXPECT_LE(cut.parts.size(), most);
  std::map<double, std::set<std::uint32_t>> parts_of_value;
  std::vector<std::size_t> rows(cut.parts.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t part = cut.part_of_row[i];
    ASSERT_LT(part, cut.parts.size());
    parts_of_value[values[i]].insert(part);
    ++rows[part];
    EXPECT_GE(values[i], cut.parts[part].from);
    EXPECT_LE(values[i], cut.parts[part].to);
  }
  for (const auto& [value, parts] : parts_of_value) EXPECT_EQ(parts.size(), 1u) << value;
  for (std::size_t k = 0; k < cut.parts.size(); ++k) {
    EXPECT_GT(rows[k], 0u);
    EXPECT_GE(cut.parts[k].middle, cut.parts[k].from);
    EXPECT_LE(cut.parts[k].middle, cut.parts[k].to);
    if (k > 0) {
      EXPECT_LT(cut.parts[k - 1].to, cut.parts[k].from);
    }
  }
}

TEST(CutNumbers, PartsAreRangesThatHoldEveryRowOnce) {
  Rng rng(Seed{3});
  for (std::uint64_t draw = 0; draw < draws(300); ++draw) {
    const std::size_t rows = 1 + rng.below(200);
    const std::uint64_t distinct = 1 + rng.below(60);
    std::vector<double> values(rows);
    for (double& v : values) v = static_cast<double>(rng.below(distinct)) - 7.0;
    if (draw % 5 == 0) values[0] = kInf;
    if (draw % 7 == 0) values[rows / 2] = -kInf;
    const std::size_t most = 1 + rng.below(16);
    expect_sound_cut(cut_numbers(values, most), values, most);
  }
}

TEST(CutNumbers, DistinctValuesGiveEqualParts) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back((i * 7919) % 1000);
  const Cut cut = cut_numbers(values, 8);
  ASSERT_EQ(cut.parts.size(), 8u);
  std::vector<int> rows(8, 0);
  for (const std::uint32_t part : cut.part_of_row) ++rows[part];
  for (const int count : rows) EXPECT_EQ(count, 125);
}

TEST(CutNumbers, AConstantIsOnePartAndAFewValuesAreThemselves) {
  EXPECT_EQ(cut_numbers(std::vector<double>(50, 3.0), 10).parts.size(), 1u);
  const std::vector<double> values = {1, 2, 2, 2, 2, 2, 2, 2, 2, 9};
  const Cut cut = cut_numbers(values, 3);
  ASSERT_EQ(cut.parts.size(), 3u);
  EXPECT_EQ(cut.parts[1].from, 2.0);
  EXPECT_EQ(cut.parts[1].to, 2.0);
  EXPECT_TRUE(cut_numbers({}, 4).parts.empty());
}

TEST(CutNames, TheMostFrequentComeFirstAndTheRestIsTogether) {
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  const std::vector<std::uint32_t> codes = {0, 2, 2, 2, 3, 3, 1, 2};
  const Cut all = cut_names(codes, names, 4);
  ASSERT_EQ(all.parts.size(), 4u);
  EXPECT_EQ(all.parts[0].name, "c");
  EXPECT_EQ(all.parts[1].name, "d");
  const Cut some = cut_names(codes, names, 2);
  ASSERT_EQ(some.parts.size(), 2u);
  EXPECT_EQ(some.parts[1].name, "3 other values");
  EXPECT_EQ(some.part_of_row, (std::vector<std::uint32_t>{1, 0, 0, 0, 1, 1, 1, 0}));
}

TEST(TallySlices, CountsWhatIsOutsideAndOrdersTheWidths) {
  Outcomes o;
  //         below  inside  edge  above  inside, wider
  o.y = {-1.0, 0.5, 1.0, 2.0, 0.0};
  o.lower = {0.0, 0.0, 0.0, 0.0, -4.0};
  o.upper = {1.0, 1.0, 1.0, 1.0, kInf};
  o.median.assign(5, 0.5);
  Cut cut;
  cut.parts.resize(2);
  cut.part_of_row = {0, 0, 0, 0, 1};
  const std::vector<Slice> slices = tally_slices(cut, o);
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].rows, 4u);
  EXPECT_EQ(slices[0].below, 1u);
  EXPECT_EQ(slices[0].above, 1u);
  EXPECT_EQ(slices[0].on_end, 1u);
  EXPECT_DOUBLE_EQ(slices[0].coverage, 0.5);
  EXPECT_LT(slices[0].coverage_low, 0.5);
  EXPECT_GT(slices[0].coverage_high, 0.5);
  EXPECT_EQ(slices[0].width, 1.0);
  EXPECT_EQ(slices[1].width, kInf);
  EXPECT_EQ(slices[1].coverage, 1.0);
}

TEST(TallySlices, TargetsAtAnEndCountByTheShareOfTheirJump) {
  // 300 rows, all in their closed intervals. Of counts a third lies at an end; of the others none
  // does.
  Outcomes o;
  o.y.assign(300, 1.0);
  o.lower.assign(300, 0.0);
  o.upper.assign(300, 2.0);
  o.median.assign(300, 1.0);
  o.jumps.assign(300, {});
  Cut cut;
  cut.parts.resize(1);
  cut.part_of_row.assign(300, 0);
  EXPECT_TRUE(covers_too_much(tally_slices(cut, o)[0]));
  for (std::size_t i = 0; i < 100; ++i) {
    const bool at_lower = i % 2 == 0;
    o.y[i] = at_lower ? 0.0 : 2.0;
    // Of the lower jump 0.15 / 0.2 is above 0.05, of the upper one 0.05 / 0.1 up to 0.95.
    o.jumps[i] = at_lower ? TargetJump{0.0, 0.2} : TargetJump{0.9, 1.0};
  }
  const Slice counts = tally_slices(cut, o)[0];
  EXPECT_EQ(counts.on_end, 100u);
  EXPECT_EQ(counts.counted, 1.0);
  EXPECT_NEAR(counts.coverage, (200.0 + 50 * 0.75 + 50 * 0.5) / 300.0, 1e-12);
  EXPECT_FALSE(covers_too_much(counts));
  EXPECT_FALSE(covers_too_little(counts));
  // Its bar is that of 262 and 263 rows.
  EXPECT_EQ(counts.coverage_low, clopper_pearson(262, 300, 0.95).low);
  EXPECT_EQ(counts.coverage_high, clopper_pearson(263, 300, 0.95).high);
  for (std::size_t i = 0; i < 60; ++i) o.y[i] = 3.0;
  EXPECT_TRUE(covers_too_little(tally_slices(cut, o)[0]));
}

}  // namespace
}  // namespace tare
