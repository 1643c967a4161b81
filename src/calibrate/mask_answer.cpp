// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/mask_answer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "index/kd_kernels.h"

namespace tare {
namespace {

constexpr std::size_t kMaskQueries = 32;             // that see a block of rows together
constexpr std::size_t kMaskBlockBytes = 192 * 1024;  // of rows: they stay in the second-level cache

/// The rows after the last full word of 64, filled up with rows that nothing is near.
std::vector<double> last_word(const LocalSample& sample) {
  const std::size_t full = sample.rows() / 64 * 64;
  std::vector<double> values(64 * sample.dims(), std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < sample.dims(); ++j) {
    for (std::size_t i = full; i < sample.rows(); ++i) {
      values[64 * j + i - full] = sample.features().columns()[j * sample.rows() + i];
    }
  }
  return values;
}

struct MaskMemory {
  std::vector<std::uint64_t> masks;
  std::vector<std::uint32_t> before;
  std::vector<std::uint64_t> ranks;
  std::vector<std::uint32_t> places;
  LocalSample::Scratch scratch;
};

}  // namespace

void answer_by_masks(const LocalSample& sample, MatrixView z, std::span<const Level> levels,
                     const SnqOptions& options, const Execution& how, Prediction& result) {
  const std::size_t rows = sample.rows();
  const std::size_t dims = sample.dims();
  const std::size_t full = rows / 64;  // words
  const std::size_t words = (rows + 63) / 64;
  const std::size_t block = std::max<std::size_t>(
      1, kMaskBlockBytes / (64 * sizeof(double) * std::max<std::size_t>(1, dims)));
  const double reach2 = options.bandwidth * options.bandwidth;
  const std::vector<double> rest = last_word(sample);
  const double* columns = sample.features().columns().data();

  parallel_blocks(how, z.rows(), kMaskQueries, [&](std::size_t first, std::size_t last) {
    thread_local MaskMemory memory;
    memory.masks.resize((last - first) * words);
    memory.before.resize(words + 1);
    memory.ranks.resize(levels.size());
    memory.places.resize(levels.size());
    for (std::size_t w = 0; w < full; w += block) {
      for (std::size_t i = first; i < last; ++i) {
        mask_near(columns + 64 * w, rows, dims, std::min(block, full - w), z.row(i).data(), reach2,
                  memory.masks.data() + (i - first) * words + w);
      }
    }
    for (std::size_t i = first; i < last; ++i) {
      std::uint64_t* mask = memory.masks.data() + (i - first) * words;
      if (full < words) mask_near(rest.data(), 64, dims, 1, z.row(i).data(), reach2, mask + full);
      const std::uint32_t count = count_bits(mask, words, memory.before.data());
      result.effective_n[i] = count;
      result.fallback[i] = count == 0 ? 1 : 0;
      if (count == 0) {
        sample.measure(z.row(i), memory.scratch);
        result.effective_n[i] = sample.weigh(options, memory.scratch).effective_n;
        sample.quantiles(levels, memory.scratch, result.quantiles.row(i));
        continue;
      }
      for (std::size_t j = 0; j < levels.size(); ++j) memory.ranks[j] = levels[j].rank(count);
      select_bits(mask, memory.before.data(), memory.ranks, memory.places.data());
      for (std::size_t j = 0; j < levels.size(); ++j) {
        result.quantiles(i, j) = sample.residuals()[memory.places[j]];
      }
    }
  });
}

}  // namespace tare
