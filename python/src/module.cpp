// SPDX-License-Identifier: BSD-3-Clause
// The compiled half of the Python package: arrays in, arrays out, no logic of its own.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "errors.h"
#include "tare/base/version.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  // An interpreter that ends while models are alive is no reason to alarm its user.
  nb::set_leak_warnings(false);
  module.attr("version") = std::string(tare::kVersion);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const tare::Error& known) {
      tare::python::set_python_error(known);
    }
  });
  tare::python::bind_device(module);
  tare::python::bind_methods(module);
  tare::python::bind_table(module);
  tare::python::bind_shift(module);  // whose weights a fit takes
  tare::python::bind_model(module);
  tare::python::bind_decide(module);  // whose costs a predictor takes
  tare::python::bind_predictor(module);
  tare::python::bind_online(module);
  tare::python::bind_track(module);
  tare::python::bind_metrics(module);
  tare::python::bind_report(module);
  tare::python::bind_experiment(module);
  tare::python::bind_shards(module);
}
