// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/study/band_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "base/stages.h"
#include "evaluate/experiment/plan.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/reliability.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr double kNormalBand = 1.6448536269514722;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The study's rows of a problem, the queries, and the true quantiles there.
struct BandProblem {
  const Problem& problem;
  Matrix queries;
  Matrix truth;

  BandProblem(const std::string& name, const BandStudy& study)
      : problem(find_problem(name)),
        queries(draw(problem, study.queries, split(study.seed, 1)).x),
        truth(study.queries, band_study_levels().size()) {
    for (std::size_t i = 0; i < truth.rows(); ++i) {
      const Law law = problem.law(queries.row(i));
      for (std::size_t j = 0; j < truth.cols(); ++j) {
        truth(i, j) = law.quantile(band_study_levels()[j].value());
      }
    }
  }
};

Params params_of(const std::string& method, const BandStudy& study) {
  Params params;
  if (method == "auto") params.set("budget", "quick");
  params.merge(study.params);
  return params;
}

std::unique_ptr<QuantileModel> fit_draw(const std::string& method, const BandProblem& ground,
                                        std::size_t rows, const Params& params, Seed seed,
                                        const Execution& how) {
  const Sample sample = draw(ground.problem, rows, split(seed, 0));
  FitInput input;
  input.x = sample.x;
  input.y = sample.y;
  input.seed = split(seed, 1);
  return fit_method(find_method(method), input, params, how);
}

/// Fits on fresh data, the first of them with bands.
std::vector<Prediction> fit_draws(const std::string& method, const BandProblem& ground,
                                  std::size_t rows, const BandStudy& study, const Execution& how) {
  std::vector<Prediction> answers(study.draws);
  parallel_for(how, study.draws, [&](std::size_t r) {
    Execution one = one_thread();
    one.stop = how.stop;
    Params params = params_of(method, study);
    if (r < study.fits) params.set("bands", "on");
    const auto model = fit_draw(method, ground, rows, params, split(study.seed, 100 + r), one);
    answers[r] = predict_with_reliability(*model, {ground.queries}, band_study_levels(), one);
  });
  return answers;
}

/// The root mean square error of the answers at each query and level.
Matrix real_error(std::span<const Prediction> answers, const Matrix& truth) {
  Matrix error(truth.rows(), truth.cols());
  for (const Prediction& answer : answers) {
    for (std::size_t k = 0; k < error.values().size(); ++k) {
      const double miss = answer.quantiles.values()[k] - truth.values()[k];
      error.values()[k] += miss * miss / static_cast<double>(answers.size());
    }
  }
  for (double& value : error.values()) value = std::sqrt(value);
  return error;
}

/// The bands of one fit at level j against the truth and the real error.
struct BandLook {
  double held = 0.0;
  double width = 1.0;

  BandLook(const Prediction& answer, const Matrix& truth, const Matrix& error, std::size_t j) {
    std::vector<double> widths;
    for (std::size_t i = 0; i < truth.rows(); ++i) {
      const double low = answer.band_low(i, j);
      const double high = answer.band_high(i, j);
      if (low <= truth(i, j) && truth(i, j) <= high) held += 1.0;
      // At a mass that every fit finds there is no error to compare with.
      const double real = 2.0 * kNormalBand * error(i, j);
      if (real > 0.0) widths.push_back((high - low) / real);
    }
    held /= static_cast<double>(truth.rows());
    if (!widths.empty()) width = median_of(widths);
  }
};

std::vector<MetricValue> run_cell(const std::string& method, const std::string& problem,
                                  std::size_t rows, const BandStudy& study, const Execution& how) {
  const BandProblem ground(problem, study);
  const std::vector<Prediction> answers = fit_draws(method, ground, rows, study, how);
  const Matrix error = real_error(answers, ground.truth);
  std::vector<const Prediction*> banded;
  for (std::size_t r = 0; r < std::min(study.fits, study.draws); ++r) {
    if (!answers[r].effective_n.empty()) banded.push_back(&answers[r]);
  }
  const auto fits = static_cast<double>(banded.size());
  std::vector<MetricValue> values = {{"fits_with_bands", fits}};
  if (banded.empty()) return values;
  for (std::size_t j = 0; j < band_study_levels().size(); ++j) {
    double held = 0.0;
    double width = 0.0;
    for (const Prediction* answer : banded) {
      const BandLook look(*answer, ground.truth, error, j);
      held += look.held / fits;
      width += look.width / fits;
    }
    const double tau = band_study_levels()[j].value();
    values.push_back({fmt::format("held_{}", tau), held});
    values.push_back({fmt::format("width_{}", tau), width});
  }
  double effective = 0.0;
  for (const Prediction* answer : banded) effective += median_of(answer->effective_n) / fits;
  values.push_back({"effective_n", effective});
  return values;
}

BandCell cell_of(const TrialKey& key, std::size_t rows, const std::string& problem,
                 const TrialResult& result) {
  BandCell cell{key.method, problem, rows, {}, {}, 0.0};
  for (const MetricValue& one : result.values) {
    if (one.metric.starts_with("held_")) cell.held.push_back(one.value);
    if (one.metric.starts_with("width_")) cell.width.push_back(one.value);
    if (one.metric == "effective_n") cell.effective_n = one.value;
  }
  return cell;
}

}  // namespace

BandStudy BandStudy::standard() {
  BandStudy study;
  for (const ExperimentCase& one : built_in_plan("oracle").cases) {
    if (std::ranges::find(study.problems, one.problem) == study.problems.end()) {
      study.problems.push_back(one.problem);
    }
  }
  return study;
}

std::span<const Level> band_study_levels() {
  static const std::vector<Level> kLevels = {Level{0.05}, Level{0.25}, Level{0.5}, Level{0.75},
                                             Level{0.95}};
  return kLevels;
}

std::vector<BandCell> run_band_study(const BandStudy& study, ResultFile& results,
                                     const Execution& how) {
  const std::size_t cells = study.methods.size() * study.problems.size() * study.rows.size();
  std::vector<BandCell> done;
  for (const std::string& method : study.methods) {
    for (const std::size_t rows : study.rows) {
      for (const std::string& problem : study.problems) {
        Params params = params_of(method, study);
        const TrialKey key{
            "bands", fmt::format("{}_n{}", problem, rows),
            method,  fmt::format("{} draws={} fits={}", params.text(), study.draws, study.fits),
            0,       study.seed.value};
        if (how.progress) {
          how.progress(fmt::format("{} on {}", method, key.case_name),
                       static_cast<double>(done.size()) / static_cast<double>(cells));
        }
        auto known = results.results().find(key);
        if (known == results.results().end()) {
          const auto start = std::chrono::steady_clock::now();
          TrialResult result;
          result.values = run_cell(method, problem, rows, study, quietly(how));
          const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
          result.seconds = took.count();
          results.add(key, result);
          known = results.results().find(key);
        }
        done.push_back(cell_of(key, rows, problem, known->second));
      }
    }
  }
  return done;
}

}  // namespace tare
