// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "device/cuda_abi.h"
#include "near_workspace.h"
#include "regions.h"
#include "rows_view.h"
#include "workspace.h"

/// Calibration rows on a device, and the memory that answers on them need. One answer at a time.
struct TareCudaRows {
  TareCudaRows(int device, const TareCudaSample& sample);

  int device;
  tare_cuda::RowsView view;
  std::mutex busy;
  tare_cuda::Workspace workspace;
  tare_cuda::NearWorkspace near;
  /// Made when first asked for: a dense kernel does not need them.
  const tare_cuda::Regions& regions();
  /// The mean share of the rows that are near enough to be looked at for a window, about; by the
  /// rows alone.
  double near_share(double bandwidth);

 private:
  std::unique_ptr<tare_cuda::Regions> regions_;
  double share_bandwidth_ = 0.0;
  double share_ = 1.0;
  tare_cuda::DeviceArray<std::byte> memory_;  // of all that the view shows
};
