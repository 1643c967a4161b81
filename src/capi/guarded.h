// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>

#include "base/fail.h"
#include "tare/c.h"

namespace tare::capi {

/// Remembers the exception as this thread's last error. Does not throw.
tare_status remember(std::exception_ptr failure) noexcept;

/// Runs `work`; an exception becomes a status.
template <class Work>
tare_status guarded(Work&& work) noexcept {
  try {
    work();
    return TARE_OK;
  } catch (...) {
    return remember(std::current_exception());
  }
}

/// Throws kInvalidArgument for a null pointer.
template <class T>
T& needed(T* pointer, const char* name) {
  if (pointer == nullptr) fail(ErrorCode::kInvalidArgument, "{} is NULL", name);
  return *pointer;
}

}  // namespace tare::capi
