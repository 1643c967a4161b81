// SPDX-License-Identifier: BSD-3-Clause
// What a step of `snq` costs: an answer and the learning of its target, with a full window. Prints
// a Markdown table of the whole step and of its parts, on one thread.
//
//   online_step [ROWS [FEATURES [STEPS]]]     10000 4 5000
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "online/methods/method_table.h"
#include "online/snq/discounted_regression.h"
#include "online/snq/local_rows.h"
#include "online/snq/members.h"
#include "tare/base/rng.h"

namespace {

using namespace tare;

/// Of this thread in seconds: other programs do not count.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double microseconds(const std::function<void()>& work) {
  const double start = processor_time();
  work();
  return 1e6 * (processor_time() - start);
}

void print_times(const std::string& what, std::vector<double> times) {
  double sum = 0.0;
  for (const double t : times) sum += t;
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} | {:.0f} |\n", what,
             sum / static_cast<double>(times.size()), at(0.5), at(0.99), times.back());
}

struct Row {
  double prediction, target;
  std::vector<double> x;
};

/// Errors with a size that a feature and the hour tell, and that depend on the last one.
class Source {
 public:
  explicit Source(std::size_t features) : features_(features) {}

  Row next() {
    Row row{rng_.normal(), 0.0, {}};
    for (std::size_t j = 0; j < features_; ++j) row.x.push_back(rng_.normal());
    const double hour = time_++ % 24 < 8 ? 0.5 : 1.5;
    const double size = hour * std::exp(features_ > 0 ? 0.4 * row.x[0] : 0.0);
    last_ = 0.5 * last_ + size * rng_.normal();
    row.target = row.prediction + last_;
    return row;
  }

 private:
  Rng rng_{Seed{1}};
  std::size_t features_;
  std::size_t time_ = 0;
  double last_ = 0.0;
};

void time_method(std::size_t rows, std::size_t features, std::size_t steps) {
  OnlineSetup setup;
  for (const double level : {0.05, 0.5, 0.95}) setup.levels.emplace_back(level);
  setup.features = features;
  setup.params.set("window", std::to_string(rows));
  const auto method = find_online_method("snq").make(setup);
  Source source(features);
  OnlineAnswer answer;
  std::vector<double> whole;
  std::vector<double> answers;
  std::vector<double> learns;
  for (std::size_t t = 0; t < rows + steps; ++t) {
    const Row row = source.next();
    const OnlineRow known{t, row.prediction, row.x};
    const double a = microseconds([&] { method->answer(known, answer); });
    const double l = microseconds([&] { method->learn(known, answer, row.target); });
    if (t < rows) continue;
    whole.push_back(a + l);
    answers.push_back(a);
    learns.push_back(l);
  }
  print_times("answer and learn", whole);
  print_times("answer", answers);
  print_times("learn, with the choices of a structure", learns);
  // A choice goes through all rows again: those few steps are a thousand times longer.
  std::sort(learns.begin(), learns.end());
  const double usual = learns[learns.size() / 2];
  std::vector<double> between;
  double choices = 0.0;
  for (const double l : learns) {
    if (l > 100.0 * usual) {
      choices += l;
    } else {
      between.push_back(l);
    }
  }
  fmt::print("| choices of a structure, {} of them, for each step | {:.1f} | | | |\n",
             learns.size() - between.size(), choices / static_cast<double>(learns.size()));
  print_times("learn, without them", between);
}

void time_parts(std::size_t rows, std::size_t steps) {
  Rng rng(Seed{2});
  const auto point = [&] {
    KernelPoint p;
    for (float& x : p) x = static_cast<float>(rng.normal());
    return p;
  };
  LocalRows local(rows);
  for (std::size_t t = 0; t < rows; ++t) local.add(t, rng.normal(), point());
  Members members({Level(0.05), Level(0.5), Level(0.95)});
  LocalRows::Weights weights;
  std::vector<double> asked(Members::kCount * 3);
  std::vector<double> average(3);
  constexpr std::size_t kRegressors = 20;
  DiscountedRegression slow(kRegressors, 2, 0.9998, 3.0);
  DiscountedRegression fast(kRegressors, 1, 0.997, 3.0);
  std::vector<double> weigh;
  std::vector<double> ask;
  std::vector<double> mean;
  std::vector<double> learn;
  std::vector<double> add;
  std::vector<double> regression;
  for (std::size_t t = 0; t < steps; ++t) {
    const KernelPoint at = point();
    const double residual = rng.normal();
    std::vector<double> x(kRegressors);
    for (double& v : x) v = rng.normal();
    const std::vector<double> y = {residual, std::abs(residual)};
    weigh.push_back(microseconds([&] { local.weigh(at, weights); }));
    ask.push_back(microseconds([&] { members.ask(local, weights, asked); }));
    mean.push_back(microseconds([&] { members.average(asked, average); }));
    learn.push_back(microseconds([&] { members.learn(asked, residual, 1.0); }));
    add.push_back(microseconds([&] { local.add(rows + t, residual, at); }));
    regression.push_back(microseconds([&] {
      slow.learn(x, y, 1.0);
      fast.learn(x, std::span(y).first(1), 1.0);
    }));
  }
  print_times("part of an answer: weights of all rows", weigh);
  print_times("part of an answer: quantiles of 36 members", ask);
  print_times("part of an answer: their average", mean);
  print_times("part of learning: members", learn);
  print_times("part of learning: a row added, one forgotten", add);
  print_times("part of learning: both regressions, 20 regressors", regression);
}

std::size_t argument(int count, char** values, int at, std::size_t fallback) {
  return count > at ? static_cast<std::size_t>(std::strtoull(values[at], nullptr, 10)) : fallback;
}

}  // namespace

int main(int count, char** values) {
  const std::size_t rows = argument(count, values, 1, 10'000);
  const std::size_t features = argument(count, values, 2, 4);
  const std::size_t steps = argument(count, values, 3, 5'000);
  fmt::print(
      "{} trailing rows, {} features, 3 levels, {} steps; microseconds of processor time\n\n", rows,
      features, steps);
  fmt::print("| | mean | median | 99th percentile | longest |\n|---|---:|---:|---:|---:|\n");
  time_method(rows, features, steps);
  time_parts(rows, steps);
}
