// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/mask_answer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "calibrate/snq/window/rank_rule.h"
#include "index/kd_kernels.h"

namespace tare {
namespace {

constexpr std::size_t kMaskQueries = 32;             // that see a block of rows together
constexpr std::size_t kMaskBlockBytes = 192 * 1024;  // of rows: they stay in the second-level cache
// Rows one by one cost so much more than rows in a row.
constexpr std::size_t kScattered = 8;

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

CoarseRows rows_arranged(const LocalSample& sample, CoarseRows::Arrangement arrangement) {
  return {sample.features().columns(), sample.rows(), sample.dims(), arrangement};
}

/// Whether boxes leave out so much that it makes up for what is lost: queries that share the rows
/// they look at, and bits that are already in order.
bool boxes_pay(const LocalSample& sample, const CoarseRows& in_boxes, double reach2) {
  constexpr std::size_t kBoxProbes = 8;
  // In units of looking at all rows, measured at 100,000 rows of eight features.
  constexpr double kLookAtBoxes = 0.1;
  constexpr double kLookAlone = 1.8;
  constexpr double kPutInOrder = 15.0;
  CoarseRows::Scratch scratch;
  std::vector<std::uint64_t> mask(in_boxes.words());
  double boxes = 0.0;
  double near = 0.0;
  for (std::size_t p = 0; p < kBoxProbes; ++p) {
    const auto query = sample.features().row((2 * p + 1) * sample.rows() / (2 * kBoxProbes));
    boxes += in_boxes.share_of_boxes(query, reach2, scratch) / kBoxProbes;
    in_boxes.near(MatrixView(query.data(), 1, query.size()), reach2, scratch, mask);
    for (const std::uint64_t word : mask) near += std::popcount(word);
  }
  near /= static_cast<double>(kBoxProbes * sample.rows());
  return kLookAtBoxes + kLookAlone * boxes + kPutInOrder * near < 0.8;
}

CoarseRows coarse_rows(const LocalSample& sample, const SnqOptions& options) {
  constexpr std::size_t kFewRowsForBoxes = 4096;
  constexpr std::size_t kManyDimsForBoxes = 32;  // in so many, all boxes are near
  using enum CoarseRows::Arrangement;
  if (sample.rows() >= kFewRowsForBoxes && sample.dims() <= kManyDimsForBoxes) {
    CoarseRows in_boxes = rows_arranged(sample, kInBoxes);
    if (!in_boxes.serves(options.bandwidth) ||
        boxes_pay(sample, in_boxes, options.bandwidth * options.bandwidth)) {
      return in_boxes;
    }
  }
  return rows_arranged(sample, kByPlace);
}

}  // namespace

/// What one call of predict is about.
struct MaskAnswer::Task {
  MatrixView z;
  const SnqOptions& options;
  double reach2;
  Prediction& result;
};

/// Working memory of a thread.
struct MaskAnswer::Memory {
  CoarseRows::Scratch coarse;
  std::vector<std::uint64_t> masks;
  std::vector<std::uint32_t> before;
  RankRule rule;
  std::vector<std::uint32_t> places;
  std::vector<double> values;
  LocalSample::Scratch scratch;
};

MaskAnswer::MaskAnswer(const LocalSample& sample, const SnqOptions& options)
    : sample_(sample), coarse_(coarse_rows(sample, options)), last_word_(last_word(sample)) {}

bool MaskAnswer::serves(const LocalSample& sample, const SnqOptions& options) {
  return options.kernel == KernelKind::kNaive && sample.weights().empty() && sample.dims() > 0 &&
         !std::isinf(options.bandwidth);
}

void MaskAnswer::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                         const Execution& how, Prediction& result) const {
  const Task task{z, options, options.bandwidth * options.bandwidth, result};
  const std::size_t words = (sample_.rows() + 63) / 64;
  parallel_blocks(how, z.rows(), kMaskQueries, [&](std::size_t first, std::size_t last) {
    thread_local Memory memory;
    memory.masks.resize((last - first) * words);
    memory.before.resize(words + 1);
    memory.rule.start(options.ranks, levels);
    find_near(task, first, last, memory);
    for (std::size_t i = first; i < last; ++i) {
      answer_query(task, i, memory.masks.data() + (i - first) * words, memory);
    }
  });
}

void MaskAnswer::find_near(const Task& task, std::size_t first, std::size_t last,
                           Memory& memory) const {
  if (coarse_.serves(task.options.bandwidth)) {
    coarse_.near(task.z.middle_rows(first, last - first), task.reach2, memory.coarse, memory.masks);
    return;
  }
  const std::size_t rows = sample_.rows();
  const std::size_t dims = sample_.dims();
  const std::size_t full = rows / 64;
  const std::size_t words = (rows + 63) / 64;
  const std::size_t block =
      std::max<std::size_t>(1, kMaskBlockBytes / (64 * sizeof(double) * dims));
  const double* columns = sample_.features().columns().data();
  for (std::size_t w = 0; w < full; w += block) {
    for (std::size_t i = first; i < last; ++i) {
      mask_near(columns + 64 * w, rows, dims, std::min(block, full - w), task.z.row(i).data(),
                task.reach2, memory.masks.data() + (i - first) * words + w);
    }
  }
  if (full == words) return;
  for (std::size_t i = first; i < last; ++i) {
    mask_near(last_word_.data(), 64, dims, 1, task.z.row(i).data(), task.reach2,
              memory.masks.data() + (i - first) * words + full);
  }
}

void MaskAnswer::answer_query(const Task& task, std::size_t query, const std::uint64_t* mask,
                              Memory& memory) const {
  const std::size_t words = (sample_.rows() + 63) / 64;
  const std::uint32_t count = count_bits(mask, words, memory.before.data());
  const auto out = task.result.quantiles.row(query);
  const bool diagnose = !task.result.nearest.empty();
  task.result.window_n[query] = count;
  task.result.fallback[query] = count == 0 ? 1 : 0;
  if (count == 0) {
    const double nearest = sample_.measure(task.z.row(query), memory.scratch);
    if (diagnose) task.result.nearest[query] = nearest;
    task.result.window_n[query] = sample_.weigh(task.options, memory.scratch).effective_n;
    sample_.quantiles(memory.rule, memory.scratch, out);
    return;
  }
  const auto ranks = memory.rule.ranks(count);
  memory.places.resize(ranks.size());
  memory.values.resize(ranks.size());
  select_bits(mask, memory.before.data(), ranks, memory.places.data());
  for (std::size_t j = 0; j < ranks.size(); ++j) {
    memory.values[j] = sample_.residuals()[memory.places[j]];
  }
  memory.rule.answer(memory.values, out);
  if (diagnose) {
    task.result.nearest[query] = nearest(task.z.row(query), mask, count, memory);
  }
}

/// The distance of the nearest of `count` rows in the mask.
double MaskAnswer::nearest(std::span<const double> query, const std::uint64_t* mask,
                           std::size_t count, Memory& memory) const {
  const std::size_t rows = sample_.rows();
  if (count > rows / kScattered) return sample_.measure(query, memory.scratch);
  const std::span<const double> columns = sample_.features().columns();
  double least = LocalSample::kFarthestRow;
  for (std::size_t w = 0; 64 * w < rows; ++w) {
    for (std::uint64_t left = mask[w]; left != 0; left &= left - 1) {
      const std::size_t row = 64 * w + static_cast<std::size_t>(std::countr_zero(left));
      double sum = 0.0;  // as BruteForce adds it, so that the distance is the same to the bit
      for (std::size_t j = 0; j < query.size(); ++j) {
        const double difference = columns[j * rows + row] - query[j];
        sum += difference * difference;
      }
      least = std::min(least, sum);
    }
  }
  return std::sqrt(least);
}

}  // namespace tare
