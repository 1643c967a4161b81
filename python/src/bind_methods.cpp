// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "calibrate/guarantee/guarantee_split.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "tare/calibrate/methods.h"
#include "tare/model/regressor.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

/// An entry for each option.
using OptionTable = nb::typed<nb::dict, nb::str, NamedTexts>;

OptionTable describe_options(std::span<const ParamInfo> options) {
  OptionTable result;
  for (const ParamInfo& option : options) {
    NamedTexts entry;
    entry["default"] = option.fallback;
    entry["help"] = option.help;
    result[nb::cast(option.name)] = entry;
  }
  return result;
}

NamedValues describe(const Method& method) {
  NamedValues entry;
  entry["name"] = method.name;
  entry["paper"] = method.paper;
  entry["summary"] = method.summary;
  entry["guarantee"] = method.guarantee;
  entry["citation"] = method.citation;
  entry["defaults"] = method.defaults;
  entry["takes_prediction"] = method.point == PointSource::kOwnOrGiven;
  entry["window"] = method.window;
  OptionTable options = describe_options(method.options);
  options.update(describe_options(common_options()));
  entry["options"] = options;
  return entry;
}

}  // namespace

void bind_methods(nb::module_& module) {
  module.def("methods", [] {
    nb::typed<nb::list, NamedValues> rows;
    for (const Method& method : methods()) rows.append(describe(method));
    return rows;
  });
  module.def(
      "method", [](std::string_view name) { return describe(find_method(name)); }, nb::arg("name"));
  module.def(
      "method_defaults",
      [](std::string_view name) {
        NamedTexts defaults;
        const Params params = effective_params(find_method(name), {});
        for (const auto& [option, value] : params.all()) {
          defaults[nb::cast(option)] = value;
        }
        return defaults;
      },
      nb::arg("name"));
  module.def(
      "loose_from", [](std::string_view name) { return find_method(name).loose_from; },
      nb::arg("name"));
  module.attr("rows_for_ninety") = kRowsForNinety;  // ranked, for a finite 90 % interval
  module.attr("most_held_out") = kMostGuaranteeRows;
  module.attr("most_folds") = kMostFolds;
  module.def("regressors", [] {
    nb::typed<nb::dict, nb::str, OptionTable> rows;
    for (const RegressorKind& kind : regressors()) {
      rows[nb::cast(kind.name)] = describe_options(kind.options);
    }
    return rows;
  });
}

}  // namespace tare::python
