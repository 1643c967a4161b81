// SPDX-License-Identifier: BSD-3-Clause
// The compiled half of the Python package: arrays in, arrays out, no logic of its own.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "tare/base/error.h"
#include "tare/base/version.h"

namespace nb = nanobind;

namespace {

/// What Python programmers expect for each kind of error.
PyObject* python_error(tare::ErrorCode code) {
  using enum tare::ErrorCode;
  switch (code) {
    case kCorruptFile:
    case kIo:
      return PyExc_OSError;
    case kUnsupported:
      return PyExc_NotImplementedError;
    default:
      return PyExc_ValueError;
  }
}

}  // namespace

NB_MODULE(_core, module) {
  // An interpreter that ends while models are alive is no reason to alarm its user.
  nb::set_leak_warnings(false);
  module.attr("version") = std::string(tare::kVersion);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const tare::Error& known) {
      PyErr_SetString(python_error(known.code()), known.what());
    }
  });
  tare::python::bind_methods(module);
  tare::python::bind_table(module);
  tare::python::bind_model(module);
  tare::python::bind_predictor(module);
  tare::python::bind_metrics(module);
}
