// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rows_view.h"

namespace tare_cuda {

/// The rows by where they are: a balanced tree that halves them along their widest feature, down to
/// leaves of at most kLeafRows, each with its box.
struct RegionsView {
  int depth = 0;                  // there are 2^depth leaves
  const int* rows = nullptr;      // leaf by leaf
  const float* values = nullptr;  // of these, [place][padded]
  const float* boxes = nullptr;   // [leaf][low, high][padded]
  const int* split_dims =
      nullptr;  // of inner nodes; the root is 1, the halves of k are 2 k and 2 k + 1
  const float* split_values = nullptr;  // the least of the second half

  __host__ __device__ int leaves() const { return 1 << depth; }
};

/// Where a part of rows begins that are cut into 2^depth parts.
__host__ __device__ inline int part_begin(int rows, int depth, int part) {
  return static_cast<int>((static_cast<long>(part) * rows) >> depth);
}

class Regions {
 public:
  explicit Regions(const RowsView& rows);

  const RegionsView& view() const { return view_; }

 private:
  RegionsView view_;
  DeviceArray<int> rows_;
  DeviceArray<float> values_;
  DeviceArray<float> boxes_;
  DeviceArray<int> split_dims_;
  DeviceArray<float> split_values_;
};

}  // namespace tare_cuda
