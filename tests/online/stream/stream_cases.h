// SPDX-License-Identifier: BSD-3-Clause
// Streams of rows with features, and how a stream answers and learns them.
#pragma once

#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "online/methods/method_table.h"
#include "online/stream/online_stream.h"
#include "tare/base/rng.h"

namespace tare::online_testing {

struct StreamRow {
  double prediction = 0.0;
  std::vector<double> features;
  double target = 0.0;  // NaN: it never comes
};

/// Features, a season in the mean and in the size, errors that depend on the last one, and targets
/// that never come.
inline std::vector<StreamRow> stream_rows(std::size_t count, std::size_t features, Seed seed,
                                          bool with_gaps = false) {
  Rng rng(seed);
  std::vector<StreamRow> rows(count);
  double last = 0.0;
  for (std::size_t t = 0; t < count; ++t) {
    StreamRow& row = rows[t];
    row.prediction = rng.normal();
    double size = t % 12 < 4 ? 2.0 : 0.5;
    for (std::size_t j = 0; j < features; ++j) row.features.push_back(rng.normal());
    if (features > 0) size *= std::exp(0.3 * row.features[0]);
    last = 0.6 * last + size * rng.normal();
    row.target = row.prediction + last;
    if (with_gaps && rng.below(10) == 0) row.target = std::nan("");
  }
  return rows;
}

inline StreamOptions stream_options(const std::string& method, std::size_t features = 0,
                                    std::size_t delay = 0, const std::string& params = {}) {
  StreamOptions options;
  options.method = method;
  for (const double level : {0.05, 0.25, 0.5, 0.95}) options.levels.emplace_back(level);
  options.features = features;
  options.start = 20;
  options.delay = delay;
  options.params = Params::parse(params);
  options.seed = Seed{5};
  return options;
}

inline TensorStore state_of(const OnlineStream& stream) {
  TensorStore store;
  stream.save(TensorWriter(store));
  return store;
}

inline OnlineStream restarted(const OnlineStream& stream) {
  const TensorStore store = state_of(stream);
  return OnlineStream::load(TensorReader(store));
}

inline bool same_bits_of(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// Answers all rows and learns each target `delay` rows later. `between` is called with the stream
/// before each answer, and may replace it.
template <class Between>
std::vector<PendingRow> follow_rows(OnlineStream& stream, const std::vector<StreamRow>& rows,
                                    Between&& between) {
  std::vector<PendingRow> answers;
  std::deque<std::size_t> waiting;
  const std::size_t delay = stream.options().delay;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    while (waiting.size() > delay) {
      const std::size_t first = waiting.front();
      waiting.pop_front();
      if (std::isnan(rows[first].target)) {
        stream.pass();
      } else {
        stream.learn(answers[first], rows[first].features, rows[first].target);
      }
    }
    between(t);
    answers.push_back(stream.answer(rows[t].prediction, rows[t].features, waiting.size()));
    waiting.push_back(t);
  }
  return answers;
}

inline std::vector<PendingRow> follow_rows(OnlineStream& stream,
                                           const std::vector<StreamRow>& rows) {
  return follow_rows(stream, rows, [](std::size_t) {});
}

}  // namespace tare::online_testing
