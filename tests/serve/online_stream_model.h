// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "io/csv.h"
#include "io/files/byte_source.h"
#include "tare/apply/track.h"
#include "tare/calibrate/model_file.h"

namespace tare::serve {

/// A row of a stream: two features, a prediction, and a target that differs from it.
struct StreamRow {
  double a = 0.0;
  double b = 0.0;
  double p = 0.0;
  double y = 0.0;
};

/// Row i of the stream: numbers that look random, and the same in every test.
inline StreamRow stream_row(std::uint64_t i) {
  const auto draw = [&](std::uint64_t salt) {
    std::uint64_t z = (i * 4 + salt + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<double>((z ^ (z >> 31)) >> 40) / static_cast<double>(1 << 24);
  };
  StreamRow row{.a = draw(0), .b = draw(1)};
  row.p = 3.0 * row.a - row.b;
  row.y = row.p + (0.2 + row.a) * (draw(2) + draw(3) - 1.0);
  return row;
}

inline std::string stream_csv(std::uint64_t first, std::uint64_t count) {
  std::string text = "a,b,p,y\n";
  for (std::uint64_t i = first; i < first + count; ++i) {
    const StreamRow row = stream_row(i);
    text += fmt::format("{},{},{},{}\n", row.a, row.b, row.p, row.y);
  }
  return text;
}

/// An online model on the column p that has followed the first `rows` rows.
inline FittedModel stream_model(std::uint64_t rows = 60, std::uint64_t seed = 0) {
  CsvReader reader(bytes_in_memory("stream", stream_csv(0, rows)));
  const Table table = read_all(reader);
  TrackOptions options;
  options.target = "y";
  options.prediction = "p";
  options.intervals = {0.8, 0.9};
  options.start = 20;
  options.seed = Seed{seed};
  return track(table, options).model;
}

}  // namespace tare::serve
