// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/snq_online.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

#include "base/fail.h"
#include "base/strings.h"
#include "online/coverage_keeper.h"
#include "online/snq/history.h"
#include "online/snq/local_rows.h"
#include "online/snq/members.h"
#include "online/snq/recentering.h"
#include "online/snq/snq_note.h"
#include "online/snq/structure.h"

namespace tare {
namespace {

/// Rows before the first choice of a structure; until then only the last errors explain.
constexpr std::size_t kFirstChoice = 30;
constexpr double kVolatilityKeep = 0.8;

std::vector<std::size_t> parse_lags(const std::string& text, std::size_t delay,
                                    std::size_t window) {
  std::vector<std::size_t> lags;
  for (const std::string& part : split_text(text, ',')) {
    const std::optional<std::uint64_t> lag = parse_count(part);
    if (!lag || *lag <= delay || *lag > window) {
      fail_option("lags", text,
                  fmt::format("must be auto or whole numbers from {} (the delay and one) to {} "
                              "(the window), separated by commas",
                              delay + 1, window));
    }
    lags.push_back(*lag);
  }
  std::sort(lags.begin(), lags.end());
  lags.erase(std::unique(lags.begin(), lags.end()), lags.end());
  if (lags.size() > kMostGivenLags) {
    fail_option("lags", std::to_string(lags.size()) + " lags",
                fmt::format("must be at most {} numbers", kMostGivenLags));
  }
  return lags;
}

std::size_t window_of(const OnlineSetup& setup) {
  return setup.params.count("window", 5'000, 50, 1'000'000);
}

StructureOptions structure_options(const OnlineSetup& setup) {
  const std::size_t window = window_of(setup);
  StructureOptions options;
  options.delay = setup.delay;
  const std::string lags = setup.params.text("lags", "auto");
  if (lags != "auto") options.lags = parse_lags(lags, setup.delay, window);
  const std::string period = setup.params.text("period", "auto");
  if (period == "none") {
    options.period = 0;
  } else if (period != "auto") {
    options.period = setup.params.count("period", 0, 2, window);
  }
  return options;
}

class SnqOnline final : public OnlineMethod {
 public:
  explicit SnqOnline(const OnlineSetup& setup)
      : levels_(setup.levels),
        start_(setup.start),
        options_(structure_options(setup)),
        history_(window_of(setup), setup.features),
        left_(window_of(setup)),
        rows_(window_of(setup)),
        members_(setup.levels),
        keeper_(setup.levels) {
    structure_.lags = options_.lags ? *options_.lags : std::vector<std::size_t>{};
    structure_.center = {0.0};
    structure_.unit = {1.0};
    recentering_.emplace(structure_.regressors());
  }

  void answer(const OnlineRow& row, OnlineAnswer& out) const override {
    out.quantiles.resize(levels_.size());
    look(row, out.note);
    const SnqNote note(out.note, levels_.size());
    keeper_.answer(note.base(), note.v[SnqNote::kSpread], out.quantiles);
  }

  void learn(const OnlineRow& row, const OnlineAnswer& given, double target) override {
    check_learned(row, given, target);
    const double error = in_reach(target - row.prediction);
    std::vector<double>& seen = seen_;
    seen = given.note;
    if (row.time >= start_) {
      const SnqNote note(seen, levels_.size());
      keeper_.learn(note.base(), note.v[SnqNote::kSpread], given.quantiles, target,
                    history_.learned() - static_cast<std::uint64_t>(note.v[SnqNote::kLearned]));
    }
    // The structure was chosen anew since the row was answered: it is learned as it looks now.
    if (seen[SnqNote::kStructure] != static_cast<double>(choices_)) look(row, seen);
    history_.learn(row.time, row.prediction, row.features, error);
    learn_error(row.time, SnqNote(seen, levels_.size()), error);
    if (history_.learned() >= next_choice_) choose();
  }

  bool is_ready() const override { return rows_.size() >= kFewestKnownTargets; }
  double bound(std::size_t j) const override { return keeper_.bound(j); }

  double effective_rows(const OnlineRow& row) const override {
    if (rows_.size() < 2) return static_cast<double>(rows_.size());
    std::vector<double> values;
    look(row, values);
    LocalRows::Weights& weights = scratch();
    rows_.weigh(SnqNote(values, levels_.size()).point(), weights);
    return rows_.effective_rows(weights, members_.best_window());
  }

  void save(const TensorWriter& out) const override {
    history_.save(out.part("history"));
    structure_.save(out.part("structure"));
    recentering_->save(out.part("recentering"));
    rows_.save(out.part("rows"));
    members_.save(out.part("members"));
    keeper_.save(out.part("keeper"));
    out.tensor("left", left_);
    out.value("choices", choices_);
    out.value("next_choice", next_choice_);
    out.tensor("sizes", std::vector<double>{unit_, volatility_, volatility_count_});
  }

  void load(const TensorReader& in) {
    constexpr std::size_t kMostRows = std::size_t{1} << 53;
    history_.load(in.part("history"));
    structure_ = Structure::load(in.part("structure"), history_.columns(), options_.delay);
    recentering_.emplace(structure_.regressors());
    recentering_->load(in.part("recentering"));
    rows_.clear(dims());
    rows_.load(in.part("rows"));
    members_.load(in.part("members"));
    keeper_.load(in.part("keeper"));
    left_ = in.values<double>("left", {left_.size()}, Must::kBeFinite);
    choices_ = in.count("choices", kMostRows);
    next_choice_ = in.count("next_choice", kMostRows);
    const auto sizes = in.values<double>("sizes", {3}, Must::kNotBeNegative);
    if (*std::max_element(sizes.begin(), sizes.end()) > 10.0 * kFarthestError) {
      fail(ErrorCode::kCorruptFile, "the state has errors that are too large");
    }
    unit_ = sizes[0];
    volatility_ = sizes[1];
    volatility_count_ = sizes[2];
  }

 private:
  /// Errors and what is left of them, cut so that sums over rows are finite.
  static double in_reach(double value) {
    return std::clamp(value, -kFarthestError, kFarthestError);
  }

  void check_learned(const OnlineRow& row, const OnlineAnswer& given, double target) const {
    if (!std::isfinite(target) || !std::isfinite(row.prediction)) {
      fail(ErrorCode::kBadData,
           "row {} cannot be learned: its target is {} and its prediction is {}, and both must be "
           "finite",
           row.time, target, row.prediction);
    }
    const std::vector<double>& note = given.note;
    const bool has_all = given.quantiles.size() == levels_.size() &&
                         row.features.size() == history_.columns() &&
                         note.size() >= SnqNote::size(levels_.size(), 0);
    const bool fits =
        has_all &&
        (note[SnqNote::kStructure] != static_cast<double>(choices_) ||
         note.size() == SnqNote::size(levels_.size(), structure_.regressors())) &&
        note[SnqNote::kLearned] >= 0.0 &&
        note[SnqNote::kLearned] <= static_cast<double>(history_.learned()) &&
        note[SnqNote::kSpread] > 0.0 &&
        std::all_of(note.begin(), note.end(), [](double v) { return std::isfinite(v); });
    if (!fits) {
      fail(ErrorCode::kInvalidArgument,
           "row {} cannot be learned: its answer is not one of this method", row.time);
    }
  }

  /// Fills a note: everything about a row that its answer needs.
  void look(const OnlineRow& row, std::vector<double>& values) const {
    values.assign(SnqNote::size(levels_.size(), structure_.regressors()), 0.0);
    const SnqNote note(values, levels_.size());
    note.v[SnqNote::kStructure] = static_cast<double>(choices_);
    note.v[SnqNote::kLearned] = static_cast<double>(history_.learned());
    structure_.fill(history_, row.time, row.prediction, row.features, note.regressors());
    const Recentering::Correction c =
        recentering_->correct(note.regressors(), structure_.error_unit);
    note.set(c);
    const KernelPoint point = point_of(row.time, c.size);
    note.set(point);
    const double center = as_finite(row.prediction + c.center);
    if (!is_ready()) {
      std::fill(note.base().begin(), note.base().end(), center);
      note.v[SnqNote::kSpread] = spread(0.0, c.size);
      return;
    }
    LocalRows::Weights& weights = scratch();
    rows_.weigh(point, weights);
    members_.ask(rows_, weights, note.asked());
    members_.average(note.asked(), note.base());
    const double width = note.base().back() - note.base().front();
    for (double& q : note.base()) q = as_finite(q + center);
    note.v[SnqNote::kSpread] = spread(width, c.size);
  }

  /// One for each thread: several may ask at once.
  static LocalRows::Weights& scratch() {
    thread_local LocalRows::Weights weights;
    return weights;
  }

  /// The unit in which answers are moved: half of the distance between the outermost quantiles.
  static double spread(double width, double size) {
    return std::max({0.5 * width, 1e-3 * size, 1e-100});
  }

  static double as_finite(double value) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    return std::clamp(value, -kLargest, kLargest);
  }

  std::size_t dims() const { return structure_.period > 0 ? kKernelDims : kDimsWithoutSeason; }

  KernelPoint point_of(std::uint64_t time, double size) const {
    const double unit = unit_ > 0.0 ? unit_ : 1.0;
    const auto past = [&](std::size_t lag) {
      return lag <= time && history_.knows(time - lag) ? left_[(time - lag) % left_.size()] / unit
                                                       : 0.0;
    };
    const double volatility = volatility_count_ > 0.0 ? volatility_ / volatility_count_ : unit;
    std::array<double, kKernelDims> point = {};
    point[0] = 2.0 * std::log(std::max(size / unit, 1e-3));
    point[1] = 2.0 * std::log(std::max(volatility / unit, 1e-3));
    point[2] = past(options_.delay + 1);
    point[3] = past(options_.delay + 2);
    if (structure_.period > 0) {
      const std::size_t period = structure_.period;
      const std::size_t seasons = (options_.delay + period) / period;
      point[4] = std::abs(past(seasons * period));
      const double turn =
          2.0 * std::numbers::pi * static_cast<double>(time % period) / static_cast<double>(period);
      point[5] = std::cos(turn);
      point[6] = std::sin(turn);
    }
    KernelPoint out;
    for (std::size_t j = 0; j < kKernelDims; ++j) {
      out[j] = static_cast<float>(std::clamp(point[j], -10.0, 10.0));
    }
    return out;
  }

  void learn_error(std::uint64_t time, const SnqNote& note, double error) {
    const Recentering::Correction c = note.correction();
    const double left = in_reach(error - c.center);
    if (is_ready()) members_.learn(note.asked(), left, std::max(usual(), 1e-300));
    add_row(time, note, c, error);
  }

  void add_row(std::uint64_t time, const SnqNote& note, const Recentering::Correction& c,
               double error) {
    const double left = in_reach(error - c.center);
    // Rows before the longest lag have no value for it, and would teach the others a wrong weight.
    if (structure_.lags.empty() || time >= structure_.lags.back()) {
      recentering_->learn(note.regressors(), c, error, structure_.error_unit);
    }
    left_[time % left_.size()] = left;
    volatility_ = kVolatilityKeep * volatility_ + std::abs(left);
    volatility_count_ = kVolatilityKeep * volatility_count_ + 1.0;
    rows_.add(time, left, note.point());
  }

  double usual() const { return unit_ > 0.0 ? unit_ : structure_.error_unit; }

  /// Chooses regressors anew and goes through the known rows again with them, as if they came one
  /// by one. Levels and weights of the members, and what keeps the coverage, go on as they are.
  void choose() {
    const auto learned = static_cast<double>(history_.learned());
    const auto rows = static_cast<double>(history_.capacity());
    next_choice_ =
        static_cast<std::uint64_t>(learned + std::max(15.0, 0.25 * std::min(learned, rows)));
    structure_ = choose_structure(history_, options_);
    ++choices_;
    recentering_.emplace(structure_.regressors());
    rows_.clear(dims());
    // Units come from the rows themselves: once to see the residuals, and once with their size.
    unit_ = structure_.error_unit;
    replay(Add::kNothing);
    double sum = 0.0;
    double count = 0.0;
    for (std::uint64_t t = history_.begin(); t < history_.end(); ++t) {
      if (!history_.knows(t)) continue;
      sum += std::abs(left_[t % left_.size()]);
      count += 1.0;
    }
    if (sum > 0.0) unit_ = sum / count;
    recentering_.emplace(structure_.regressors());
    replay(Add::kRows);
  }

  enum class Add { kNothing, kRows };
  void replay(Add add) {
    volatility_ = 0.0;
    volatility_count_ = 0.0;
    std::deque<std::pair<std::uint64_t, std::vector<double>>> waiting;
    const auto learn_first = [&] {
      const auto& [time, values] = waiting.front();
      std::vector<double> copy = values;
      const SnqNote note(copy, levels_.size());
      add_row(time, note, note.correction(), in_reach(history_.error(time)));
      if (add == Add::kNothing) rows_.clear(dims());
      waiting.pop_front();
    };
    for (std::uint64_t t = history_.begin(); t < history_.end(); ++t) {
      if (!history_.knows(t)) continue;
      while (!waiting.empty() && waiting.front().first + options_.delay < t) learn_first();
      std::vector<double> values(SnqNote::size(levels_.size(), structure_.regressors()));
      const SnqNote note(values, levels_.size());
      structure_.fill(history_, t, history_.prediction(t), history_.row(t), note.regressors());
      const Recentering::Correction c =
          recentering_->correct(note.regressors(), structure_.error_unit);
      note.set(c);
      note.set(point_of(t, c.size));
      waiting.emplace_back(t, std::move(values));
    }
    while (!waiting.empty()) learn_first();
  }

  std::vector<Level> levels_;
  std::uint64_t start_;
  StructureOptions options_;
  History history_;
  std::vector<double> left_;  // error minus center, at the place of its time
  Structure structure_;
  std::optional<Recentering> recentering_;
  LocalRows rows_;
  Members members_;
  CoverageKeeper keeper_;
  double unit_ = 0.0;  // size of a usual residual; 0: no structure was chosen yet
  double volatility_ = 0.0;
  double volatility_count_ = 0.0;
  std::vector<double> seen_;  // memory for learn()
  std::uint64_t choices_ = 0;
  std::uint64_t next_choice_ = kFirstChoice;
};

constexpr std::array<ParamInfo, 3> kSnqOnlineOptions = {{
    {"window", "5000", "trailing rows that are kept"},
    {"lags", "auto", "past errors that explain the next: auto, or numbers of rows with commas"},
    {"period", "auto", "rows of a season: auto, none, or a number"},
}};

void check_snq_setup(const OnlineSetup& setup) {
  const std::array<std::span<const ParamInfo>, 1> known = {kSnqOnlineOptions};
  setup.params.check_known("snq", known);
  if (setup.levels.empty()) {
    fail(ErrorCode::kInvalidArgument, "snq needs at least one quantile level");
  }
}

std::unique_ptr<OnlineMethod> make_snq_online(const OnlineSetup& setup) {
  check_snq_setup(setup);
  return std::make_unique<SnqOnline>(setup);
}

std::unique_ptr<OnlineMethod> load_snq_online(const OnlineSetup& setup, const TensorReader& in) {
  check_snq_setup(setup);
  // Before anything of that size is allocated.
  const std::size_t rows = window_of(setup);
  const TensorReader history = in.part("history");
  if (history.length("times") != rows || history.length("features") != rows * setup.features) {
    fail(ErrorCode::kCorruptFile, "the state does not have the rows of its window");
  }
  auto method = std::make_unique<SnqOnline>(setup);
  method->load(in);
  return method;
}

}  // namespace

OnlineMethodInfo snq_online_method() {
  return {.name = "snq",
          .summary =
              "the default: SNQ on trailing rows, near in their last errors, season and "
              "size, after what past errors and columns predict is subtracted; levels are "
              "tracked",
          .guarantee =
              "for any targets: the share at or below the answer of each level differs "
              "from it by at most a bound that is known after each row, and that falls as "
              "1 / rows while the size of errors stays within a range",
          .citation =
              "Liu, Cai, Li 2023 for SNQ; Gibbs, Candes 2021 and Angelopoulos, Candes, "
              "Tibshirani 2023 for tracking",
          .options = kSnqOnlineOptions,
          .make = &make_snq_online,
          .load = &load_snq_online};
}

}  // namespace tare
