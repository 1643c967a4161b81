// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "data/schema.h"
#include "io/select_columns.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

void add_numbers(Table& table, const std::string& name, const Vector<double>& values) {
  table.add_numbers(name, span_of(values));
}

void add_texts(Table& table, const std::string& name, const Vector<std::int32_t>& codes,
               std::vector<std::string> vocabulary) {
  table.add_codes(name, span_of(codes), std::move(vocabulary));
}

/// The names under which a model file has the columns of what is given.
void name_given(Roles& roles, const GivenForm& form, const std::vector<std::string>& names) {
  if (form.kind == GivenKind::kQuantiles) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      roles.prediction_quantiles.push_back({names[k], form.levels.at(k)});
    }
    return;
  }
  if (form.kind == GivenKind::kFoldPoints) {
    roles.prediction_folds = names;
    return;
  }
  if (!names.empty()) roles.prediction = names[0];
  if (form.kind == GivenKind::kMeanSd) roles.prediction_sd = names.at(1);
}

std::shared_ptr<Schema> learn(const Table& table, const std::string& target, const GivenForm& form,
                              const std::vector<std::string>& given, const std::string& missing,
                              const std::vector<std::string>& kernel_only) {
  Roles roles;
  roles.target = target;
  roles.calibrate_on = kernel_only;
  roles.drop = kernel_only;  // by the point model, which is outside
  name_given(roles, form, given);
  auto schema = std::make_shared<Schema>(Schema::learn(table, roles));
  schema->set_missing(parse_missing_policy(missing));
  return schema;
}

/// The table's column of groups, with the texts that the tool compares.
Table with_texts(const Table& table, const std::string& name) {
  std::vector<ColumnRequest> requests(table.columns.size());
  for (std::size_t j = 0; j < requests.size(); ++j) {
    requests[j].kind = ColumnKind::kSkip;
    requests[j].raw = table.columns[j].name == name;
  }
  return select_columns(table, requests);
}

std::vector<std::size_t> all_rows(const Table& table) {
  std::vector<std::size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

/// A copy of the schema with the groups of a guarantee: the values of the table's column.
std::shared_ptr<Schema> with_group(const Schema& schema, const Table& table,
                                   const std::string& name) {
  auto grouped = std::make_shared<Schema>(schema);
  grouped->set_group(GroupColumn(with_texts(table, name), name, all_rows(table)));
  return grouped;
}

NewArray<std::uint32_t> group_codes(const Schema& schema, const Table& table) {
  const GroupColumn& group = schema.group();
  return vector_array(group.codes(with_texts(table, group.name()), all_rows(table)));
}

NamedValues encode(const Schema& schema, const Table& table, const std::string& missing) {
  Encoded encoded = schema.encode(table, Need::kFeatures, parse_missing_policy(missing));
  NamedValues result;
  result["x"] = matrix_array(std::move(encoded.x));
  result["given"] = matrix_array(std::move(encoded.given));
  result["rows"] = vector_array(std::move(encoded.rows));
  result["imputed"] = encoded.imputed;
  result["unseen"] = encoded.unseen;
  return result;
}

constexpr std::array<std::string_view, 4> kKinds = {"point", "mean_sd", "quantiles", "fold_points"};

GivenForm make_form(std::string_view kind, std::vector<double> levels, std::size_t folds) {
  const auto found = std::ranges::find(kKinds, kind) - kKinds.begin();
  return {static_cast<GivenKind>(found), std::move(levels), folds};
}

std::string form_kind(const GivenForm& form) {
  return std::string(kKinds[static_cast<std::size_t>(form.kind)]);
}

}  // namespace

void bind_table(nb::module_& module) {
  nb::class_<GivenForm>(module, "GivenForm", "What the columns of a given prediction mean.")
      .def(
          "__init__",
          [](GivenForm* self, const std::string& kind, std::vector<double> levels,
             std::size_t folds) {
            new (self) GivenForm(make_form(kind, std::move(levels), folds));
          },
          nb::arg("kind") = "point", nb::arg("levels") = std::vector<double>{},
          nb::arg("folds") = 0)
      .def_prop_ro("kind", &form_kind)
      .def_ro("levels", &GivenForm::levels)
      .def_ro("folds", &GivenForm::folds);

  nb::class_<Table>(module, "Table", "Columns of numbers and of texts, by name.")
      .def(
          "__init__",
          [](Table* self, std::size_t rows) {
            new (self) Table;
            self->source = "X";
            self->lines.resize(rows);
            std::iota(self->lines.begin(), self->lines.end(), std::uint64_t{0});
          },
          nb::arg("rows"))
      .def("add_numbers", &add_numbers, nb::arg("name"), nb::arg("values"))
      .def("add_texts", &add_texts, nb::arg("name"), nb::arg("codes"), nb::arg("vocabulary"));

  nb::class_<Schema>(module, "Schema", "How the columns of a table become numbers.")
      .def_static("learn", &learn, nb::arg("table"), nb::arg("target"), nb::arg("form"),
                  nb::arg("given"), nb::arg("missing"),
                  nb::arg("kernel_only") = std::vector<std::string>{})
      .def("encode", &encode, nb::arg("table"), nb::arg("missing"))
      .def("columns_of", &Schema::columns_of, nb::arg("names"))
      .def("with_group", &with_group, nb::arg("table"), nb::arg("name"),
           "A copy whose groups are the values of a column.")
      .def("group_codes", &group_codes, nb::arg("table"),
           "The group of each row; 2**32 - 1 for a value that was not there at fit.")
      .def_prop_ro("group_values", [](const Schema& schema) { return schema.group().values(); })
      .def_prop_ro("feature_names", &Schema::feature_names)
      .def_prop_ro("target", &Schema::target)
      .def_prop_ro("given_columns", &Schema::given_columns)
      .def_prop_ro("window", &Schema::window)
      .def_prop_ro("group", [](const Schema& schema) { return schema.group().name(); })
      .def_prop_ro(
          "missing",
          [](const Schema& schema) { return std::string(missing_policy_name(schema.missing())); })
      .def_prop_ro("kernel_only",
                   [](const Schema& schema) {
                     std::vector<std::string> names;
                     for (const InputColumn& input : schema.inputs()) {
                       if (!input.for_model) names.push_back(input.name);
                     }
                     return names;
                   })
      .def_prop_ro("inputs", [](const Schema& schema) {
        std::vector<std::pair<std::string, bool>> inputs;
        for (const InputColumn& input : schema.inputs()) {
          inputs.emplace_back(input.name, input.categorical);
        }
        return inputs;
      });
}

}  // namespace tare::python
