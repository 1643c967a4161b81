// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "device/cuda_abi.h"

namespace tare {

/// libtare_cuda, loaded once for the process when it is first asked for: the file that the
/// environment variable TARE_CUDA_LIBRARY names; else beside this program or library; else where
/// the system looks.
class CudaLibrary {
 public:
  static const CudaLibrary& get();

  /// How many GPUs can be used; 0 without the library.
  int devices() const noexcept { return devices_; }
  /// Why there is none; empty where there is one.
  const std::string& why_not() const noexcept { return why_not_; }
  /// Needs devices() > 0.
  const TareCudaFunctions& functions() const noexcept { return *functions_; }

 private:
  CudaLibrary();
  const TareCudaFunctions* load();

  std::string why_not_;  // load() writes it, so it comes first
  const TareCudaFunctions* functions_ = nullptr;
  int devices_ = 0;
};

/// Calibration rows on a GPU.
struct CudaRowsDeleter {
  void operator()(TareCudaRows* rows) const noexcept;
};
using CudaRows = std::unique_ptr<TareCudaRows, CudaRowsDeleter>;

}  // namespace tare
