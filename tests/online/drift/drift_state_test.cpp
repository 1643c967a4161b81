// SPDX-License-Identifier: BSD-3-Clause
// The saved state of DriftWatch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "expect_error.h"
#include "online/drift/drift_watch.h"

namespace tare {
namespace {

constexpr std::size_t kStateFeatures = 2;

DriftWatch new_watch() {
  return DriftWatch({.features = kStateFeatures, .most_rows = 100, .seed = Seed{77}});
}

/// Steady, a change at row 330, and a restart at row 500.
void feed(DriftWatch& watch, std::uint64_t row) {
  Rng rng(split(Seed{31}, row));
  if (row == 500) watch.restart();
  const double score = row < 330 || row > 500 ? rng.normal() : 2.0 + rng.normal();
  watch.step(score, std::vector<double>{rng.uniform(), static_cast<double>(row % 7)});
}

TensorStore state_of(const DriftWatch& watch) {
  TensorStore store;
  watch.save(TensorWriter(store));
  return store;
}

void expect_same_bits(const TensorStore& a, const TensorStore& b) {
  EXPECT_EQ(a.values, b.values);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    const Tensor& other = b.tensors.at(name);
    ASSERT_EQ(tensor.shape, other.shape) << name;
    EXPECT_TRUE(std::ranges::equal(tensor.bytes.span(), other.bytes.span())) << name;
  }
}

TEST(DriftState, GoesOnWithTheSameBitsFromAnyRow) {
  // Before and after the ring is full, the alarm, the end of what is kept, and the restart.
  constexpr std::uint64_t kRows = 620;
  DriftWatch whole = new_watch();
  std::vector<TensorStore> states = {state_of(whole)};
  for (std::uint64_t row = 0; row < kRows; ++row) {
    feed(whole, row);
    states.push_back(state_of(whole));
    if (row == 499) {
      ASSERT_TRUE(whole.alarm());
    }
  }
  EXPECT_FALSE(whole.alarm());
  for (std::uint64_t row = 0; row < kRows; row += 13) {
    DriftWatch loaded = DriftWatch::load(TensorReader(states[row]));
    expect_same_bits(state_of(loaded), states[row]);
    const std::uint64_t end = std::min(kRows, row + 90);
    for (std::uint64_t next = row; next < end; ++next) feed(loaded, next);
    expect_same_bits(state_of(loaded), states[end]);
  }
}

TEST(DriftState, CausesAreTheSameAfterLoading) {
  DriftWatch watch({.features = 1, .seed = Seed{1}});
  for (std::uint64_t row = 0; row < 1200; ++row) {
    Rng rng(split(Seed{32}, row));
    const double x = rng.uniform();
    watch.step(rng.normal() * (row > 700 && x > 0.7 ? 4.0 : 1.0), std::vector<double>{x});
  }
  const TensorStore state = state_of(watch);
  const DriftWatch loaded = DriftWatch::load(TensorReader(state));
  const std::vector<DriftCause> causes = watch.explain();
  const std::vector<DriftCause> again = loaded.explain();
  ASSERT_FALSE(causes.empty());
  ASSERT_EQ(causes.size(), again.size());
  for (std::size_t k = 0; k < causes.size(); ++k) {
    EXPECT_EQ(causes[k].low, again[k].low);
    EXPECT_EQ(causes[k].p, again[k].p);
  }
}

void expect_corrupt(const TensorStore& store, const std::string& what) {
  SCOPED_TRACE(what);
  expect_error(ErrorCode::kCorruptFile, "", [&] { DriftWatch::load(TensorReader(store)); });
}

TensorStore with_number(TensorStore store, const std::string& name, std::size_t at, double number) {
  Tensor& tensor = store.tensors.at(name);
  std::vector<std::byte> bytes(tensor.bytes.data(), tensor.bytes.data() + tensor.bytes.size());
  std::memcpy(bytes.data() + at * sizeof(double), &number, sizeof(double));
  tensor.bytes = Buffer<std::byte>(std::move(bytes));
  return store;
}

TEST(DriftState, DamagedStatesAreRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::uint64_t rows : {40u, 300u, 360u, 560u}) {
    DriftWatch watch = new_watch();
    for (std::uint64_t row = 0; row < rows; ++row) feed(watch, row);
    const TensorStore whole = state_of(watch);
    for (const auto& [name, tensor] : whole.tensors) {
      TensorStore damaged = whole;
      damaged.tensors.erase(name);
      expect_corrupt(damaged, "without " + name);
      damaged = whole;
      damaged.tensors.at(name).shape.push_back(2);
      expect_corrupt(damaged, "another shape of " + name);
      if (tensor.dtype == Dtype::kF64) expect_corrupt(with_number(whole, name, 0, kNan), name);
    }
    for (const auto& [name, value] : whole.values) {
      TensorStore damaged = whole;
      damaged.values.erase(name);
      expect_corrupt(damaged, "without " + name);
      damaged = whole;
      damaged.values.at(name) = -1;
      expect_corrupt(damaged, "negative " + name);
    }
    // A count that disagrees with the rest; 100 rows are kept.
    std::vector<std::string> counts = {"rows", "start", "written", "bets.rows"};
    if (rows == 300 || rows == 360) counts.emplace_back("most_rows");
    for (const std::string& name : counts) {
      TensorStore damaged = whole;
      ASSERT_TRUE(damaged.values.contains(name)) << name;
      damaged.values.at(name) = std::uint64_t{99999};
      expect_corrupt(damaged, name);
    }
    expect_corrupt(with_number(whole, "rate", 0, 1.5), "rate");
    expect_corrupt(with_number(whole, "bets.stake", 3, -1.0), "stake");
    expect_corrupt(with_number(whole, "bets.wealth", 0, watch.alarm() ? 1.0 : 1e9), "wealth");
    expect_corrupt(with_number(whole, "reference", 0, 1e9), "reference");
  }
}

}  // namespace
}  // namespace tare
