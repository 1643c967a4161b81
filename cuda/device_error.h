// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace tare_cuda {

/// A call of the CUDA runtime failed.
struct DeviceError : std::runtime_error {
  DeviceError(cudaError_t error, const char* what)
      : std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error)), code(error) {}
  cudaError_t code;
};

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // so that the next call does not report it again
  throw DeviceError(error, what);
}

inline void check_launch(const char* what) { check(cudaGetLastError(), what); }

/// The work was stopped by its caller.
struct StoppedWork {};

}  // namespace tare_cuda
