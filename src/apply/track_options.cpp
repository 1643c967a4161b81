// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "apply/level_columns.h"
#include "base/fail.h"
#include "base/strings.h"
#include "tare/apply/track.h"

namespace tare {
namespace {

std::size_t read_rows(std::string_view name, std::string_view text, std::size_t most) {
  const auto count = parse_count(text);
  if (count && *count <= most) return *count;
  fail_option(name, text, fmt::format("must be a whole number from 0 to {}", most));
}

double read_rate(std::string_view text) {
  const auto rate = parse_number(text);
  if (rate && *rate > 0.0 && *rate < 1.0) return *rate;
  fail_option("drift_rate", text, "must be a probability between 0 and 1");
}

}  // namespace

void TrackOptions::set(std::string_view name, std::string_view text) {
  constexpr std::size_t kMostStart = 1'000'000'000;
  constexpr std::size_t kLongestDelay = 100'000;
  const std::string wanted = canonical_name(name);
  if (wanted == "target") {
    target = text;
  } else if (wanted == "prediction") {
    prediction = text;
  } else if (wanted == "levels") {
    levels = parse_level_list(text, "levels");
  } else if (wanted == "interval") {
    intervals = parse_level_list(text, "interval");
  } else if (wanted == "start") {
    start = read_rows(wanted, text, kMostStart);
  } else if (wanted == "delay") {
    delay = read_rows(wanted, text, kLongestDelay);
  } else if (wanted == "known_later") {
    known_later = split_names(text);
  } else if (wanted == "features") {
    features = split_names(text);
  } else if (wanted == "drop") {
    drop = split_names(text);
  } else if (wanted == "categorical") {
    categorical = split_names(text);
  } else if (wanted == "missing") {
    missing = parse_missing_policy(text);
  } else if (wanted == "method") {
    method = text;
  } else if (wanted == "drift_rate") {
    drift_rate = read_rate(text);
  } else if (wanted == "seed") {
    seed = Seed{read_rows(wanted, text, std::numeric_limits<std::size_t>::max())};
  } else {
    params.set(wanted, std::string(text));
  }
}

}  // namespace tare
