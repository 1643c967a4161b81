// SPDX-License-Identifier: BSD-3-Clause
// Random problems on a device beside brute force in double precision: every answered level must be
// within 1e-5 of the level asked for, answers must be the same bits from run to run and whatever
// other queries are asked, and leave-one-out losses must agree. Exit code 77: no device.
//
//   cuda_exactness [--problems 1000] [--pairs 100000] [--seed 1] [--largest-rows 200000] [--library
//   PATH]

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "library.h"
#include "oracle.h"

namespace tare_cuda_test {
namespace {

const char* const kKernelNames[] = {"naive",    "epanechnikov", "triangular", "tricube",
                                    "gaussian", "laplace",      "knn"};
constexpr std::size_t kKernels = std::size(kKernelNames);
constexpr double kTolerance = 1e-5;

struct Settings {
  std::size_t problems = 1000;
  std::size_t pairs = 100'000;
  unsigned seed = 1;
  std::size_t largest_rows = 200'000;
  std::string library = "./libtare_cuda.so";
};

std::size_t log_uniform(std::mt19937_64& random, double low, double high) {
  std::uniform_real_distribution<double> exponent(std::log(low), std::log(high));
  return static_cast<std::size_t>(std::exp(exponent(random)));
}

Problem draw(std::mt19937_64& random, std::size_t largest_rows) {
  Problem problem;
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  problem.rows =
      std::max<std::size_t>(1, log_uniform(random, 1.0, static_cast<double>(largest_rows)));
  problem.dims = std::max<std::size_t>(1, log_uniform(random, 1.0, 65.0));
  problem.kernel = static_cast<int>(random() % kKernels);
  problem.expected = random() % 2 == 0;
  const std::size_t queries = log_uniform(random, 1.0, 3000.0);
  const double offset = random() % 4 == 0 ? 1000.0 : 0.0;  // which centring must take away
  const bool grid = random() % 5 == 0;                     // equal distances, and rows at the rim
  const auto feature = [&] {
    const double value = normal(random);
    return offset + (grid ? std::round(value) : value);
  };
  problem.columns.resize(problem.rows * problem.dims);
  std::generate(problem.columns.begin(), problem.columns.end(), feature);
  problem.queries.resize(queries * problem.dims);
  std::generate(problem.queries.begin(), problem.queries.end(), feature);
  if (random() % 3 == 0) {  // some queries are rows
    for (std::size_t q = 0; q < queries; q += 2) {
      const std::size_t row = random() % problem.rows;
      for (std::size_t j = 0; j < problem.dims; ++j) {
        problem.queries[q * problem.dims + j] = problem.columns[j * problem.rows + row];
      }
    }
  }
  problem.residuals.resize(problem.rows);
  const bool ties = random() % 3 == 0;
  for (double& u : problem.residuals) {
    u = normal(random);
    if (ties) u = std::round(5.0 * u) / 5.0;
  }
  std::sort(problem.residuals.begin(), problem.residuals.end());
  const auto weighting = random() % 4;
  if (weighting <= 1) {
    for (std::size_t i = 0; i < problem.rows; ++i) {
      problem.weights.push_back(weighting == 0 ? std::exp(normal(random))
                                               : 1.0 + static_cast<double>(random() % 5));
    }
  }
  // From windows of a few rows to windows of nearly all.
  const double spread = std::sqrt(2.0 * static_cast<double>(problem.dims));
  const double few =
      std::pow(static_cast<double>(problem.rows), -1.0 / static_cast<double>(problem.dims));
  problem.bandwidth = spread * std::max(few, 0.02) * (0.2 + 1.5 * uniform(random));
  if (grid) problem.bandwidth = std::max(1.0, std::round(problem.bandwidth));  // rows at the rim
  if (problem.kernel == kTareCudaKnn) {
    problem.bandwidth = static_cast<double>(std::max<std::size_t>(
        1, log_uniform(random, 1.0, 1.2 * static_cast<double>(problem.rows))));
  }
  const std::size_t levels = 1 + random() % 120;
  for (std::size_t j = 0; j < levels; ++j)
    problem.levels.push_back(0.001 + 0.998 * uniform(random));
  if (random() % 2 == 0) {
    problem.levels.clear();
    for (int j = 1; j < 20; ++j) problem.levels.push_back(0.05 * j);
  }
  std::sort(problem.levels.begin(), problem.levels.end());
  return problem;
}

struct Answers {
  std::vector<double> quantiles;
  std::vector<double> window_n;
  std::vector<double> nearest;
  std::vector<std::uint8_t> quality;

  bool operator==(const Answers& other) const {
    const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
    };
    return same(quantiles, other.quantiles) && same(window_n, other.window_n) &&
           same(nearest, other.nearest) && quality == other.quality;
  }
};

Answers ask(const TareCudaFunctions& cuda, TareCudaRows* rows, const Problem& problem,
            const std::vector<double>& queries) {
  const std::size_t count = queries.size() / problem.dims;
  Answers answers{std::vector<double>(count * problem.levels.size()), std::vector<double>(count),
                  std::vector<double>(count), std::vector<std::uint8_t>(count, 9)};
  TareCudaQuestion question{};
  question.queries = queries.data();
  question.count = count;
  question.kernel = problem.kernel;
  question.bandwidth = problem.bandwidth;
  question.levels = problem.levels.data();
  question.level_count = problem.levels.size();
  question.tie_tolerance = kTieTolerance;
  question.ranks = {problem.expected ? 1 : 0, 3, 3, 1e-12};
  question.nearest = 1;
  const TareCudaAnswer answer{answers.quantiles.data(), answers.window_n.data(),
                              answers.nearest.data(), answers.quality.data()};
  TareCudaText why{};
  if (cuda.answer(rows, &question, &answer, &why) != kTareCudaDone) {
    std::printf("the device failed: %s\n", why.text);
    std::exit(1);
  }
  // What is not answered is not filled either.
  for (std::size_t q = 0; q < count; ++q) {
    if (answers.quality[q] == kTareCudaAnswered) continue;
    std::fill_n(answers.quantiles.begin() + static_cast<std::ptrdiff_t>(q * problem.levels.size()),
                problem.levels.size(), 0.0);
    answers.window_n[q] = answers.nearest[q] = 0.0;
  }
  return answers;
}

struct Tally {
  std::size_t queries = 0;
  std::size_t answered = 0;
  std::size_t pairs = 0;
  std::size_t wrong = 0;
  std::size_t losses = 0;
  double worst = 0.0;
  double worst_size = 0.0;
  double worst_nearest = 0.0;
  double worst_loss = 0.0;
};

std::string where(const Problem& problem) {
  return "n " + std::to_string(problem.rows) + ", d " + std::to_string(problem.dims) + ", h " +
         std::to_string(problem.bandwidth) + ", " + kKernelNames[problem.kernel] +
         (problem.weights.empty() ? "" : ", weights") +
         (problem.expected ? ", expected" : ", paper");
}

void check_answers(const Problem& problem, const Answers& answers, std::mt19937_64& random,
                   std::size_t pairs, Tally& tally) {
  const std::size_t count = answers.quality.size();
  const std::size_t levels = problem.levels.size();
  tally.queries += count;
  tally.answered += static_cast<std::size_t>(
      std::count(answers.quality.begin(), answers.quality.end(), kTareCudaAnswered));
  for (std::size_t done = 0, tries = 0; done < pairs && tries < 20; ++tries) {
    const std::size_t q = random() % count;
    if (answers.quality[q] != kTareCudaAnswered) continue;
    const Window window(problem, problem.queries.data() + q * problem.dims, problem.rows);
    const double size_error = std::abs(answers.window_n[q] / window.size() - 1.0);
    tally.worst_size = std::max(tally.worst_size, size_error);
    const double nearest_error = std::abs(answers.nearest[q] - window.nearest()) / window.reach();
    tally.worst_nearest = std::max(tally.worst_nearest, nearest_error);
    for (std::size_t j = 0; j < levels && done < pairs; ++j, ++done) {
      const double answer = answers.quantiles[q * levels + j];
      const double size = std::max(1.0, std::rint(answers.window_n[q]));
      const double error = problem.expected ? window.expected_error(problem.levels[j], size, answer)
                                            : window.level_error(problem.levels[j], answer);
      ++tally.pairs;
      tally.worst = std::max(tally.worst, error);
      if (error > kTolerance) {
        if (++tally.wrong <= 20) {
          std::printf("off by %.2e: level %.4f, effective size %.2f, %s\n", error,
                      problem.levels[j], window.size(), where(problem).c_str());
        }
      }
      if (j > 0 && answer < answers.quantiles[q * levels + j - 1]) {
        ++tally.wrong;
        std::printf("quantiles cross: %s\n", where(problem).c_str());
      }
    }
  }
}

void check_losses(const TareCudaFunctions& cuda, TareCudaRows* rows, const Problem& problem,
                  std::mt19937_64& random, Tally& tally) {
  if (problem.kernel != kTareCudaGaussian && problem.kernel != kTareCudaLaplace) return;
  if (problem.rows < 2) return;
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < problem.rows && places.size() < 500; i += 1 + random() % 3) {
    places.push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<double> bandwidths;
  for (int b = 0; b < 11; ++b) bandwidths.push_back(problem.bandwidth * std::pow(1.4, b - 4));
  std::vector<double> losses(places.size() * bandwidths.size(), -1.0);
  TareCudaLosses asked{};
  asked.places = places.data();
  asked.count = places.size();
  asked.kernel = problem.kernel;
  asked.bandwidths = bandwidths.data();
  asked.bandwidth_count = bandwidths.size();
  asked.levels = problem.levels.data();
  asked.level_count = problem.levels.size();
  asked.tie_slack = 1e-12;
  asked.losses = losses.data();
  TareCudaText why{};
  if (cuda.losses(rows, &asked, &why) != kTareCudaDone) {
    std::printf("the device failed: %s\n", why.text);
    std::exit(1);
  }
  for (int k = 0; k < 10; ++k) {
    const std::size_t p = random() % places.size();
    const std::size_t b = random() % bandwidths.size();
    const double loss = losses[p * bandwidths.size() + b];
    if (std::isnan(loss)) continue;
    Problem at = problem;
    at.bandwidth = bandwidths[b];
    std::vector<double> query(problem.dims);
    for (std::size_t j = 0; j < problem.dims; ++j) {
      query[j] = problem.columns[j * problem.rows + places[p]];
    }
    const Window window(at, query.data(), places[p]);
    if (!(window.total() > 0.0)) continue;
    const double expected = window.loss(problem.residuals[places[p]], problem.levels);
    // One level of many may fall on the other side of a row, by a rounding: the loss is then off by
    // less than the gap to the next row, which a share of the range bounds for most windows.
    const double error = std::abs(loss - expected) / (1.0 + std::abs(expected));
    ++tally.losses;
    tally.worst_loss = std::max(tally.worst_loss, error);
    if (error > 0.02) {
      ++tally.wrong;
      std::printf("loss %g instead of %g: %s\n", loss, expected, where(at).c_str());
    }
  }
}

/// Queries that are the only row, or a hair from it: the window of the nearest row has no width, in
/// whatever company the query is asked.
std::size_t count_dependent_at_row(const TareCudaFunctions& cuda, bool expected) {
  Problem problem;
  problem.rows = 1;
  problem.dims = 11;
  problem.kernel = kTareCudaKnn;
  problem.expected = expected;
  problem.bandwidth = 1.0;
  problem.levels = {0.1, 0.5, 0.9};
  problem.columns.assign(problem.dims, 0.0);
  problem.residuals = {0.25};
  for (const double away : {0.0, 1e-25, 1e-20, 1e-15, 1e-14, 1e-13, 1e-6, 1.0}) {
    problem.queries.insert(problem.queries.end(), problem.dims, away);
  }
  const TareCudaSample sample = problem.sample();
  TareCudaText why{};
  TareCudaRows* rows = nullptr;
  if (cuda.upload(0, &sample, &rows, &why) != kTareCudaDone) {
    std::printf("the device failed: %s\n", why.text);
    std::exit(1);
  }
  const Answers together = ask(cuda, rows, problem, problem.queries);
  std::size_t dependent = 0;
  for (std::size_t q = 0; q < problem.query_count(); ++q) {
    const auto from = problem.queries.begin() + static_cast<std::ptrdiff_t>(q * problem.dims);
    const Answers alone =
        ask(cuda, rows, problem, {from, from + static_cast<std::ptrdiff_t>(problem.dims)});
    if (alone.quality[0] == together.quality[q] && alone.window_n[0] == together.window_n[q] &&
        alone.quantiles[0] == together.quantiles[q * problem.levels.size()]) {
      continue;
    }
    ++dependent;
    std::printf("another answer alone: query %zu near the only row\n", q);
  }
  cuda.release(rows);
  return dependent;
}

int run(const Settings& settings) {
  const TareCudaFunctions& cuda = load_cuda_library(settings.library.c_str());
  TareCudaText why{};
  if (cuda.devices(&why) == 0) {
    std::printf("skipped: %s\n", why.text);
    return 77;
  }
  std::map<int, Tally> tallies;
  std::mt19937_64 random(settings.seed);
  std::size_t unstable = count_dependent_at_row(cuda, true) + count_dependent_at_row(cuda, false);
  for (std::size_t p = 0; p < settings.problems; ++p) {
    const Problem problem = draw(random, settings.largest_rows);
    Tally& tally = tallies[problem.kernel];
    const TareCudaSample sample = problem.sample();
    TareCudaRows* rows = nullptr;
    if (cuda.upload(0, &sample, &rows, &why) != kTareCudaDone) {
      std::printf("the device failed: %s\n", why.text);
      return 1;
    }
    const Answers answers = ask(cuda, rows, problem, problem.queries);
    check_answers(problem, answers, random, settings.pairs / settings.problems + 1, tally);
    if (!(ask(cuda, rows, problem, problem.queries) == answers)) {
      ++unstable;
      std::printf("not the same bits: %s\n", where(problem).c_str());
    }
    // One query alone.
    const std::size_t q = random() % problem.query_count();
    const auto from = problem.queries.begin() + static_cast<std::ptrdiff_t>(q * problem.dims);
    const Answers alone =
        ask(cuda, rows, problem, {from, from + static_cast<std::ptrdiff_t>(problem.dims)});
    if (alone.window_n[0] != answers.window_n[q] ||
        !std::equal(
            alone.quantiles.begin(), alone.quantiles.end(),
            answers.quantiles.begin() + static_cast<std::ptrdiff_t>(q * problem.levels.size()))) {
      ++unstable;
      std::printf("another answer alone: %s\n", where(problem).c_str());
    }
    check_losses(cuda, rows, problem, random, tally);
    cuda.release(rows);
  }
  std::size_t wrong = unstable;
  for (const auto& [kernel, tally] : tallies) {
    std::printf(
        "%-12s %7zu queries, %5.1f %% answered, %7zu levels, worst %.1e, size %.1e, nearest %.1e, "
        "%zu losses, worst %.1e, %zu wrong\n",
        kKernelNames[kernel], tally.queries,
        100.0 * static_cast<double>(tally.answered) / static_cast<double>(tally.queries),
        tally.pairs, tally.worst, tally.worst_size, tally.worst_nearest, tally.losses,
        tally.worst_loss, tally.wrong);
    wrong += tally.wrong;
  }
  std::printf("%zu problems, %zu wrong\n", settings.problems, wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tare_cuda_test

int main(int count, char** arguments) {
  tare_cuda_test::Settings settings;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    const auto value = static_cast<std::size_t>(std::strtoull(arguments[i + 1], nullptr, 10));
    if (name == "--library") settings.library = arguments[i + 1];
    if (name == "--problems") settings.problems = value;
    if (name == "--pairs") settings.pairs = value;
    if (name == "--seed") settings.seed = static_cast<unsigned>(value);
    if (name == "--largest-rows") settings.largest_rows = value;
  }
  return tare_cuda_test::run(settings);
}
