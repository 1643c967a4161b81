// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "online/methods/method_table.h"
#include "tare/base/rng.h"

namespace tare::online_testing {

/// A stream with predictions.
struct Stream {
  std::string name;
  std::vector<double> prediction, target;

  double error(std::size_t row) const { return target[row] - prediction[row]; }
  std::size_t rows() const { return target.size(); }
};

template <class Error>
Stream stream_of(std::string name, std::size_t rows, Rng& rng, Error&& error) {
  Stream stream{std::move(name), {}, {}};
  for (std::size_t t = 0; t < rows; ++t) {
    // Predictions are eighths and errors of the tied streams halves: their sums are exact.
    stream.prediction.push_back(std::round(8.0 * rng.normal()) / 8.0);
    stream.target.push_back(stream.prediction.back() + error(t));
  }
  return stream;
}

/// Continuous, tied, shifting, biased, heavy-tailed, constant and zero errors.
inline std::vector<Stream> streams(std::size_t rows, std::uint64_t seed) {
  Rng rng{Seed{seed}};
  const auto normal = [&](std::size_t) { return rng.normal(); };
  return {
      stream_of("normal", rows, rng, normal),
      stream_of("tied", rows, rng,
                [&](std::size_t) { return std::round(2.0 * rng.normal()) / 2.0; }),
      stream_of("shift", rows, rng,
                [&](std::size_t t) { return (t < rows / 2 ? 1.0 : 10.0) * rng.normal(); }),
      stream_of("biased", rows, rng, [&](std::size_t) { return 3.0 + rng.normal(); }),
      stream_of("heavy", rows, rng, [&](std::size_t) { return rng.normal() / rng.normal(); }),
      stream_of("constant", rows, rng, [](std::size_t) { return -2.5; }),
      stream_of("zero", rows, rng, [](std::size_t) { return 0.0; }),
      stream_of("steps", rows, rng, [](std::size_t t) { return t / 40 % 2 == 0 ? 1.0 : 4.0; }),
  };
}

inline OnlineSetup setup(const std::vector<double>& levels, const std::string& options = {}) {
  OnlineSetup result;
  for (const double level : levels) result.levels.emplace_back(level);
  result.params = Params::parse(options);
  return result;
}

/// The answers to all rows, each target learned `delay` rows later.
inline std::vector<OnlineAnswer> run(OnlineMethod& method, const Stream& stream,
                                     std::size_t delay = 0) {
  std::vector<OnlineAnswer> answers(stream.rows());
  for (std::size_t t = 0; t < stream.rows(); ++t) {
    method.answer({t, stream.prediction[t], {}}, answers[t]);
    if (t < delay) continue;
    const std::size_t known = t - delay;
    method.learn({known, stream.prediction[known], {}}, answers[known], stream.target[known]);
  }
  return answers;
}

/// Every method with the options that change its rule.
struct Configuration {
  std::string method, options;
};

inline std::vector<Configuration> configurations() {
  std::vector<Configuration> all;
  for (const char* scores : {" scores=absolute", " scores=signed"}) {
    const auto add = [&](const char* method, const std::string& options) {
      all.push_back({method, options + scores});
    };
    add("aci", "step=0.05 window=60");
    add("aci", "");
    add("dtaci", "window=60 interval=100");
    add("dtaci", "");
    add("tracker", "step=0.1 window=40");
    add("tracker", "step=1");
    add("pid", "step=0.1 window=40");
    add("pid", "step=0 window=20 saturation=0.2");
    add("pid", "saturation=5 gain=10");
    for (const char* variant : {"eci", "cutoff", "integral"}) {
      add("eci", std::string("window=40 variant=") + variant);
      add("eci", std::string("step=0.5 feedback=kept variant=") + variant);
    }
  }
  for (const char* method : {"enbpi", "trailing"}) {
    all.push_back({method, "window=7"});
    all.push_back({method, "window=80"});
    all.push_back({method, ""});
  }
  return all;
}

}  // namespace tare::online_testing
