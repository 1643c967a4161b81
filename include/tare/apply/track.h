// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/apply/notice.h"
#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/matrix.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"
#include "tare/calibrate/model_file.h"
#include "tare/data/missing_policy.h"
#include "tare/io/table.h"

namespace TARE_PUBLIC tare {

/// How to follow the rows of a table in time order.
struct TrackOptions {
  std::string target;  // may be empty with a model, which knows its name

  // What is calibrated: the errors of a column, of a fitted model (its median), or, with neither,
  // of a model of its own, which is fitted again whenever a tenth more rows have come.
  std::string prediction = {};
  std::optional<FittedModel> model = {};

  std::vector<double> levels = {};  // if both lists are empty: the interval of 0.9
  std::vector<double> intervals = {};
  std::size_t start = 100;  // rows that are learned and not answered
  std::size_t delay = 0;    // rows that are answered after a row before its target is known
  std::vector<std::string> known_later = {};  // columns that are known only with the target

  std::vector<std::string> features = {};  // empty: every other column
  std::vector<std::string> drop = {};
  std::vector<std::string> categorical = {};
  MissingPolicy missing = MissingPolicy::kError;

  std::string method = "snq";  // of the table of online methods
  Params params = {};          // options of the method
  double drift_rate = 0.01;    // of false alarms of drift, over all rows
  Seed seed = {};
  bool diagnostics = false;

  /// Sets a member by name, from text, as FitOptions::set. An unknown name becomes an option of the
  /// method.
  void set(std::string_view name, std::string_view text);
};

/// An alarm of drift.
struct TrackAlarm {
  std::size_t row = 0;     // of the table, whose target raised it
  std::size_t change = 0;  // the row where the change began, as estimated
  double scale = 1.0;      // the factor on the spread of errors, roughly
  double shift = 0.0;      // of the errors, roughly, in standard deviations
  /// Where errors changed otherwise than elsewhere: "period from 0.2 to 0.4".
  std::vector<std::string> causes;
};

/// Answers of track().
struct Tracked {
  std::vector<std::string> names;   // of the columns: as Predictor::names(); with diagnostics
                                    // prediction, effective_n, coverage_0.9, drift_log_e
  Matrix values;                    // a row for each answered row
  std::vector<std::size_t> rows;    // of the table, one for each answer
  std::vector<double> targets;      // of these rows; NaN where there is none
  std::vector<double> predictions;  // of these rows
  // Known after the target of the row, and NaN in rows without one: the level of the target among
  // the quantiles of its row (interpolated as Predictor does; NaN also if there is one level only),
  // and the evidence of drift.
  std::vector<double> target_levels;
  std::vector<double> drift_log_e;

  /// 95 % of stretches of 100 independent rows have a share within, if each counts with the
  /// probability that is asked for.
  struct ChanceRange {
    double low = 0.0;
    double high = 1.0;
  };
  /// A level of `levels`.
  struct LevelShare {
    double level = 0.0;
    std::size_t column = 0;
    double share_below = 0.0;  // of targets at or below the answer; NaN if there are none
    double bound = 1.0;        // proven, on |share_below - level|
    ChanceRange chance = {};
  };
  std::vector<LevelShare> levels;
  struct Interval {
    double confidence = 0.0;
    std::size_t lower = 0;  // columns
    std::size_t upper = 0;
    double coverage = 0.0;            // of the answered rows with a target; NaN if there are none
    double bound = 1.0;               // proven, on |coverage - confidence|
    std::vector<double> bounds = {};  // the same over the rows up to each with a target
    ChanceRange chance = {};
    double mean_width = 0.0;
    double winkler = 0.0;        // mean
    double worst_stretch = 0.0;  // lowest coverage of 100 consecutive rows; NaN below 100 rows
  };
  std::vector<Interval> intervals;
  std::vector<TrackAlarm> alarms;
  std::vector<Notice> notices;
  FittedModel model;  // after the last target, for `update` and Predictor
};

/// Answers each row before its target is seen, and then learns the target. No answer depends on a
/// later row. A row without a target is answered only, and a row before which fewer than two
/// targets are known is not. Throws kNotFound, kInvalidArgument (also for a start below delay + 2,
/// with a delay) and kBadData (also where no row can be answered).
Tracked track(const Table& table, const TrackOptions& options, const Execution& how = {});

/// What update() learned.
struct Updated {
  FittedModel model;
  std::size_t learned = 0;  // rows
  std::vector<Notice> notices;
};

/// Teaches a model the rows of a table, in their order. A model that is not online becomes so:
/// `levels` are those to keep (empty: those of the intervals of 95, 90, 80 and 50 %, and 0.5).
/// `model` itself stays as it is.
Updated update(const FittedModel& model, const Table& table, const std::vector<double>& levels = {},
               const Execution& how = {});

}  // namespace tare
