// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "tare/base/execution.h"

namespace tare {

/// For a task that itself runs in parallel with others.
inline Execution one_thread() {
  Execution how;
  how.threads = 1;
  return how;
}

/// The number of threads of `how`, at least 1.
std::size_t thread_count(const Execution& how);

/// Runs body(i) for i = 0, ..., count - 1 on the threads of `how`; workers take the next i when
/// free. Returns when all are done. If some threw, the exception of the lowest i is rethrown after
/// the others have stopped. Each call of body must write to its own memory only, so that the result
/// cannot depend on threads.
void parallel_for(const Execution& how, std::size_t count,
                  const std::function<void(std::size_t)>& body);

/// The same over blocks of rows: body(first, last) for consecutive ranges of at most `block` rows.
void parallel_blocks(const Execution& how, std::size_t rows, std::size_t block,
                     const std::function<void(std::size_t first, std::size_t last)>& body);

}  // namespace tare
