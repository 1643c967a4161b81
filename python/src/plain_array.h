// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>

namespace tare::python {

/// NumPy as the short way of a row needs it: to tell an array from its subclasses, to read one
/// without the buffer of Python, which takes as long as ten rows of features, and to make one.
class NumPy {
 public:
  NumPy();

  /// Not a subclass: a masked array's numbers include what is masked.
  bool is_array(nanobind::handle object) const { return object.type().is(array_); }
  nanobind::object new_array(nanobind::handle shape) const { return empty_(shape); }

  /// Whether `array` has native doubles in `dimensions` dimensions, all but the last of length 1,
  /// which lie side by side, and `values` is where they are: until Python's lock is released.
  bool read(nanobind::handle array, int dimensions, std::span<double>& values) const;

 private:
  bool knows_heads() const;
  bool knows_head(nanobind::handle array) const;

  nanobind::object array_;   // the type
  nanobind::object double_;  // the dtype that nearly all arrays of doubles share
  nanobind::object empty_;
  bool knows_heads_;
};

}  // namespace tare::python
