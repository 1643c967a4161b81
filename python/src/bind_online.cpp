// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apply/level_columns.h"
#include "arrays.h"
#include "bindings.h"
#include "data/schema.h"
#include "drift_causes_text.h"
#include "interruptible.h"
#include "model.h"
#include "online/methods/method_table.h"
#include "online_learner.h"
#include "plain_rows.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

using MethodOptions = std::map<std::string, std::string>;
/// time, prediction, features, quantiles, note, x, target
using WaitingTuple = std::tuple<std::uint64_t, double, std::vector<double>, std::vector<double>,
                                std::vector<double>, std::vector<double>, double>;
using OnlineState = std::tuple<nb::bytes, nb::bytes, std::vector<WaitingTuple>>;

std::vector<Level> ascending_levels(std::vector<Level> levels) {
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

/// `base` is the model whose median is calibrated; without one the predictions are given, or, with
/// `own`, those of a model of its own.
std::unique_ptr<OnlineLearner> start_learner(
    const Model* base, bool own, std::shared_ptr<Schema> schema, const std::string& method,
    const MethodOptions& options, const std::vector<double>& levels,
    const std::vector<double>& intervals, std::size_t start, std::size_t delay,
    std::vector<std::size_t> known_later, double drift_rate, std::uint64_t seed) {
  StreamOptions stream;
  stream.method = method;
  stream.levels = ascending_levels(level_columns(levels, intervals).levels);
  stream.features = schema->width();
  stream.start = start;
  stream.delay = delay;
  std::sort(known_later.begin(), known_later.end());
  stream.known_later = std::move(known_later);
  for (const auto& [name, value] : options) stream.params.set(name, value);
  stream.drift_rate = drift_rate;
  stream.seed = Seed{seed};
  check_start(stream);
  FittedModel fitted;
  fitted.method = std::string(kOnline);
  fitted.params = stream.params;
  fitted.seed = stream.seed;
  fitted.schema = schema;
  if (base != nullptr) {
    FittedModel inner = base->fitted;
    inner.schema = nullptr;  // the online model has it
    fitted.model = std::make_shared<OnlineModel>(std::move(inner), std::move(stream));
  } else {
    fitted.model = std::make_shared<OnlineModel>(schema->width(), !own, std::move(stream));
  }
  return std::make_unique<OnlineLearner>(std::move(fitted));
}

FittedModel fitted_from(const nb::bytes& content) {
  const auto* first = static_cast<const std::byte*>(content.data());
  return load_model_from_memory({first, first + content.size()}, "a pickled model");
}

std::unique_ptr<OnlineLearner> restored_learner(const OnlineState& state) {
  const auto& [now, behind, rows] = state;
  if (behind.size() == 0) return std::make_unique<OnlineLearner>(fitted_from(now));
  std::deque<WaitingRow> waiting;
  for (const auto& [time, prediction, features, quantiles, note, x, target] : rows) {
    waiting.push_back({.row = {.time = time,
                               .prediction = prediction,
                               .features = features,
                               .answer = {.quantiles = quantiles, .note = note}},
                       .x = x,
                       .target = target});
  }
  return std::make_unique<OnlineLearner>(fitted_from(now), fitted_from(behind), std::move(waiting));
}

OnlineState state_of(const OnlineLearner& learner) {
  OnlineLearner::State state;
  {
    const nb::gil_scoped_release unlocked;
    state = learner.state();
  }
  std::vector<WaitingTuple> rows;
  for (const WaitingRow& waiting : state.waiting) {
    const PendingRow& row = waiting.row;
    rows.emplace_back(row.time, row.prediction, row.features, row.answer.quantiles, row.answer.note,
                      waiting.x, waiting.target);
  }
  return {nb::bytes(state.now.data(), state.now.size()),
          nb::bytes(state.behind.data(), state.behind.size()), std::move(rows)};
}

/// The answers of rows since the start, one column for each level of the stream, in its order, and
/// the first row that has one.
std::pair<NewArray<double>, std::size_t> teach_rows(
    OnlineLearner& learner, const Table2d<double>& x, const std::optional<Table2d<double>>& given,
    const std::optional<Vector<std::uint32_t>>& group, const Vector<double>& targets,
    std::size_t end, bool answers, std::size_t threads) {
  const std::size_t count = x.shape(0);
  const StreamOptions& options = learner.online().stream().options();
  std::vector<double> values;
  std::size_t first = count;
  OnlineLearner::Answered answered;
  if (answers) {
    answered = [&](std::size_t i, const PendingRow& row) {
      if (row.time < options.start || !row.is_ready) return;
      first = std::min(first, i);
      const std::vector<double>& quantiles = row.answer.quantiles;
      values.insert(values.end(), quantiles.begin(), quantiles.end());
    };
  }
  run_rows(count, threads, [&](const Execution& how) {
    const Rows rows{.x = view_of(x),
                    .given = given ? view_of(*given) : MatrixView{},
                    .group = group ? span_of(*group) : std::span<const std::uint32_t>{}};
    learner.teach(rows, span_of(targets), end, answered, how);
  });
  const std::size_t columns = options.levels.size();
  return {table_array(std::move(values), answers ? count - first : 0, columns), first};
}

NewArray<double> predictions_of(const OnlineLearner& learner, const Table2d<double>& x,
                                const std::optional<Table2d<double>>& given,
                                const std::optional<Vector<std::uint32_t>>& group,
                                std::size_t threads) {
  std::vector<double> out;
  run_rows(x.shape(0), threads, [&](const Execution& how) {
    const Rows rows{.x = view_of(x),
                    .given = given ? view_of(*given) : MatrixView{},
                    .group = group ? span_of(*group) : std::span<const std::uint32_t>{}};
    out = learner.online().predictions(rows, how);
  });
  return vector_array(std::move(out));
}

/// What was counted, and what is proven about it.
NamedValues coverage_of(const OnlineLearner& learner) {
  std::vector<double> share;
  std::vector<double> bound;
  std::vector<std::vector<double>> between;
  std::uint64_t time = 0;
  std::uint64_t answered = 0;
  {
    const nb::gil_scoped_release unlocked;
    learner.read([&](const OnlineStream& stream) {
      const std::size_t count = stream.options().levels.size();
      time = stream.time();
      answered = stream.answered();
      between.assign(count, std::vector<double>(count));
      for (std::size_t j = 0; j < count; ++j) {
        share.push_back(stream.share_below(j));
        bound.push_back(stream.bound(j));
        for (std::size_t i = 0; i <= j; ++i) between[i][j] = stream.share_between(i, j);
      }
    });
  }
  NamedValues result;
  result["time"] = time;
  result["answered"] = answered;
  result["share_below"] = share;
  result["bound"] = bound;
  result["share_between"] = between;
  return result;
}

NamedValues drift_of(const OnlineLearner& learner) {
  std::optional<DriftAlarm> alarm;
  std::vector<DriftCause> causes;
  double log_e = 0.0;
  std::size_t start = 0;
  {
    const nb::gil_scoped_release unlocked;
    learner.read([&](const OnlineStream& stream) {
      start = stream.options().start;
      log_e = stream.drift().log_e();
      alarm = stream.drift().alarm();
      if (alarm && stream.options().features > 0) causes = stream.drift().explain();
    });
  }
  NamedValues result;
  result["log_e"] = log_e;
  result["alarm"] = alarm ? nb::cast(alarm->row + start) : nb::none();
  result["change"] = alarm ? nb::cast(alarm->change + start) : nb::none();
  result["scale"] = alarm ? nb::cast(alarm->scale) : nb::none();
  result["shift"] = alarm ? nb::cast(alarm->shift) : nb::none();
  std::vector<std::string> texts;
  const std::shared_ptr<const Schema> schema = learner.model().schema;
  for (const DriftCause& cause : causes) {
    texts.push_back(drift_cause_text(cause, schema->feature_names()));
  }
  result["causes"] = texts;
  return result;
}

NamedValues settings_of(const OnlineLearner& learner) {
  const OnlineModel& model = learner.online();
  const StreamOptions& options = model.stream().options();
  NamedValues result;
  result["method"] = options.method;
  std::vector<double> levels;
  for (const Level& level : options.levels) levels.push_back(level.value());
  result["levels"] = levels;
  result["start"] = options.start;
  result["delay"] = options.delay;
  result["known_later"] = options.known_later;
  result["options"] = MethodOptions(options.params.all().begin(), options.params.all().end());
  result["drift_rate"] = options.drift_rate;
  result["seed"] = options.seed.value;
  result["source"] = model.base() != nullptr ? "model" : model.given() > 0 ? "column" : "own";
  return result;
}

/// The model inside an online model, with the online model's schema; none without one.
std::optional<Model> base_of(const OnlineLearner& learner) {
  const FittedModel* const base = learner.online().base();
  if (base == nullptr) return std::nullopt;
  Model model{*base};
  model.fitted.schema = learner.model().schema;
  return model;
}

NamedValues online_method_table() {
  NamedValues table;
  for (const OnlineMethodInfo& info : online_methods()) {
    NamedValues row;
    row["summary"] = std::string(info.summary);
    row["guarantee"] = std::string(info.guarantee);
    row["citation"] = std::string(info.citation);
    NamedValues options;
    for (const ParamInfo& option : info.options) {
      NamedTexts about;
      about["default"] = std::string(option.fallback);
      about["help"] = std::string(option.help);
      options[nb::cast(std::string(option.name))] = about;
    }
    row["options"] = options;
    table[nb::cast(std::string(info.name))] = row;
  }
  return table;
}

}  // namespace

void bind_online(nb::module_& module) {
  nb::class_<OnlineLearner>(module, "Online", "A model that goes on learning from a stream.")
      .def_static("start", &start_learner, nb::kw_only(), nb::arg("base").none(), nb::arg("own"),
                  nb::arg("schema"), nb::arg("method"), nb::arg("options"), nb::arg("levels"),
                  nb::arg("intervals"), nb::arg("start"), nb::arg("delay"), nb::arg("known_later"),
                  nb::arg("drift_rate"), nb::arg("seed"))
      .def_static(
          "of_model",
          [](const Model& model) {
            const nb::gil_scoped_release unlocked;
            return std::make_unique<OnlineLearner>(
                load_model_from_memory(save_model_to_memory(model.fitted), "a copy of the model"));
          },
          nb::arg("model"), "A copy of an online model.")
      .def_static("restore", &restored_learner, nb::arg("state"))
      .def("state", &state_of)
      .def("teach", &teach_rows, nb::arg("x"), nb::arg("given").none(), nb::arg("group").none(),
           nb::arg("targets"), nb::arg("end"), nb::arg("answers"), nb::arg("threads"))
      .def("predictions", &predictions_of, nb::arg("x"), nb::arg("given").none(),
           nb::arg("group").none(), nb::arg("threads"))
      .def("restart_drift",
           [](OnlineLearner& learner) {
             const nb::gil_scoped_release unlocked;
             learner.restart_drift();
           })
      .def("coverage", &coverage_of)
      .def("drift", &drift_of)
      .def_prop_ro("settings", &settings_of)
      .def_prop_ro("base", &base_of)
      .def_prop_ro("model", [](const OnlineLearner& learner) {
        const nb::gil_scoped_release unlocked;
        return Model{learner.model()};
      });
  nb::class_<PlainRows>(module, "PlainRows", "The short way of one row of finite numbers.")
      .def(nb::init<nb::object, bool, std::vector<std::size_t>>(), nb::arg("learner"),
           nb::arg("asks"), nb::arg("interval"))
      .def("answer", &PlainRows::answer, nb::arg("x").none(), nb::arg("predict").none(),
           nb::arg("y_pred").none())
      .def("answer_at", &PlainRows::answer_at, nb::arg("places"), nb::arg("x").none(),
           nb::arg("predict").none(), nb::arg("y_pred").none())
      .def("teach", &PlainRows::teach, nb::arg("x").none(), nb::arg("y").none(),
           nb::arg("predict").none(), nb::arg("y_pred").none());
  module.def(
      "level_columns",
      [](const std::vector<double>& levels, const std::vector<double>& intervals) {
        const LevelColumns columns = level_columns(levels, intervals);
        const std::vector<Level> ascending = ascending_levels(columns.levels);
        std::vector<std::size_t> places;
        for (const Level& level : columns.levels) {
          const auto at = std::lower_bound(ascending.begin(), ascending.end(), level);
          places.push_back(static_cast<std::size_t>(at - ascending.begin()));
        }
        return std::pair(columns.names, places);
      },
      nb::arg("levels"), nb::arg("intervals"),
      "Names of the columns of answers, and the place of each among the levels in order.");
  module.def("online_methods", &online_method_table);
}

}  // namespace tare::python
