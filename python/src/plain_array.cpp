// SPDX-License-Identifier: BSD-3-Clause
#include "plain_array.h"

#include <string_view>

namespace nb = nanobind;

namespace tare::python {
namespace {

/// The beginning of an array in memory. It is part of NumPy's binary interface: PyArray_DATA and
/// its like are compiled into every module that uses NumPy. knows_heads() looks whether it is so
/// here.
struct ArrayHead {
  PyObject_HEAD;
  void* data;
  int dimensions;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;
};
constexpr int kInOrder = 0x0001;  // NPY_ARRAY_C_CONTIGUOUS
constexpr int kAligned = 0x0100;  // NPY_ARRAY_ALIGNED

const ArrayHead& head_of(nb::handle array) {
  return *reinterpret_cast<const ArrayHead*>(array.ptr());
}

/// Python's buffer of an array.
class Buffer {
 public:
  Buffer(nb::handle array, int flags) {
    open_ = PyObject_GetBuffer(array.ptr(), &view_, flags) == 0;
    if (!open_) PyErr_Clear();
  }
  ~Buffer() {
    if (open_) PyBuffer_Release(&view_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  explicit operator bool() const { return open_; }
  const Py_buffer* operator->() const { return &view_; }

 private:
  Py_buffer view_{};
  bool open_ = false;
};

/// One row: all dimensions but the last have one place.
bool is_row(int dimensions, const Py_ssize_t* shape) {
  for (int k = 0; k + 1 < dimensions; ++k) {
    if (shape[k] != 1) return false;
  }
  return true;
}

std::span<double> doubles_at(void* data, Py_ssize_t count) {
  return {static_cast<double*>(data), static_cast<std::size_t>(count)};
}

}  // namespace

NumPy::NumPy() {
  const nb::module_ numpy = nb::module_::import_("numpy");
  array_ = numpy.attr("ndarray");
  double_ = numpy.attr("dtype")("float64");
  empty_ = numpy.attr("empty");
  knows_heads_ = knows_heads();
}

bool NumPy::read(nb::handle array, int dimensions, std::span<double>& values) const {
  if (!is_array(array)) return false;
  if (knows_heads_) {
    const ArrayHead& head = head_of(array);
    if (head.dtype == double_.ptr()) {
      constexpr int kNeeded = kInOrder | kAligned;
      if (head.dimensions != dimensions || (head.flags & kNeeded) != kNeeded ||
          !is_row(dimensions, head.shape)) {
        return false;
      }
      values = doubles_at(head.data, head.shape[dimensions - 1]);
      return true;
    }
  }
  // An array from a pickle, for example, has a dtype of its own.
  const Buffer buffer(array, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT);
  if (!buffer || buffer->ndim != dimensions || std::string_view(buffer->format) != "d" ||
      !is_row(dimensions, buffer->shape)) {
    return false;
  }
  // The array goes on holding them when its buffer is closed.
  values = doubles_at(buffer->buf, buffer->shape[dimensions - 1]);
  return true;
}

/// Whether arrays of several forms lie in memory as ArrayHead says, by what Python tells of them.
bool NumPy::knows_heads() const {
  if (nb::cast<Py_ssize_t>(array_.attr("__basicsize__")) <
      static_cast<Py_ssize_t>(sizeof(ArrayHead))) {
    return false;
  }
  const nb::object rows = empty_(nb::make_tuple(3, 5));
  const nb::object one_row = rows[nb::slice(1, 2)];
  const nb::object every_other = rows[nb::slice(nb::int_(0), nb::int_(3), nb::int_(2))];
  const nb::object numbers = empty_(nb::int_(7));
  const nb::object bytes = empty_(nb::int_(33), nb::str("int8"));
  const nb::object not_aligned = bytes[nb::slice(1, 33)].attr("view")(double_);
  const nb::object other_order = rows.attr("astype")(nb::str(">f8"));
  for (const nb::object& array : {rows, one_row, every_other, numbers, bytes, not_aligned,
                                  other_order, nb::object(rows.attr("T"))}) {
    if (!knows_head(array)) return false;
  }
  return true;
}

bool NumPy::knows_head(nb::handle array) const {
  const Buffer buffer(array, PyBUF_STRIDES);
  if (!is_array(array) || !buffer) return false;
  const ArrayHead& head = head_of(array);
  const nb::object flags = array.attr("flags");
  const nb::object base = array.attr("base");
  const int known = kInOrder | kAligned;
  const int told = (nb::cast<bool>(flags.attr("c_contiguous")) ? kInOrder : 0) |
                   (nb::cast<bool>(flags.attr("aligned")) ? kAligned : 0);
  // What is no address comes first, so that nothing is read where no array would be.
  if (head.data != buffer->buf || head.dimensions != buffer->ndim ||
      head.base != (base.is_none() ? nullptr : base.ptr()) ||
      head.dtype != array.attr("dtype").ptr() || (head.flags & known) != told) {
    return false;
  }
  for (int k = 0; k < buffer->ndim; ++k) {
    if (head.shape[k] != buffer->shape[k] || head.strides[k] != buffer->strides[k]) return false;
  }
  return true;
}

}  // namespace tare::python
