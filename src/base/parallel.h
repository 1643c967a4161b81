// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "tare/base/execution.h"

namespace tare {

/// For work that is itself one of many side by side.
inline Execution one_thread() {
  Execution how;
  how.threads = 1;
  return how;
}

/// The number of threads that `how` asks for, at least 1.
std::size_t thread_count(const Execution& how);

/// Runs body(i) for i = 0, ..., count - 1 on the threads of `how`; workers take the next i when
/// free. Returns when all are done; the exception of the lowest i that threw is thrown again, after
/// the rest has stopped. body must write only to places of its own, so the result cannot depend on
/// threads.
void parallel_for(const Execution& how, std::size_t count,
                  const std::function<void(std::size_t)>& body);

/// The same over blocks of rows: body(first, last) for consecutive ranges of at most `block` rows.
void parallel_blocks(const Execution& how, std::size_t rows, std::size_t block,
                     const std::function<void(std::size_t first, std::size_t last)>& body);

}  // namespace tare
