// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "device_error.h"

namespace tare_cuda {

/// Memory of the device, or of the host where the device can copy while the host computes.
template <class T, bool kOnHost>
class Memory {
 public:
  Memory() = default;
  explicit Memory(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* data = nullptr;
    check(kOnHost ? cudaMallocHost(&data, count * sizeof(T)) : cudaMalloc(&data, count * sizeof(T)),
          kOnHost ? "memory for copies" : "memory on the device");
    data_ = static_cast<T*>(data);
  }
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Memory() {
    // At the end of a process the runtime may be gone already, and nothing can be done about it.
    if (data_ != nullptr) (void)(kOnHost ? cudaFreeHost(data_) : cudaFree(data_));
  }

  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

template <class T>
using DeviceArray = Memory<T, false>;
template <class T>
using PinnedArray = Memory<T, true>;

}  // namespace tare_cuda
