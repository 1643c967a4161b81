// SPDX-License-Identifier: BSD-3-Clause
#include "fake_cuda.h"

#include <cmath>
#include <cstdio>
#include <vector>

#include "oracle.h"

using tare_cuda_test::Problem;
using tare_cuda_test::Window;

struct TareCudaRows {
  Problem problem;
};

namespace {

FakeCuda state = {};

void say(TareCudaText* why, const char* text) {
  std::snprintf(why->text, sizeof why->text, "%s", text);
}

int devices(TareCudaText*) { return 1; }

int upload(int, const TareCudaSample* sample, TareCudaRows** out, TareCudaText* why) {
  ++state.uploads;
  if (state.mode == kFakeHasNoMemory) {
    say(why, "no memory on the device");
    return kTareCudaNoMemory;
  }
  ++state.held;
  *out = new TareCudaRows;
  Problem& problem = (*out)->problem;
  problem.rows = sample->rows;
  problem.dims = sample->dims;
  problem.columns.assign(sample->columns, sample->columns + sample->rows * sample->dims);
  problem.residuals.assign(sample->residuals, sample->residuals + sample->rows);
  if (sample->weights != nullptr) {
    problem.weights.assign(sample->weights, sample->weights + sample->rows);
  }
  return kTareCudaDone;
}

void release(TareCudaRows* rows) {
  --state.held;
  delete rows;
}

bool left_out(std::size_t i) { return state.mode == kFakeLeavesSomeOut && i % 3 == 0; }

int answer(TareCudaRows* rows, const TareCudaQuestion* question, const TareCudaAnswer* answer,
           TareCudaText* why) {
  ++state.answers;
  if (state.mode == kFakeIsLost) {
    say(why, "the device is lost");
    return kTareCudaDeviceFailed;
  }
  Problem problem = rows->problem;
  problem.kernel = question->kernel;
  problem.bandwidth = question->bandwidth;
  const auto* queries = static_cast<const double*>(question->queries);
  for (std::size_t q = 0; q < question->count; ++q) {
    const double share = static_cast<double>(q) / static_cast<double>(question->count);
    if (question->go_on(question->context, share) == 0) return kTareCudaStopped;
    const Window window(problem, queries + q * problem.dims, problem.rows);
    answer->quality[q] = kTareCudaNotAnswered;
    // The other rule for ranks is that of the processor here.
    if (left_out(q) || !(window.total() > 0.0) || question->ranks.expected != 0) continue;
    answer->quality[q] = kTareCudaAnswered;
    answer->window_n[q] = window.size();
    if (question->nearest != 0) answer->nearest[q] = window.nearest();
    for (std::size_t j = 0; j < question->level_count; ++j) {
      answer->quantiles[q * question->level_count + j] =
          window.value_at(question->levels[j] * window.total() * (1.0 - 1e-12));
    }
  }
  return kTareCudaDone;
}

int losses(TareCudaRows* rows, const TareCudaLosses* asked, TareCudaText* why) {
  ++state.losses;
  if (state.mode == kFakeIsLost) {
    say(why, "the device is lost");
    return kTareCudaDeviceFailed;
  }
  Problem problem = rows->problem;
  problem.kernel = asked->kernel;
  const std::vector<double> levels(asked->levels, asked->levels + asked->level_count);
  for (std::size_t p = 0; p < asked->count; ++p) {
    std::vector<double> query;
    for (std::size_t j = 0; j < problem.dims; ++j) {
      query.push_back(problem.columns[j * problem.rows + asked->places[p]]);
    }
    for (std::size_t b = 0; b < asked->bandwidth_count; ++b) {
      problem.bandwidth = asked->bandwidths[b];
      const Window window(problem, query.data(), asked->places[p]);
      asked->losses[p * asked->bandwidth_count + b] =
          left_out(p) ? std::nan("") : window.loss(problem.residuals[asked->places[p]], levels);
    }
  }
  return kTareCudaDone;
}

const TareCudaFunctions kFunctions = {TARE_CUDA_ABI, devices, upload, release, answer, losses};

}  // namespace

extern "C" __attribute__((visibility("default"))) const TareCudaFunctions* tare_cuda_functions(
    void) {
  return &kFunctions;
}
extern "C" __attribute__((visibility("default"))) FakeCuda* fake_cuda_state(void) { return &state; }
