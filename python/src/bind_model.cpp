// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "apply/decision/set_tally.h"
#include "arrays.h"
#include "base/fail.h"
#include "bindings.h"
#include "data/schema.h"
#include "errors.h"
#include "interruptible.h"
#include "model.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"
#include "tare/calibrate/reliability.h"
#include "tare/calibrate/shift.h"
#include "tare/calibrate/shortest_sets.h"
#include "tare/calibrate/warnings.h"
#include "tare/evaluate/scorecard.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

using Options = std::map<std::string, std::string>;

MatrixView optional_view(const std::optional<Table2d<double>>& array) {
  return array ? view_of(*array) : MatrixView{};
}

/// The group of each row, where the guarantee holds within groups.
using Groups = std::optional<Vector<std::uint32_t>>;

std::span<const std::uint32_t> optional_groups(const Groups& group) {
  return group ? span_of(*group) : std::span<const std::uint32_t>{};
}

constexpr std::size_t kManyRows = 10'000;

/// A fit of many rows needs far more than the model it leaves, and the C library would keep that
/// for itself.
void give_memory_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// `held_out` and `fold` are what was decided about the rows outside.
Model fit(const std::string& method_name, const Options& options, const Table2d<double>& x,
          const Vector<double>& y, const std::optional<Vector<double>>& weight,
          const std::optional<Table2d<double>>& given, const GivenForm& form,
          const std::vector<std::string>& names, const std::vector<std::size_t>& calibrate_columns,
          std::shared_ptr<Schema> schema, const std::optional<Vector<std::uint8_t>>& held_out,
          const std::optional<Vector<std::uint32_t>>& fold, std::uint64_t seed, std::size_t threads,
          const nb::object& progress, const ShiftWeights* shift, const Groups& group,
          bool rows_depend, const std::string& device) {
  const Device on = parse_device(device);
  Model model;
  const Method& method = find_method(method_name);
  FitInput input{.x = view_of(x), .y = span_of(y)};
  if (weight) input.weight = span_of(*weight);
  if (shift != nullptr) {  // whose weights are multiplied by the given ones
    input.weight = shift->weight;
    input.shift = shift->shift;
  }
  input.given = optional_view(given);
  input.given_form = form;
  if (held_out) input.held_out_rows = span_of(*held_out);
  if (fold) input.fold = span_of(*fold);
  input.group = optional_groups(group);
  input.names = names;
  input.calibrate_columns = calibrate_columns;
  input.window = schema ? schema->window() : 1;
  input.rows_depend = rows_depend;
  input.seed = Seed{seed};
  model.fitted.method = method.name;
  for (const auto& [name, value] : options) model.fitted.params.set(name, value);
  model.fitted.seed = input.seed;
  model.fitted.rows = x.shape(0);
  model.fitted.schema = std::move(schema);
  const auto work = [&](const Execution& how) {
    model.fitted.model = fit_method(method, input, model.fitted.params, how);
    if (model.fitted.rows >= kManyRows) give_memory_back();
  };
  run_interruptible(threads, progress, work, on);
  return model;
}

/// (code, rows, text) of each.
using WarningList = std::vector<std::tuple<std::string, std::size_t, std::string>>;

WarningList warning_list(const std::vector<PredictionWarning>& warnings) {
  WarningList list;
  for (const PredictionWarning& warning : warnings) {
    list.emplace_back(warning_name(warning.code), warning.rows, warning.text);
  }
  return list;
}

/// Quantiles of some rows at the tally's levels.
Matrix quantiles_of(const Model& model, const Rows& rows, std::span<const Level> levels,
                    Execution how, WarningTally& tally) {
  how.diagnostics = false;
  Prediction answer = model.get().predict(rows, levels, how);
  tally.add(rows, answer);
  return std::move(answer.quantiles);
}

/// Quantiles, and the warnings about them.
template <class T>
using Answer = std::pair<NewArray<T>, WarningList>;

Answer<double> predict_double(const Model& model, const Table2d<double>& x,
                              const std::optional<Table2d<double>>& given,
                              const std::vector<double>& levels, std::size_t threads,
                              const Groups& group, const std::string& device) {
  const std::vector<Level> asked = levels_of(levels);
  WarningTally tally(model.get(), asked);
  Matrix answer;
  const auto work = [&](const Execution& how) {
    const Rows rows{view_of(x), optional_view(given), optional_groups(group)};
    answer = quantiles_of(model, rows, asked, how, tally);
  };
  run_rows(x.shape(0), threads, work, parse_device(device));
  return {matrix_array(std::move(answer)), warning_list(tally.list())};
}

/// Single precision in, single precision out. The model works in double precision, so some rows at
/// a time are widened: never the whole array.
Answer<float> predict_single(const Model& model, const Table2d<float>& x,
                             const std::optional<Table2d<double>>& given,
                             const std::vector<double>& levels, std::size_t threads,
                             const Groups& group, const std::string& device) {
  constexpr std::size_t kRowsHere = 16'384;
  constexpr std::size_t kRowsOnAGpu = 131'072;  // which does many at a time
  const Device on = parse_device(device);
  const std::size_t at_a_time = on.kind == DeviceKind::kCpu ? kRowsHere : kRowsOnAGpu;
  const std::vector<Level> asked = levels_of(levels);
  const auto rows = view_of(x);
  const MatrixView beside = optional_view(given);
  const std::span<const std::uint32_t> groups = optional_groups(group);
  if (beside.cols() > 0 && beside.rows() != rows.rows()) {
    fail(ErrorCode::kShapeMismatch, "predict: {} rows of features, {} given predictions",
         rows.rows(), beside.rows());
  }
  if (!groups.empty() && groups.size() != rows.rows()) {
    fail(ErrorCode::kShapeMismatch, "predict: {} rows of features, {} groups", rows.rows(),
         groups.size());
  }
  WarningTally tally(model.get(), asked);
  std::vector<float> out(rows.rows() * asked.size());
  const auto work = [&](const Execution& how) {
    for (std::size_t first = 0; first < rows.rows() || first == 0; first += at_a_time) {
      const std::size_t count = std::min(at_a_time, rows.rows() - first);
      Matrix part(count, rows.cols());
      std::copy_n(rows.data() + first * rows.cols(), count * rows.cols(), part.values().begin());
      const MatrixView part_given = beside.cols() > 0 ? beside.middle_rows(first, count) : beside;
      const auto part_groups = groups.empty() ? groups : groups.subspan(first, count);
      const Matrix answer = quantiles_of(model, {part, part_given, part_groups}, asked, how, tally);
      std::ranges::transform(answer.values(),
                             out.begin() + static_cast<std::ptrdiff_t>(first * asked.size()),
                             [](double q) { return static_cast<float>(q); });
    }
  };
  run_rows(rows.rows(), threads, work, on);
  return {table_array(std::move(out), rows.rows(), asked.size()), warning_list(tally.list())};
}

/// Shortest sets, four numbers for each coverage, and what is to be said about them.
Answer<double> sets_of(const Model& model, const Table2d<double>& x,
                       const std::optional<Table2d<double>>& given,
                       const std::vector<double>& coverages, std::size_t threads,
                       const Groups& group, const std::string& device) {
  const std::vector<Level> asked = levels_of(coverages);
  ShortestSets sets;
  SetTally tally(model.get().has_guarantee());
  const auto work = [&](const Execution& how) {
    Execution quick = how;
    quick.diagnostics = false;
    const Rows rows{view_of(x), optional_view(given), optional_groups(group)};
    sets = shortest_sets(model.get(), rows, asked, quick);
    tally.add(sets);
  };
  run_rows(x.shape(0), threads, work, parse_device(device));
  WarningList notices;
  for (const Notice& notice : tally.notices()) {
    notices.emplace_back(notice.code, notice.rows, notice.text);
  }
  return {matrix_array(std::move(sets.ends)), std::move(notices)};
}

NamedValues reliability(const Model& model, const Table2d<double>& x,
                        const std::optional<Table2d<double>>& given,
                        const std::vector<double>& levels, std::size_t threads, const Groups& group,
                        const std::string& device) {
  const std::vector<Level> asked = levels_of(levels);
  WarningTally tally(model.get(), asked);
  Prediction answer;
  const auto work = [&](const Execution& how) {
    const Rows rows{view_of(x), optional_view(given), optional_groups(group)};
    answer = predict_with_reliability(model.get(), rows, asked, how);
    tally.add(rows, answer);
  };
  run_rows(x.shape(0), threads, work, parse_device(device));
  NamedValues result;
  result["warnings"] = nb::cast(warning_list(tally.list()));
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

/// What a fitted estimator says in `guarantee_`.
NamedValues guarantee_dict(const Model& model) {
  const Description description = describe(model.fitted);
  NamedValues result;
  if (!description.guarantee) {
    result["form"] = "none";
    return result;
  }
  const GuaranteeDescription& guarantee = *description.guarantee;
  const bool split = guarantee.form == GuaranteeForm::kSplit;
  const std::optional<double> proven = guarantee.at(0.9).proven;
  constexpr const char* kForms[] = {"split", "cross", "local", "conditional", "loose"};
  result["form"] = kForms[static_cast<std::size_t>(guarantee.form)];
  result["folds"] = guarantee.folds;
  result["rows"] = guarantee.rows;
  // It differs between groups.
  result["proven_90"] = proven && guarantee.groups.empty() ? nb::cast(*proven) : nb::none();
  if (!guarantee.groups.empty()) {
    nb::dict groups;  // a group without its own ranks uses those of all rows, which proves nothing
    for (const GuaranteeGroup& group : guarantee.groups) {
      NamedValues own;
      own["rows"] = group.rows;
      own["own_ranks"] = group.has_own_ranks;
      groups[nb::cast(group.name)] = own;
    }
    result["groups"] = groups;
  }
  if (split) {
    result["check_score_without"] = guarantee.cost->without;
    result["check_score_with"] = guarantee.cost->with;
    result["kept_levels"] = guarantee.cost->levels;
  } else {
    result["has_bound"] = guarantee.has_bound;
  }
  if (guarantee.form == GuaranteeForm::kConditional) result["conditions"] = guarantee.conditions;
  if (guarantee.local) result["bandwidth"] = guarantee.local->bandwidth;
  return result;
}

NamedValues describe_model(const Model& model) {
  return nb::cast<NamedValues>(
      nb::module_::import_("json").attr("loads")(description_json(describe(model.fitted))));
}

using Bounds = std::pair<std::optional<double>, std::optional<double>>;

std::optional<Bounds> bounds_of(const Model& model) {
  const Description description = describe(model.fitted);
  if (!description.bounds) return std::nullopt;
  return Bounds{description.bounds->low, description.bounds->high};
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model", "A fitted model: what a model file holds.")
      .def("predict", &predict_double, nb::arg("x").noconvert(), nb::arg("given").none(),
           nb::arg("levels"), nb::arg("threads"), nb::arg("group") = nb::none(),
           nb::arg("device") = "auto")
      .def("predict_single", &predict_single, nb::arg("x").noconvert(), nb::arg("given").none(),
           nb::arg("levels"), nb::arg("threads"), nb::arg("group") = nb::none(),
           nb::arg("device") = "auto")
      .def("sets", &sets_of, nb::arg("x"), nb::arg("given").none(), nb::arg("coverages"),
           nb::arg("threads"), nb::arg("group") = nb::none(), nb::arg("device") = "auto")
      .def("reliability", &reliability, nb::arg("x"), nb::arg("given").none(), nb::arg("levels"),
           nb::arg("threads"), nb::arg("group") = nb::none(), nb::arg("device") = "auto")
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
      .def("describe", &describe_model,
           "What the model says about itself: the member `description` of `tare inspect --json`.")
      .def_prop_ro(
          "bounds", &bounds_of,
          "(low, high) that answers are kept within, either of which may be None; or None.")
      .def_prop_ro("has_bands",
                   [](const Model& model) {
                     return describe(model.fitted).bands.absence == BandsAbsence::kNone;
                   })
      .def_prop_ro("seed", [](const Model& model) { return model.fitted.seed.value; })
      .def_prop_ro("features", [](const Model& model) { return model.get().features(); })
      .def_prop_ro("given", [](const Model& model) { return model.get().given(); })
      .def_prop_ro("form", [](const Model& model) { return model.get().given_form(); })
      .def_prop_ro("guarantee", &guarantee_dict)
      .def_prop_ro("warnings",
                   [](const Model& model) { return warning_list(model_warnings(model.get())); })
      .def_prop_ro(
          "schema",
          [](const Model& model) {
            // Python does not change it: the class has no method that could.
            return std::const_pointer_cast<Schema>(model.fitted.schema);
          },
          nb::for_getter(nb::sig("def schema(self) -> Schema | None")));
  module.def("fit", &fit, nb::kw_only(), nb::arg("method"), nb::arg("options"), nb::arg("x"),
             nb::arg("y"), nb::arg("weight").none(), nb::arg("given").none(), nb::arg("form"),
             nb::arg("names"), nb::arg("calibrate_columns"), nb::arg("schema").none(),
             nb::arg("held_out").none(), nb::arg("fold").none(), nb::arg("seed"),
             nb::arg("threads"), nb::arg("progress").none(), nb::arg("shift") = nb::none(),
             nb::arg("group") = nb::none(), nb::arg("rows_depend") = false,
             nb::arg("device") = "auto");
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
