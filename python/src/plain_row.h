// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

namespace tare::python {

/// The doubles of a NumPy array while they are in use: by the buffer of Python, which takes a third
/// of the time of nanobind's arrays.
class PlainDoubles {
 public:
  explicit PlainDoubles(nanobind::handle array, bool writable = false) {
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    open_ = PyObject_GetBuffer(array.ptr(), &view_, flags) == 0;
    if (!open_) PyErr_Clear();
  }
  ~PlainDoubles() {
    if (open_) PyBuffer_Release(&view_);
  }
  PlainDoubles(const PlainDoubles&) = delete;
  PlainDoubles& operator=(const PlainDoubles&) = delete;

  /// Whether there are `size` native doubles, in as many dimensions, of which all but the last have
  /// one place.
  bool has(int dimensions, std::size_t size) const {
    return open_ && view_.ndim == dimensions && std::string_view(view_.format) == "d" &&
           view_.len == static_cast<Py_ssize_t>(size * sizeof(double)) &&
           view_.shape[dimensions - 1] == static_cast<Py_ssize_t>(size);
  }
  std::span<double> values() const {
    return {static_cast<double*>(view_.buf), static_cast<std::size_t>(view_.len) / sizeof(double)};
  }
  bool are_finite() const {
    return std::ranges::all_of(values(), [](double v) { return std::isfinite(v); });
  }

 private:
  Py_buffer view_{};
  bool open_ = false;
};

}  // namespace tare::python
