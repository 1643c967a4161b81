// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "io/csv.h"
#include "model.h"
#include "tare/apply/predictor.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

void make(Predictor* self, const Model& model, std::vector<double> levels,
          std::vector<double> intervals, bool diagnostics, std::vector<std::string> keep,
          const std::optional<std::string>& missing, const std::optional<Cost>& cost,
          const std::string& set) {
  PredictOptions options;
  options.levels = std::move(levels);
  options.intervals = std::move(intervals);
  options.diagnostics = diagnostics;
  options.keep = std::move(keep);
  options.cost = cost;
  options.set("set", set);
  if (missing) options.missing = parse_missing_policy(*missing);
  new (self) Predictor(model.fitted, std::move(options));
}

Answers answers_of(Predictor& predictor, const Table& table, std::size_t threads,
                   const std::string& device) {
  const nb::gil_scoped_release unlocked;
  Execution how;
  how.threads = threads;
  how.device = parse_device(device);
  return predictor.answer(table, how);
}

/// The columns that answers need, or that are kept, of a table with this header.
std::vector<std::size_t> needed_columns(Predictor& predictor,
                                        const std::vector<std::string>& header) {
  std::vector<std::size_t> needed;
  const auto requests = predictor.requests("X", header);
  for (std::size_t j = 0; j < requests.size(); ++j) {
    if (requests[j].kind != ColumnKind::kSkip || requests[j].raw) needed.push_back(j);
  }
  return needed;
}

}  // namespace

void bind_predictor(nb::module_& module) {
  nb::class_<Predictor>(module, "Predictor", "From the rows of tables to named answers.")
      .def("__init__", &make, nb::arg("model"), nb::arg("levels"), nb::arg("intervals"),
           nb::arg("diagnostics"), nb::arg("keep"), nb::arg("missing").none(),
           nb::arg("cost") = nb::none(), nb::arg("set") = "interval")
      .def_prop_ro("names", &Predictor::names)
      .def("is_flag", &Predictor::is_flag, nb::arg("column"))
      .def("needed", &needed_columns, nb::arg("header"),
           "Places of the columns that answers need, or that are kept, among these names.")
      .def(
          "answer",
          [](Predictor& predictor, const Table& table, std::size_t threads,
             const std::string& device) {
            Answers answers = answers_of(predictor, table, threads, device);
            return std::pair(matrix_array(std::move(answers.values)),
                             vector_array(std::move(answers.rows)));
          },
          nb::arg("table"), nb::arg("threads"), nb::arg("device") = "auto",
          "The numbers, and the rows that they are about.")
      .def(
          "csv",
          [](Predictor& predictor, const Table& table, std::size_t threads,
             const std::string& device) {
            const Answers answers = answers_of(predictor, table, threads, device);
            std::string text;
            predictor.append_csv_header(text);
            predictor.append_csv(text, table, answers);
            return text;
          },
          nb::arg("table"), nb::arg("threads"), nb::arg("device") = "auto")
      .def("notices", [](const Predictor& predictor) {
        std::vector<std::tuple<std::string, std::size_t, std::string>> list;
        for (const Notice& notice : predictor.notices()) {
          list.emplace_back(notice.code, notice.rows, notice.text);
        }
        return list;
      });
}

}  // namespace tare::python
