// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace tare::python {

void bind_methods(nanobind::module_& module);
void bind_table(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_predictor(nanobind::module_& module);
void bind_metrics(nanobind::module_& module);

}  // namespace tare::python
