// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace tare::python {

// What the stub, and with it a type checker, is told about a dict.
using NamedValues = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;
using NamedTexts = nanobind::typed<nanobind::dict, nanobind::str, nanobind::str>;

void bind_device(nanobind::module_& module);
void bind_methods(nanobind::module_& module);
void bind_table(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_decide(nanobind::module_& module);
void bind_predictor(nanobind::module_& module);
void bind_online(nanobind::module_& module);
void bind_track(nanobind::module_& module);
void bind_metrics(nanobind::module_& module);
void bind_shift(nanobind::module_& module);
void bind_report(nanobind::module_& module);
void bind_experiment(nanobind::module_& module);
void bind_shards(nanobind::module_& module);

}  // namespace tare::python
