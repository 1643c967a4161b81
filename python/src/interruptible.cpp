// SPDX-License-Identifier: BSD-3-Clause
#include "interruptible.h"

#include <nanobind/stl/string.h>

#include "base/watched_work.h"

namespace nb = nanobind;

namespace tare::python {

void run_interruptible(std::size_t threads, const nb::object& progress,
                       const std::function<void(const Execution&)>& work, Device device) {
  Execution how;
  how.threads = threads;
  how.device = device;
  const nb::gil_scoped_release unlocked;
  run_watched(how, work, [&](const WorkNews& news) {
    // Signals and the callback, which may raise.
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (news.fresh && !progress.is_none()) progress(news.stage, news.share);
  });
}

void run_rows(std::size_t rows, std::size_t threads,
              const std::function<void(const Execution&)>& work, Device device) {
  constexpr std::size_t kInterruptibleRows = 256;
  if (rows >= kInterruptibleRows) return run_interruptible(threads, nb::none(), work, device);
  const nb::gil_scoped_release unlocked;
  Execution how;
  how.threads = rows == 1 ? 1 : threads;  // to count the cores takes longer than a row
  how.device = device;
  work(how);
}

}  // namespace tare::python
