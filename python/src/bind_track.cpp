// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "errors.h"
#include "interruptible.h"
#include "model.h"
#include "tare/apply/track.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

Table read_data_file(const std::string& path) {
  try {
    const nb::gil_scoped_release unlocked;
    return read_csv(path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    set_python_error(error, PyExc_FileNotFoundError);
    throw nb::python_error();
  }
}

NamedValues interval_dict(const Tracked::Interval& interval) {
  NamedValues result;
  result["confidence"] = interval.confidence;
  result["coverage"] = interval.coverage;
  result["bound"] = interval.bound;
  result["mean_width"] = interval.mean_width;
  result["winkler"] = interval.winkler;
  result["worst_stretch"] = interval.worst_stretch;
  return result;
}

NamedValues alarm_dict(const TrackAlarm& alarm) {
  NamedValues result;
  result["row"] = alarm.row;
  result["change"] = alarm.change;
  result["scale"] = alarm.scale;
  result["shift"] = alarm.shift;
  result["causes"] = alarm.causes;
  return result;
}

NamedValues tracked_dict(Tracked tracked) {
  NamedValues result;
  result["names"] = tracked.names;
  result["rows"] = vector_array(std::move(tracked.rows));
  result["targets"] = vector_array(std::move(tracked.targets));
  result["predictions"] = vector_array(std::move(tracked.predictions));
  result["values"] = matrix_array(std::move(tracked.values));
  nb::list intervals;
  for (const Tracked::Interval& interval : tracked.intervals) {
    intervals.append(interval_dict(interval));
  }
  result["intervals"] = intervals;
  nb::list alarms;
  for (const TrackAlarm& alarm : tracked.alarms) alarms.append(alarm_dict(alarm));
  result["alarms"] = alarms;
  std::vector<std::tuple<std::string, std::size_t, std::string>> notices;
  for (const Notice& notice : tracked.notices) {
    notices.emplace_back(notice.code, notice.rows, notice.text);
  }
  result["notices"] = notices;
  result["model"] = nb::cast(Model{std::move(tracked.model)});
  return result;
}

NamedValues track_table(const Table& table, const std::string& target,
                        const std::string& prediction, const Model* model,
                        std::vector<double> levels, std::vector<double> intervals,
                        std::size_t start, std::size_t delay, std::vector<std::string> known_later,
                        std::vector<std::string> features, std::vector<std::string> drop,
                        std::vector<std::string> categorical, const std::string& missing,
                        const std::string& method, const std::map<std::string, std::string>& given,
                        double drift_rate, std::uint64_t seed, bool diagnostics,
                        std::size_t threads, const nb::object& progress) {
  TrackOptions options;
  options.target = target;
  options.prediction = prediction;
  if (model != nullptr) options.model = model->fitted;
  options.levels = std::move(levels);
  options.intervals = std::move(intervals);
  options.start = start;
  options.delay = delay;
  options.known_later = std::move(known_later);
  options.features = std::move(features);
  options.drop = std::move(drop);
  options.categorical = std::move(categorical);
  options.missing = parse_missing_policy(missing);
  options.method = method;
  for (const auto& [name, value] : given) options.params.set(name, value);
  options.drift_rate = drift_rate;
  options.seed = Seed{seed};
  options.diagnostics = diagnostics;
  Tracked tracked;
  run_interruptible(threads, progress,
                    [&](const Execution& how) { tracked = track(table, options, how); });
  return tracked_dict(std::move(tracked));
}

}  // namespace

void bind_track(nb::module_& module) {
  module.def("read_data_file", &read_data_file, nb::arg("path"), "A CSV or TSV file as a table.");
  module.def("track", &track_table, nb::kw_only(), nb::arg("table"), nb::arg("target"),
             nb::arg("prediction"), nb::arg("model").none(), nb::arg("levels"),
             nb::arg("intervals"), nb::arg("start"), nb::arg("delay"), nb::arg("known_later"),
             nb::arg("features"), nb::arg("drop"), nb::arg("categorical"), nb::arg("missing"),
             nb::arg("method"), nb::arg("options"), nb::arg("drift_rate"), nb::arg("seed"),
             nb::arg("diagnostics"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace tare::python
