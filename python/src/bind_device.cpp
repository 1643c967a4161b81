// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "tare/base/device.h"

namespace nb = nanobind;

namespace tare::python {

void bind_device(nb::module_& module) {
  module.def(
      "device_name", [](const std::string& name) { return device_name(parse_device(name)); },
      nb::arg("name"), "The same name, or an error where it names no device.");
  module.def("take_device_problem", &take_device_problem,
             "Why the first job that asked for a GPU since the last call ran without one, or ''.");
}

}  // namespace tare::python
