// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include "tare/base/error.h"

namespace tare::python {

/// Sets Python's error: the usual type for the code, or `type`, with options spelled as arguments
/// and the attributes code, column, row (from 0), option and value, which are None where they are
/// not known.
void set_python_error(const Error& error, PyObject* type = nullptr);

}  // namespace tare::python
