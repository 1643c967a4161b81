// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <exception>
#include <memory>
#include <new>

#include "answer.h"
#include "losses.h"

// The table of functions that libtare calls. No exception passes from here.

namespace {

using tare_cuda::check;
using tare_cuda::DeviceError;

void say(TareCudaText* why, const char* what) {
  if (why != nullptr) std::snprintf(why->text, sizeof why->text, "%s", what);
}

template <class Work>
int guarded(TareCudaText* why, const Work& work) {
  try {
    work();
    return kTareCudaDone;
  } catch (const tare_cuda::StoppedWork&) {
    return kTareCudaStopped;
  } catch (const DeviceError& error) {
    say(why, error.what());
    return error.code == cudaErrorMemoryAllocation ? kTareCudaNoMemory : kTareCudaDeviceFailed;
  } catch (const std::bad_alloc&) {
    say(why, "out of memory");
    return kTareCudaNoMemory;
  } catch (const std::exception& error) {
    say(why, error.what());
    return kTareCudaDeviceFailed;
  }
}

int devices(TareCudaText* why) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    say(why, cudaGetErrorString(error));
    return 0;
  }
  if (count == 0) say(why, "no device");
  return count;
}

int upload(int device, const TareCudaSample* sample, TareCudaRows** out, TareCudaText* why) {
  return guarded(why, [&] { *out = std::make_unique<TareCudaRows>(device, *sample).release(); });
}

void release(TareCudaRows* rows) { delete rows; }

int answer(TareCudaRows* rows, const TareCudaQuestion* question, const TareCudaAnswer* answer,
           TareCudaText* why) {
  return guarded(why, [&] {
    const std::lock_guard one_at_a_time(rows->busy);
    tare_cuda::answer_queries(*rows, *question, *answer);
  });
}

int losses(TareCudaRows* rows, const TareCudaLosses* losses, TareCudaText* why) {
  return guarded(why, [&] {
    const std::lock_guard one_at_a_time(rows->busy);
    tare_cuda::leave_one_out(*rows, *losses);
  });
}

const TareCudaFunctions kFunctions = {TARE_CUDA_ABI, devices, upload, release, answer, losses};

}  // namespace

extern "C" __attribute__((visibility("default"))) const TareCudaFunctions* tare_cuda_functions(
    void) {
  return &kFunctions;
}
