// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "arrays.h"
#include "base/fail.h"
#include "bindings.h"
#include "calibrate/bands/banded_model.h"
#include "calibrate/bounds/bounded_model.h"
#include "calibrate/guarantee/guarantee.h"
#include "data/schema.h"
#include "errors.h"
#include "interruptible.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"
#include "tare/calibrate/reliability.h"
#include "tare/calibrate/warnings.h"
#include "tare/evaluate/scorecard.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

using Options = std::map<std::string, std::string>;

/// A fitted model as Python holds it; predictions may run on several threads at once.
struct Model {
  FittedModel fitted;
  const QuantileModel& get() const { return *fitted.model; }
};

MatrixView optional_view(const std::optional<Table2d<double>>& array) {
  return array ? view_of(*array) : MatrixView{};
}

constexpr std::size_t kManyRows = 10'000;

/// A fit of many rows needs far more than the model it leaves, and the C library would keep that
/// for itself.
void give_memory_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// What was decided about the rows outside: those held out of every training, or their folds.
struct StatedRows {
  std::optional<Vector<std::uint8_t>> held_out;
  std::optional<Vector<std::uint32_t>> fold;
};

struct FitCall {
  std::string method;
  Options options;
  GivenForm form;
  std::vector<std::string> names;
  std::vector<std::size_t> calibrate_columns;
  std::shared_ptr<Schema> schema;
  std::uint64_t seed = 0;
};

Model fit(const FitCall& call, const Table2d<double>& x, const Vector<double>& y,
          const std::optional<Vector<double>>& weight, const std::optional<Table2d<double>>& given,
          const StatedRows& stated, std::size_t threads, const nb::object& progress) {
  Model model;
  const Method& method = find_method(call.method);
  model.fitted.method = method.name;
  for (const auto& [name, value] : call.options) model.fitted.params.set(name, value);
  model.fitted.seed = Seed{call.seed};
  model.fitted.rows = x.shape(0);
  model.fitted.schema = call.schema;

  FitInput input{.x = view_of(x), .y = span_of(y)};
  if (weight) input.weight = span_of(*weight);
  input.given = optional_view(given);
  input.given_form = call.form;
  if (stated.held_out) input.held_out_rows = span_of(*stated.held_out);
  if (stated.fold) input.fold = span_of(*stated.fold);
  input.names = call.names;
  input.calibrate_columns = call.calibrate_columns;
  input.window = call.schema ? call.schema->window() : 1;
  input.seed = model.fitted.seed;
  run_interruptible(threads, progress, [&](const Execution& how) {
    model.fitted.model = fit_method(method, input, model.fitted.params, how);
    if (model.fitted.rows >= kManyRows) give_memory_back();
  });
  return model;
}

/// (code, rows, text) of each.
nb::list warning_list(const std::vector<PredictionWarning>& warnings) {
  nb::list list;
  for (const PredictionWarning& warning : warnings) {
    list.append(
        nb::make_tuple(std::string(warning_name(warning.code)), warning.rows, warning.text));
  }
  return list;
}

/// Quantiles, and the warnings about them.
nb::tuple predict_double(const Model& model, const Table2d<double>& x,
                         const std::optional<Table2d<double>>& given,
                         const std::vector<double>& levels, std::size_t threads) {
  const std::vector<Level> asked = levels_of(levels);
  WarningTally tally(model.get(), asked);
  Execution how;
  how.threads = threads;
  how.diagnostics = false;
  Prediction answer;
  {
    const nb::gil_scoped_release unlocked;
    const Rows rows{view_of(x), optional_view(given)};
    answer = model.get().predict(rows, asked, how);
    tally.add(rows, answer);
  }
  return nb::make_tuple(matrix_array(std::move(answer.quantiles)), warning_list(tally.list()));
}

/// Single precision in, single precision out. The model works in double precision, so some rows at
/// a time are widened: never the whole array.
nb::tuple predict_single(const Model& model, const Table2d<float>& x,
                         const std::optional<Table2d<double>>& given,
                         const std::vector<double>& levels, std::size_t threads) {
  constexpr std::size_t kRowsAtATime = 16'384;
  const std::vector<Level> asked = levels_of(levels);
  const auto rows = view_of(x);
  const MatrixView beside = optional_view(given);
  if (beside.cols() > 0 && beside.rows() != rows.rows()) {
    fail(ErrorCode::kShapeMismatch, "predict: {} rows of features, {} given predictions",
         rows.rows(), beside.rows());
  }
  Execution how;
  how.threads = threads;
  how.diagnostics = false;
  WarningTally tally(model.get(), asked);
  std::vector<float> out(rows.rows() * asked.size());
  {
    const nb::gil_scoped_release unlocked;
    for (std::size_t first = 0; first < rows.rows() || first == 0; first += kRowsAtATime) {
      const std::size_t count = std::min(kRowsAtATime, rows.rows() - first);
      Matrix part(count, rows.cols());
      std::copy_n(rows.data() + first * rows.cols(), count * rows.cols(), part.values().begin());
      const MatrixView part_given = beside.cols() > 0 ? beside.middle_rows(first, count) : beside;
      const Prediction answer = model.get().predict({part, part_given}, asked, how);
      tally.add({part, part_given}, answer);
      std::ranges::transform(answer.quantiles.values(),
                             out.begin() + static_cast<std::ptrdiff_t>(first * asked.size()),
                             [](double q) { return static_cast<float>(q); });
    }
  }
  auto owned = std::make_unique<std::vector<float>>(std::move(out));
  float* data = owned->data();
  nb::capsule owner(owned.release(),
                    [](void* memory) noexcept { delete static_cast<std::vector<float>*>(memory); });
  return nb::make_tuple(NewArray<float>(data, {rows.rows(), asked.size()}, owner),
                        warning_list(tally.list()));
}

nb::dict reliability(const Model& model, const Table2d<double>& x,
                     const std::optional<Table2d<double>>& given, const std::vector<double>& levels,
                     std::size_t threads) {
  const std::vector<Level> asked = levels_of(levels);
  WarningTally tally(model.get(), asked);
  Execution how;
  how.threads = threads;
  Prediction answer;
  {
    const nb::gil_scoped_release unlocked;
    const Rows rows{view_of(x), optional_view(given)};
    answer = predict_with_reliability(model.get(), rows, asked, how);
    tally.add(rows, answer);
  }
  nb::dict result;
  result["warnings"] = warning_list(tally.list());
  result["quantiles"] = matrix_array(std::move(answer.quantiles));
  result["effective_n"] = vector_array(std::move(answer.effective_n));
  result["nearest"] = vector_array(std::move(answer.nearest));
  result["fallback"] = vector_array(std::move(answer.fallback));
  result["outside"] = vector_array(std::move(answer.outside));
  result["band_low"] = matrix_array(std::move(answer.band_low));
  result["band_high"] = matrix_array(std::move(answer.band_high));
  result["delivered"] = matrix_array(std::move(answer.delivered));
  return result;
}

/// What is proven for the coverage of a central 90 % interval on average over rows to come; nothing
/// where nothing is.
nb::object proven_coverage(const GuaranteedModel& model) {
  if (!model.group_rows().empty()) return nb::none();  // it differs between groups
  const Matrix x(1, model.features());
  const Matrix given(1, model.given());
  const auto [low, high] = interval_levels(0.9);
  const std::vector<Level> ends = {low, high};
  const Matrix kept = model.delivered({x, given}, ends);
  if (kept.cols() == 0) return nb::none();
  return nb::float_(std::max(0.0, kept(0, 1) - kept(0, 0)));
}

nb::dict describe_guarantee(const Model& model) {
  const auto* guaranteed = guarantee_of(model.get());
  nb::dict result;
  if (guaranteed == nullptr) {
    result["form"] = "none";
    return result;
  }
  const bool split = guaranteed->folds() == 1;
  result["form"] = split ? "split" : "cross";
  result["folds"] = guaranteed->folds();
  result["rows"] = guaranteed->overall().rows();
  result["proven_90"] = proven_coverage(*guaranteed);
  if (split) {
    result["check_score_without"] = guaranteed->cost().without;
    result["check_score_with"] = guaranteed->cost().with;
    result["kept_levels"] = guaranteed->cost().levels;
  } else {
    result["has_bound"] = guaranteed->has_bound();
  }
  return result;
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model", "A fitted model: what a model file holds.")
      .def("predict", &predict_double, nb::arg("x").noconvert(), nb::arg("given").none(),
           nb::arg("levels"), nb::arg("threads"))
      .def("predict_single", &predict_single, nb::arg("x").noconvert(), nb::arg("given").none(),
           nb::arg("levels"), nb::arg("threads"))
      .def("reliability", &reliability, nb::arg("x"), nb::arg("given").none(), nb::arg("levels"),
           nb::arg("threads"))
      .def(
          "save",
          [](const Model& model, const std::string& path, bool replace) {
            const nb::gil_scoped_release unlocked;
            save_model(path, model.fitted, replace ? Replace::kReplace : Replace::kKeep);
          },
          nb::arg("path"), nb::arg("replace"))
      .def("to_bytes",
           [](const Model& model) {
             const std::vector<std::byte> bytes = save_model_to_memory(model.fitted);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def_prop_ro("method", [](const Model& model) { return model.fitted.method; })
      .def_prop_ro("options",
                   [](const Model& model) {
                     const auto& all = model.fitted.params.all();
                     return Options(all.begin(), all.end());
                   })
      .def_prop_ro("rows", [](const Model& model) { return model.fitted.rows; })
      .def_prop_ro(
          "bounds",
          [](const Model& model) -> nb::object {
            const BoundedModel* bounded = bounded_model_of(model.get());
            if (bounded == nullptr) return nb::none();
            return nb::make_tuple(bounded->bounds().low, bounded->bounds().high);
          },
          "(low, high) that answers are kept within, either of which may be None; or None.")
      .def_prop_ro("has_bands", [](const Model& model) { return bands_of(model.get()) != nullptr; })
      .def_prop_ro("seed", [](const Model& model) { return model.fitted.seed.value; })
      .def_prop_ro("features", [](const Model& model) { return model.get().features(); })
      .def_prop_ro("given", [](const Model& model) { return model.get().given(); })
      .def_prop_ro("form", [](const Model& model) { return model.get().given_form(); })
      .def_prop_ro("guarantee", &describe_guarantee)
      .def_prop_ro("warnings",
                   [](const Model& model) { return warning_list(model_warnings(model.get())); })
      .def_prop_ro("schema", [](const Model& model) {
        // Python does not change it: the class has no method that could.
        return std::const_pointer_cast<Schema>(model.fitted.schema);
      });
  module.def(
      "fit",
      [](std::string method, Options options, const Table2d<double>& x, const Vector<double>& y,
         const std::optional<Vector<double>>& weight, const std::optional<Table2d<double>>& given,
         GivenForm form, std::vector<std::string> names, std::vector<std::size_t> calibrate_columns,
         std::shared_ptr<Schema> schema, const std::optional<Vector<std::uint8_t>>& held_out,
         const std::optional<Vector<std::uint32_t>>& fold, std::uint64_t seed, std::size_t threads,
         const nb::object& progress) {
        return fit({std::move(method), std::move(options), std::move(form), std::move(names),
                    std::move(calibrate_columns), std::move(schema), seed},
                   x, y, weight, given, {held_out, fold}, threads, progress);
      },
      nb::kw_only(), nb::arg("method"), nb::arg("options"), nb::arg("x"), nb::arg("y"),
      nb::arg("weight").none(), nb::arg("given").none(), nb::arg("form"), nb::arg("names"),
      nb::arg("calibrate_columns"), nb::arg("schema").none(), nb::arg("held_out").none(),
      nb::arg("fold").none(), nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
  module.def(
      "load_model",
      [](const std::string& path) {
        try {
          const nb::gil_scoped_release unlocked;
          return Model{load_model(path)};
        } catch (const Error& error) {
          if (error.code() != ErrorCode::kNotFound) throw;
          set_python_error(error, PyExc_FileNotFoundError);
          throw nb::python_error();
        }
      },
      nb::arg("path"));
  module.def(
      "load_bytes",
      [](const nb::bytes& content) {
        const auto* first = static_cast<const std::byte*>(content.data());
        return Model{load_model_from_memory({first, first + content.size()}, "a pickled model")};
      },
      nb::arg("content"));
}

}  // namespace tare::python
