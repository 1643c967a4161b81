// SPDX-License-Identifier: BSD-3-Clause
#include "tare/apply/track.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apply/follow.h"
#include "apply/level_columns.h"
#include "apply/row_encoder.h"
#include "apply/target_level.h"
#include "base/fail.h"
#include "base/strings.h"
#include "base/unknown_name.h"
#include "data/schema.h"
#include "io/select_columns.h"
#include "io/table_place.h"
#include "math/proportion.h"

namespace tare {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kStretch = 100;

/// The columns of the answers, and where each finds its level among those of the stream.
struct TrackColumns {
  LevelColumns asked;
  std::vector<Level> levels;       // ascending
  std::vector<std::size_t> level;  // of each column
  std::vector<Tracked::LevelShare> shares;
  std::vector<Tracked::Interval> intervals;
};

Tracked::ChanceRange chance_of(double probability) {
  constexpr double kUsual = 0.95;
  const CountRange range = binomial_range(kStretch, probability, kUsual);
  return {.low = static_cast<double>(range.low) / double{kStretch},
          .high = static_cast<double>(range.high) / double{kStretch}};
}

TrackColumns columns_for(const TrackOptions& options) {
  constexpr double kUsualInterval = 0.9;
  std::vector<double> intervals = options.intervals;
  if (options.levels.empty() && intervals.empty()) intervals = {kUsualInterval};
  TrackColumns columns;
  columns.asked = level_columns(options.levels, intervals);
  columns.levels = columns.asked.levels;
  std::sort(columns.levels.begin(), columns.levels.end());
  columns.levels.erase(std::unique(columns.levels.begin(), columns.levels.end()),
                       columns.levels.end());
  for (const Level& level : columns.asked.levels) {
    const auto at = std::lower_bound(columns.levels.begin(), columns.levels.end(), level);
    columns.level.push_back(static_cast<std::size_t>(at - columns.levels.begin()));
  }
  for (std::size_t k = 0; k < options.levels.size(); ++k) {
    const double level = options.levels[k];
    columns.shares.push_back({.level = level, .column = k, .chance = chance_of(level)});
  }
  for (std::size_t k = 0; k < intervals.size(); ++k) {
    const std::size_t lower = options.levels.size() + 2 * k;
    columns.intervals.push_back({.confidence = intervals[k],
                                 .lower = lower,
                                 .upper = lower + 1,
                                 .chance = chance_of(intervals[k])});
  }
  return columns;
}

/// The columns of the rows that may be known before their targets are those of the first rows.
std::shared_ptr<const Schema> learn_schema(const Table& table, const TrackOptions& options,
                                           std::size_t known) {
  Roles roles;
  roles.target = options.target;
  roles.prediction = options.prediction;
  roles.features = options.features;
  roles.drop = options.drop;
  roles.categorical = options.categorical;
  const auto requests = Schema::fit_requests(table.source, table.names(), roles);
  auto schema = std::make_shared<Schema>(
      Schema::learn(first_rows(select_columns(table, requests), known), roles));
  schema->set_missing(options.missing);
  return schema;
}

StreamOptions stream_options(const TrackOptions& options, const Schema& schema,
                             const TrackColumns& columns) {
  StreamOptions stream;
  stream.method = options.method;
  stream.levels = columns.levels;
  stream.features = schema.width() * schema.window();
  stream.start = options.start;
  stream.delay = options.delay;
  for (const std::string& name : options.known_later) {
    if (schema.columns_of({name}).empty()) {
      std::vector<std::string> names;
      for (const InputColumn& input : schema.inputs()) names.push_back(input.name);
      fail_unknown_name(ErrorCode::kNotFound, "feature", name, names, "known_later");
    }
  }
  if (!options.known_later.empty()) stream.known_later = schema.columns_of(options.known_later);
  std::sort(stream.known_later.begin(), stream.known_later.end());
  stream.params = options.params;
  stream.drift_rate = options.drift_rate;
  stream.seed = options.seed;
  return stream;
}

void check_track(const Table& table, const TrackOptions& options) {
  if (!options.prediction.empty() && options.model) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "prediction",
          .remedies = {{"leave out", "prediction", "", ""}, {"leave out", "model", "", ""}},
          .named_in_problem = true},
         "two options name the source of the model's predictions");
  }
  if (options.model && online_in(*options.model)) {
    fail(ErrorCode::kInvalidArgument, {.option = "model"},
         "is a model that already follows a stream; teach it new rows with update, and predict");
  }
  if (table.rows() <= options.start) {
    fail(ErrorCode::kBadData,
         {.source = table.source,
          .option = "start",
          .remedies = {{"use a smaller", "start", "", ""}},
          .named_in_problem = true},
         "the file has {} rows, and the first {} are for warming up", table.rows(), options.start);
  }
}

/// Coverage, width and scores of an interval over the answered rows with a target.
void score(Tracked& tracked, Tracked::Interval& interval) {
  const double penalty = 2.0 / (1.0 - interval.confidence);
  std::vector<std::uint8_t> inside;
  double widths = 0.0;
  double scores = 0.0;
  for (std::size_t i = 0; i < tracked.rows.size(); ++i) {
    const double y = tracked.targets[i];
    if (std::isnan(y)) continue;
    const double low = tracked.values(i, interval.lower);
    const double high = tracked.values(i, interval.upper);
    inside.push_back(low <= y && y <= high ? 1 : 0);
    widths += high - low;
    scores += high - low + penalty * (std::max(low - y, 0.0) + std::max(y - high, 0.0));
  }
  const auto count = static_cast<double>(inside.size());
  std::size_t covered = 0;
  std::size_t recent = 0;
  std::size_t worst = kStretch;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    covered += inside[i];
    recent += inside[i];
    if (i >= kStretch) recent -= inside[i - kStretch];
    if (i + 1 >= kStretch) worst = std::min(worst, recent);
  }
  interval.coverage = inside.empty() ? kNotKnown : static_cast<double>(covered) / count;
  interval.mean_width = inside.empty() ? kNotKnown : widths / count;
  interval.winkler = inside.empty() ? kNotKnown : scores / count;
  interval.worst_stretch =
      inside.size() < kStretch ? kNotKnown : static_cast<double>(worst) / double{kStretch};
}

/// Proven, on |coverage - confidence|. The bounds of the two levels are about targets at or below
/// an answer, and a target equal to the lower end is inside: their share is added.
double interval_bound(const OnlineStream& stream, std::size_t lower, std::size_t upper) {
  const double ends = stream.bound(lower) + stream.bound(upper);
  return ends < 1.0 ? std::min(1.0, ends + stream.share_between(lower, lower)) : 1.0;
}

std::string cause_text(const DriftCause& cause, const std::vector<std::string>& names) {
  const std::string& name = names[cause.feature % names.size()];
  if (cause.low == cause.high) return fmt::format("{} = {:.6g}", name, cause.low);
  return fmt::format("{} from {:.6g} to {:.6g}", name, cause.low, cause.high);
}

}  // namespace

Tracked track(const Table& table, const TrackOptions& options, const Execution& how) {
  check_track(table, options);
  const TrackColumns columns = columns_for(options);
  TrackOptions known = options;
  std::shared_ptr<const Schema> schema;
  if (options.model) {
    schema = options.model->schema;
    if (known.target.empty()) known.target = schema->target();
  }
  if (known.target.empty()) {
    fail(ErrorCode::kInvalidArgument, {.option = "target"}, "must name the column to predict");
  }
  if (!schema) schema = learn_schema(table, known, std::max<std::size_t>(options.start, 1));

  RowEncoder encoder(*schema, Need::kFeatures, options.missing);
  encoder.encode(select_columns(table, encoder.requests(table.source, table.names(), {})));
  const Encoded& encoded = encoder.encoded();
  const std::vector<double> targets = targets_of(table, known.target, encoded.rows);
  StreamOptions stream = stream_options(known, *schema, columns);
  check_start(stream);
  std::shared_ptr<OnlineModel> model;
  if (options.model) {
    model = std::make_shared<OnlineModel>(*options.model, std::move(stream));
  } else {
    model = std::make_shared<OnlineModel>(stream.features, !options.prediction.empty(), stream);
  }

  Tracked tracked;
  tracked.names = columns.asked.names;
  tracked.levels = columns.shares;
  tracked.intervals = columns.intervals;
  if (options.diagnostics) {
    tracked.names.insert(tracked.names.end(), {"prediction", "effective_n"});
    for (const Tracked::Interval& interval : tracked.intervals) {
      tracked.names.push_back(fmt::format("coverage_{}", interval.confidence));
    }
    tracked.names.emplace_back("drift_log_e");
  }
  std::vector<double> values;
  std::size_t first_answered = encoded.rows.size();
  std::size_t not_ready = 0;
  Follower follower;
  follower.answered = [&](std::size_t i, const PendingRow& row) {
    if (row.time < options.start) return;
    if (!row.is_ready) {
      ++not_ready;
      return;
    }
    first_answered = std::min(first_answered, i);
    for (const std::size_t level : columns.level) values.push_back(row.answer.quantiles[level]);
    if (options.diagnostics) {
      const OnlineStream& now = model->stream();
      values.push_back(row.prediction);
      const double effective = now.effective_rows(row);
      values.push_back(effective > 0.0 ? effective : kNotKnown);
      for (const Tracked::Interval& interval : tracked.intervals) {
        values.push_back(
            now.share_between(columns.level[interval.lower], columns.level[interval.upper]));
      }
      values.push_back(now.drift().log_e());
    }
    tracked.rows.push_back(encoded.rows[i]);
    tracked.targets.push_back(targets[i]);
    tracked.predictions.push_back(row.prediction);
    tracked.drift_log_e.push_back(kNotKnown);
    tracked.target_levels.push_back(target_level(columns.levels, row.answer.quantiles, targets[i]));
    for (Tracked::Interval& interval : tracked.intervals) interval.bounds.push_back(kNotKnown);
  };
  follower.learned = [&](std::size_t i) {
    const DriftWatch& drift = model->stream().drift();
    if (i >= first_answered) {
      const std::size_t at = i - first_answered;
      tracked.drift_log_e[at] = drift.log_e();
      for (Tracked::Interval& interval : tracked.intervals) {
        interval.bounds[at] = interval_bound(model->stream(), columns.level[interval.lower],
                                             columns.level[interval.upper]);
      }
    }
    if (!drift.alarm() || !tracked.alarms.empty()) return;
    tracked.alarms.push_back(
        {.row = encoded.rows[i],
         .change = encoded.rows[std::min<std::size_t>(drift.alarm()->change + options.start, i)],
         .scale = drift.alarm()->scale,
         .shift = drift.alarm()->shift,
         .causes = {}});
  };
  follower.place = [&](std::size_t i) {
    return cell_details(table, known.target, encoded.rows[i]);
  };
  follow(*model, encoder.rows(), targets, follower, how);
  if (not_ready > 0 && tracked.rows.empty()) {
    fail(ErrorCode::kBadData,
         {.source = table.source,
          .column = known.target,
          .remedies = {advice("add rows with their targets before those to answer")}},
         "too few targets are known: no row comes after {} of them, so none can be answered",
         kFewestKnownTargets);
  }
  const OnlineStream& last = model->stream();
  if (!tracked.alarms.empty() && schema->width() > 0) {
    for (const DriftCause& cause : last.drift().explain()) {
      tracked.alarms[0].causes.push_back(cause_text(cause, schema->feature_names()));
    }
  }
  tracked.values = Matrix(std::move(values), tracked.rows.size(), tracked.names.size());
  for (Tracked::Interval& interval : tracked.intervals) {
    score(tracked, interval);
    interval.bound =
        interval_bound(last, columns.level[interval.lower], columns.level[interval.upper]);
  }
  for (Tracked::LevelShare& share : tracked.levels) {
    share.share_below = last.share_below(columns.level[share.column]);
    share.bound = last.bound(columns.level[share.column]);
  }
  tracked.notices = encoder.notices();
  if (not_ready > 0) {
    tracked.notices.push_back(
        {.code = "no_known_targets",
         .rows = not_ready,
         .text = fmt::format("{} rows were not answered, because fewer than {} targets were known",
                             not_ready, kFewestKnownTargets)});
  }
  auto named = std::make_shared<Schema>(*schema);
  tracked.model = {.method = std::string(kOnline),
                   .params = options.params,
                   .seed = options.seed,
                   .rows = last.time(),
                   .model = std::move(model),
                   .schema = std::move(named)};
  return tracked;
}

Updated update(const FittedModel& model, const Table& table, const std::vector<double>& levels,
               const Execution& how) {
  StreamOptions options;
  for (const double level : levels) options.levels.emplace_back(level);
  std::sort(options.levels.begin(), options.levels.end());
  const std::shared_ptr<OnlineModel> learner = teachable(model, std::move(options));
  const std::string& target = model.schema->target();
  if (target.empty()) {
    fail(ErrorCode::kInvalidArgument, "the model does not know the name of its target");
  }
  RowEncoder encoder(*model.schema, Need::kFeatures);
  encoder.encode(select_columns(table, encoder.requests(table.source, table.names(), {})));
  const std::vector<double> targets = targets_of(table, target, encoder.encoded().rows);
  Updated updated;
  Follower follower;
  follower.place = [&](std::size_t i) {
    return cell_details(table, target, encoder.encoded().rows[i]);
  };
  updated.learned = follow(*learner, encoder.rows(), targets, follower, how);
  updated.notices = encoder.notices();
  updated.model = model;
  updated.model.method = kOnline;
  updated.model.model = learner;
  updated.model.rows = learner->stream().time();
  return updated;
}

}  // namespace tare
