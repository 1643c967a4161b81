// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "device_memory.h"

namespace tare_cuda {

/// What goes in and out with a batch. There are two: while the device works on one, the other is
/// copied.
struct BatchBuffers {
  DeviceArray<double> given;  // queries as they came, maybe in single precision
  DeviceArray<double> quantiles;
  DeviceArray<double> window_n;
  DeviceArray<double> distance;  // to the nearest row
  DeviceArray<std::uint8_t> quality;
  PinnedArray<double> host_quantiles;
  PinnedArray<double> host_window_n;
  PinnedArray<double> host_distance;
  PinnedArray<std::uint8_t> host_quality;
};

/// The memory of a batch of queries, kept between calls: to get it takes longer than many a job.
struct Workspace {
  std::size_t queries = 0;  // of a batch
  std::size_t levels = 0;
  std::size_t chunks = 0;
  DeviceArray<double> raw;    // queries in double precision
  DeviceArray<float> values;  // centred, [query][padded]
  DeviceArray<float> norms;   // not squared
  DeviceArray<float> biases;  // of rows
  DeviceArray<double> level_values;
  DeviceArray<float> sums;     // [chunk][query], later cumulated
  DeviceArray<float> squares;  // [slice][query]
  DeviceArray<float> nearest;  // [slice][query], squared distances
  DeviceArray<int> nearest_block;
  DeviceArray<double> totals;
  BatchBuffers buffers[2];
};

}  // namespace tare_cuda
