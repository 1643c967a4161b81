// SPDX-License-Identifier: BSD-3-Clause
#include "apply/model_journal.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fail.h"
#include "data/schema.h"
#include "io/json_text.h"

namespace tare {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// What all states of one stream have in common.
OrderedJson stream_identity(const FittedModel& fitted, const OnlineModel& model) {
  const StreamOptions& options = model.stream().options();
  std::vector<double> levels;
  for (const Level& level : options.levels) levels.push_back(level.value());
  const bool has_schema = fitted.schema != nullptr;
  return {{"target", has_schema ? fitted.schema->target() : ""},
          {"columns", has_schema ? fitted.schema->feature_names() : std::vector<std::string>{}},
          {"features", options.features},
          {"source", model.base() != nullptr ? "model"
                     : model.given() > 0     ? "column"
                                             : "own"},
          {"method", options.method},
          {"levels", levels},
          {"start", options.start},
          {"delay", options.delay},
          {"known_later", options.known_later},
          {"params", options.params.all()},
          {"drift_rate", options.drift_rate},
          {"seed", options.seed.value}};
}

[[noreturn]] void fail_other_model(const std::string& path, const std::string& problem) {
  fail(ErrorCode::kBadData,
       {.source = path,
        .remedies = {advice("use the model that the journal was begun with, or another journal")}},
       "the journal is not of this model: {}", problem);
}

}  // namespace

std::size_t journal_level(const OnlineStream& stream) { return stream.options().levels.size() / 2; }

std::string journal_header(const FittedModel& fitted, const std::string& version) {
  const std::shared_ptr<OnlineModel> model = online_in(fitted);
  OrderedJson json = stream_identity(fitted, *model);
  json["rows"] = model->stream().time();
  json["model"] = version;
  return json.dump();
}

JournalReplay::JournalReplay(std::string path, const FittedModel& fitted, std::string version,
                             std::function<void(const JournalRow&)> seen)
    : path_(std::move(path)),
      fitted_(fitted),
      version_(std::move(version)),
      model_(online_in(fitted)),
      seen_(std::move(seen)) {
  if (!model_) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "journal",
          .remedies = {advice(
              "track a stream, or update a model with new rows, to make one that does")},
          .named_in_problem = true},
         "the model does not learn, so it has no journal");
  }
}

JournalEnd JournalReplay::read() {
  end_ = read_journal(
      path_, [this](std::string_view text) { take_header(text); },
      [this](std::string_view bytes) { take_row(bytes); }, end_.whole);
  return end_;
}

void JournalReplay::take_header(std::string_view text) {
  OrderedJson header;
  try {
    header = OrderedJson::parse(is_nested_too_deeply(text) ? std::string_view() : text);
    first_ = header.at("rows").get<std::uint64_t>();
    begun_with_this_file_ = header.at("model").get<std::string>() == version_;
  } catch (const nlohmann::json::exception&) {
    fail(ErrorCode::kCorruptFile, {.source = path_}, "the journal has a header without its model");
  }
  next_ = first_;
  const OrderedJson wanted = stream_identity(fitted_, *model_);
  for (const auto& [name, value] : wanted.items()) {
    const OrderedJson found = header.contains(name) ? header[name] : OrderedJson();
    if (found == value) continue;
    constexpr std::size_t kLongestShown = 100;
    difference_ =
        fmt::format("its {} is {}, and the model's is {}", name,
                    found.dump().substr(0, kLongestShown), value.dump().substr(0, kLongestShown));
    return;
  }
}

void JournalReplay::take_row(std::string_view bytes) {
  const std::uint64_t time = model_->stream().time();
  if (!difference_.empty()) fail_other_model(path_, difference_);
  if (time < first_) {
    fail_other_model(
        path_, fmt::format("it begins after {} rows, and the model has learned {}", first_, time));
  }
  if (time == first_ && !begun_with_this_file_) {
    fail_other_model(path_, "it was begun with another file that had learned as many rows");
  }
  JournalRow row;
  try {
    row = read_journal_row(bytes, model_->features());
  } catch (const Error& error) {
    fail(ErrorCode::kCorruptFile, {.source = path_}, "row {} of the journal: {}", next_ - first_,
         error.problem());
  }
  if (row.sequence != next_) {
    fail(ErrorCode::kCorruptFile, {.source = path_},
         "row {} of the journal has number {} instead of {}", next_ - first_, row.sequence, next_);
  }
  if (row.sequence < time) {
    ++skipped_;
  } else {
    const PendingRow answered = model_->answer(row.prediction, row.x);
    check_answer(row, answered);
    model_->learn(answered, row.x, row.target);
    ++replayed_;
  }
  ++next_;
  if (seen_) seen_(row);
}

/// Equal to the bit on the machine that wrote it. Another C library may round otherwise, which is
/// no reason not to start; another state is.
void JournalReplay::check_answer(const JournalRow& row, const PendingRow& answered) const {
  constexpr double kTolerance = 1e-3;  // of the spread of the answer
  constexpr double kRounding = 1e-9;
  const std::vector<double>& quantiles = answered.answer.quantiles;
  const double now = quantiles[journal_level(model_->stream())];
  if (now == row.answer) return;  // some methods answer with infinity
  const double width = quantiles.back() - quantiles.front();
  const double error = std::abs(now - row.prediction);
  const double spread = std::isfinite(width) ? std::max(width, error) : error;
  if (std::isfinite(now) &&
      std::abs(now - row.answer) <= kTolerance * spread + kRounding * std::abs(now))
    return;
  fail_other_model(path_, fmt::format("row {} was answered with {}, and the model answers {}",
                                      row.sequence, row.answer, now));
}

}  // namespace tare
