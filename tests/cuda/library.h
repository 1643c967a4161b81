// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "device/cuda_abi.h"

/// The functions of the library at a path. Ends the program where there are none.
inline const TareCudaFunctions& load_cuda_library(const char* path) {
  void* const handle = dlopen(path, RTLD_NOW);
  if (handle == nullptr) {
    std::printf("%s\n", dlerror());
    std::exit(1);
  }
  using Entry = const TareCudaFunctions* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, "tare_cuda_functions"));
  if (entry == nullptr || entry()->abi != TARE_CUDA_ABI) {
    std::printf("%s belongs to another version\n", path);
    std::exit(1);
  }
  return *entry();
}
