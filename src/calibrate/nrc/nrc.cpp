// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc/nrc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/answers/each_level.h"
#include "calibrate/bandwidth/bandwidth.h"
#include "calibrate/features/feature_map.h"
#include "calibrate/features/screening.h"
#include "calibrate/nrc/point_model.h"
#include "calibrate/snq/engine/engine.h"
#include "calibrate/snq/level_map.h"
#include "calibrate/snq/snq_index.h"
#include "calibrate/snq/window/local_sample.h"
#include "calibrate/snq/window/rank_rule.h"
#include "data/rows.h"
#include "math/bounded.h"
#include "tare/calibrate/snq.h"

namespace tare {
namespace {

constexpr std::array kNrcOptions = std::to_array<ParamInfo>({
    {"regressor", "mlp",
     "point model f: mlp, lstm, gp, forest, extra_trees, boosting, ridge, zero"},
    {"reducer", "none",
     "how the features of the kernel are reduced: none, projection, correlation, embedding"},
    {"dims", "4", "number of features after the reducer"},
    {"scale", "standard", "scaling of the kernel's features: standard, none"},
    {"kernel", "gaussian",
     "kernel of the distance: naive, epanechnikov, triangular, tricube, gaussian, laplace, knn"},
    {"bandwidth", "auto",
     "bandwidth of the kernel: auto (leave-one-out), rate, rate:C, a number, or infinite"},
    {"split", "0.3", "rows that calibrate: a share, cross, time, or time:SHARE"},
    {"folds", "5", "number of folds of split=cross"},
    {"fallback", "nearest",
     "rows to use if no calibration row is within the bandwidth: nearest, or marginal (all rows)"},
    {"min_support", "20", "number of rows of fallback=nearest"},
    {"features_of_input", "auto",
     "center and log spread of the given distribution as features of the kernel: none, also, only; "
     "auto means also if a spread is given and no columns are named"},
    kScreenOption,
    kRanksOption,
});

std::string index_help() {
  std::vector<std::string> names;
  for (const SnqEngineInfo& info : snq_engines()) names.emplace_back(info.name);
  std::ranges::sort(names);
  return fmt::format("engine that evaluates SNQ: {}; auto selects the fastest", join(names, ", "));
}

std::vector<ParamInfo> options_with_engines() {
  static const std::string kIndexHelp = index_help();
  std::vector<ParamInfo> options(kNrcOptions.begin(), kNrcOptions.end());
  options.push_back({"index", "auto", kIndexHelp});
  return options;
}

SnqOptions parse_snq(const Params& params) {
  SnqOptions options;
  options.kernel = parse_kernel(params.text("kernel", "gaussian"));
  options.min_support = params.count("min_support", 20, 1, 1'000'000'000);
  options.index = canonical_name(params.text("index", "auto"));
  check_index(options.index);
  options.ranks = parse_ranks(params.text("ranks", kRanksOption.fallback));
  check_index_and_kernel(options);
  const std::string fallback = canonical_name(params.text("fallback", "nearest"));
  if (fallback == "marginal") {
    options.fallback = Fallback::kMarginal;
  } else if (fallback != "nearest") {
    fail_option("fallback", fallback, "must be nearest or marginal");
  }
  return options;
}

/// A bandwidth as text, before there is any data: read first, so that a slip does not cost a
/// training.
struct BandwidthRule {
  std::string rule = "auto";
  double value = 0.0;  // of "given", and the constant of "rate"
};

BandwidthRule parse_bandwidth(const Params& params) {
  const std::string text = params.text("bandwidth", "auto");
  const std::string name = canonical_name(text);
  if (name == "auto" || name == "rate") return {name, 0.0};
  if (name == "infinite" || name == "inf")
    return {"given", std::numeric_limits<double>::infinity()};
  const bool rate = name.starts_with("rate:");
  const auto value = parse_number(rate ? text.substr(5) : text);
  if (!value || !(*value > 0.0)) {
    fail_option("bandwidth", text, "must be auto, rate, rate:C, infinite or a positive number");
  }
  return {rate ? "rate" : "given", *value};
}

/// Whether the kernel uses features of the given distribution.
enum class InputFeatures : std::uint8_t { kAuto, kNone, kAlso, kOnly };

InputFeatures parse_input_features(const Params& params, const FitInput& input) {
  const std::string name = canonical_name(params.text("features_of_input", "auto"));
  if (name == "none") return InputFeatures::kNone;
  const bool is_given = input.given.cols() > 0;
  if (name == "auto") {
    // Chosen on held-out rows of seven known laws with five inputs each, right and wrong in several
    // ways: docs/decisions/0014-inputs-that-are-laws.md.
    const bool has_spread = is_given && input.given_form.kind != GivenKind::kPoint;
    return has_spread && input.calibrate_columns.empty() ? InputFeatures::kAlso
                                                         : InputFeatures::kNone;
  }
  if (name != "also" && name != "only") {
    fail_option("features_of_input", name, "must be auto, none, also or only");
  }
  if (!is_given) {
    fail(ErrorCode::kInvalidArgument, {.option = "features_of_input", .value = name},
         "is '{}', which needs given predictions, but there are none", name);
  }
  return name == "also" ? InputFeatures::kAlso : InputFeatures::kOnly;
}

/// x, followed by the features of the given distribution.
Matrix with_input_features(const GivenLaw& law, const Rows& rows) {
  Matrix joined(rows.x.rows(), rows.x.cols() + law.feature_count());
  for (std::size_t i = 0; i < joined.rows(); ++i) {
    const auto row = joined.row(i);
    std::ranges::copy(rows.x.row(i), row.begin());
    law.features(rows.given.row(i), row.subspan(rows.x.cols()));
  }
  return joined;
}

/// For rows in time order: which tenth of the calibration period each place of the sample lies in;
/// else nothing.
std::vector<std::size_t> time_blocks(const FitInput& input, const SplitRule& split,
                                     std::span<const double> residuals,
                                     std::span<const double> weight) {
  constexpr std::size_t kBlocks = 10;
  std::vector<std::size_t> block;
  if (split.kind != SplitRule::Kind::kTime && input.window == 1) return block;
  for (const std::size_t row : residual_order(residuals, weight))
    block.push_back(row * kBlocks / residuals.size());
  return block;
}

/// Units of the residuals in the order of the sample's places.
std::vector<double> units_in_order(const TrainedPointModel& trained,
                                   std::span<const double> weight) {
  std::vector<double> unit;
  if (trained.unit.empty()) return unit;
  for (const std::size_t row : residual_order(trained.residuals, weight))
    unit.push_back(trained.unit[row]);
  return unit;
}

BandwidthChoice resolve_bandwidth(const BandwidthRule& rule, const LocalSample& sample,
                                  const RowNotes& notes, const SnqOptions& options, Seed seed,
                                  const Execution& how) {
  if (rule.rule == "auto") return choose_bandwidth(sample, notes, options, seed, how);
  BandwidthChoice choice;
  choice.rule = rule.rule;
  choice.bandwidth = rule.rule == "given"
                         ? rule.value
                         : rate_bandwidth(options.kernel, sample.rows(), sample.dims(), rule.value);
  return choice;
}

class NrcModel final : public QuantileModel, public EachLevelAlone {
 public:
  bool answers_each_level_alone() const override { return true; }  // as SNQ does

  /// What it is made of; `embeds`: the kernel sees the point model's embedding and not x;
  /// `sees_input`: it sees the given law's features behind x.
  struct Parts {
    std::size_t features = 0;
    bool embeds = false;
    bool sees_input = false;
    PointModel point;
    FeatureMap map;
    BandwidthChoice choice;
    std::vector<ScreenedColumn> screened;  // empty where nobody asked
  };
  NrcModel(Parts parts, Snq snq) : parts_(std::move(parts)), snq_(std::move(snq)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override {
    return parts_.point.is_given() ? given_form().columns() : 0;
  }
  GivenForm given_form() const override { return parts_.point.law().form(); }

  void describe(Description& description) const override {
    description.kernel = describe_kernel(snq_, parts_.choice, parts_.point.name());
    describe_screened(parts_.screened, description);
  }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    out.value("embeds", parts_.embeds);
    if (parts_.sees_input) out.value("sees_input", true);
    parts_.point.save(out.part("point"));
    parts_.map.save(out.part("features"));
    snq_.save(out.part("snq"));
    save_choice(parts_.choice, out);
    save_screened(parts_.screened, out);
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    if (parts_.point.is_given()) parts_.point.law().check(rows.given);
    Prediction result = snq_.predict(kernel_features(rows, how), levels, how);
    if (parts_.point.is_given()) {
      answer_in_y(rows, result.quantiles);
      return result;
    }
    const std::vector<double> center = parts_.point.predict(rows, how);
    for (std::size_t i = 0; i < center.size(); ++i) {
      for (double& quantile : result.quantiles.row(i)) quantile = bounded(quantile + center[i]);
    }
    return result;
  }

 private:
  Matrix kernel_features(const Rows& rows, const Execution& how) const {
    if (parts_.embeds) return parts_.map.apply(parts_.point.embed(rows.x, how));
    if (!parts_.sees_input) return parts_.map.apply(rows.x);
    return parts_.map.apply(with_input_features(parts_.point.law(), rows));
  }

  /// From quantiles of residuals to those of y, in place.
  void answer_in_y(const Rows& rows, Matrix& quantiles) const {
    RowLaw law;
    for (std::size_t i = 0; i < quantiles.rows(); ++i) {
      parts_.point.law().read(rows.given.row(i), law);
      for (double& quantile : quantiles.row(i)) quantile = law.answer(quantile);
    }
  }

  Parts parts_;
  Snq snq_;
};

FeatureMapOptions parse_map(const Params& params, const FitInput& input) {
  FeatureMapOptions options;
  options.reducer = parse_reducer(params.text("reducer", "none"));
  options.dims = params.count("dims", 4, 1, 1'000'000);
  options.scale = parse_scale(params.text("scale", "standard"));
  options.columns = input.calibrate_columns;
  if (options.reducer == Reducer::kEmbedding && !options.columns.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "the features of the kernel are either an embedding or named columns, not both");
  }
  return options;
}

/// Columns `first` to `last` are features of the given distribution: the kernel uses only these, or
/// these and others.
void add_input_columns(InputFeatures which, std::size_t first, std::size_t last,
                       std::vector<std::size_t>& columns) {
  if (which == InputFeatures::kOnly) columns.clear();
  if (which == InputFeatures::kAlso && columns.empty()) return;  // none means all
  for (std::size_t j = first; j < last; ++j) columns.push_back(j);
}

/// Weights of the calibration rows, or none; throws where there are too few rows.
std::vector<double> calibration_weights(const FitInput& input, std::span<const std::size_t> rows) {
  std::vector<double> weight;
  std::size_t usable = 0;
  for (const std::size_t i : rows) {
    if (!input.weight.empty()) weight.push_back(input.weight[i]);
    if (input.weight.empty() || input.weight[i] > 0.0) ++usable;
  }
  check_calibration_rows(usable);
  // Equal weights are none: sums of them would be rounded where ranks are exact.
  if (std::ranges::adjacent_find(weight, std::ranges::not_equal_to{}) == weight.end())
    weight.clear();
  return weight;
}

/// The columns of `source` that screening keeps, tested on calibration rows of positive weight.
std::vector<ScreenedColumn> screen(MatrixView source, const TrainedPointModel& trained,
                                   std::span<const double> weight, Seed seed,
                                   const Execution& how) {
  constexpr std::size_t kPermutations = 199;
  std::vector<std::size_t> rows;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < trained.residuals.size(); ++i) {
    if (!weight.empty() && weight[i] == 0.0) continue;
    rows.push_back(trained.calibration_rows[i]);
    residuals.push_back(trained.residuals[i]);
  }
  return screen_columns(take_rows(source, rows), residuals, kPermutations, seed, how);
}

void report(const Execution& how, std::string_view stage, double share) {
  if (how.progress) how.progress(stage, share);
}

}  // namespace

std::span<const ParamInfo> nrc_options() {
  static const std::vector<ParamInfo> kOptions = options_with_engines();
  return kOptions;
}

std::unique_ptr<QuantileModel> fit_nrc(const FitInput& input, const Params& given_params,
                                       const Execution& how) {
  Params params = with_series_split(given_params, input);
  if (input.window > 1 && !params.has("window")) {
    params.set("window", std::to_string(input.window));
  }
  SnqOptions snq_options = parse_snq(params);
  BandwidthRule bandwidth = parse_bandwidth(params);
  const bool screens = parse_screen(params);
  FeatureMapOptions map_options = parse_map(params, input);
  const bool embeds = map_options.reducer == Reducer::kEmbedding;
  if (screens && (embeds || !map_options.columns.empty())) {
    fail(ErrorCode::kInvalidArgument,
         "the features of the kernel come from screening, from named columns or from an embedding: "
         "use only one");
  }
  if (embeds) params.set("embed", std::to_string(map_options.dims));
  const SplitRule rule = parse_split(params);
  const InputFeatures input_features = parse_input_features(params, input);

  report(how, "training the point model", 0.0);
  TrainedPointModel trained = train_point_model(input, params, rule, how);
  const std::vector<double> weight = calibration_weights(input, trained.calibration_rows);
  if (!input.weight.empty()) {  // a row of zero weight is not there, for the scales either
    std::erase_if(trained.training_rows, [&](std::size_t i) { return input.weight[i] == 0.0; });
  }

  report(how, "calibrating", 0.5);
  NrcModel::Parts parts;
  parts.features = input.x.cols();
  parts.embeds = embeds;
  parts.point = std::move(trained.model);
  parts.sees_input = input_features != InputFeatures::kNone;
  Matrix derived;
  if (embeds) {
    derived = parts.point.embed(input.x, how);
  } else if (parts.sees_input) {
    derived = with_input_features(parts.point.law(), {input.x, input.given});
    add_input_columns(input_features, input.x.cols(), derived.cols(), map_options.columns);
  }
  const MatrixView source = embeds || parts.sees_input ? derived.view() : input.x;
  if (screens) {
    parts.screened = screen(source, trained, weight, split(input.seed, 1003), how);
    map_options.columns = kept_columns(parts.screened);
    // If the residual depends on no column, all rows have equal weight.
    if (map_options.columns.empty()) bandwidth = {"given", std::numeric_limits<double>::infinity()};
  }
  parts.map =
      FeatureMap::fit(source, input.y, trained.training_rows, map_options, split(input.seed, 1001));
  const Matrix z = parts.map.apply(take_rows(source, trained.calibration_rows));
  auto sample = std::make_shared<const LocalSample>(z, trained.residuals, weight);
  const auto block = time_blocks(input, rule, trained.residuals, weight);
  const auto unit = units_in_order(trained, weight);
  const RowNotes notes{.block = block, .unit = unit, .marginal = !unit.empty()};
  parts.choice =
      resolve_bandwidth(bandwidth, *sample, notes, snq_options, split(input.seed, 1002), how);
  snq_options.bandwidth = parts.choice.bandwidth;
  if (snq_options.ranks == Ranks::kExpected && block.empty()) {
    snq_options.level_map = leave_one_out_map(*sample, snq_options, split(input.seed, 1004), how);
  }
  report(how, "calibrating", 1.0);
  return std::make_unique<NrcModel>(std::move(parts),
                                    Snq(std::move(sample), snq_options).with_support(how));
}

std::unique_ptr<QuantileModel> load_nrc(const TensorReader& in) {
  constexpr std::size_t kMany = std::numeric_limits<std::uint32_t>::max();
  NrcModel::Parts parts;
  parts.features = in.count("features", kMany);
  parts.embeds = in.get<bool>("embeds");
  parts.point = PointModel::load(in.part("point"), parts.features);
  parts.sees_input = in.has_value("sees_input") && in.get<bool>("sees_input");
  if (parts.sees_input && (parts.embeds || !parts.point.is_given())) {
    fail(ErrorCode::kCorruptFile, "the model file's kernel uses an input that does not exist");
  }
  parts.map = FeatureMap::load(in.part("features"));
  Snq snq = Snq::load(in.part("snq"));
  // An embedding of no rows tells its width, and that the point model is a network.
  const std::size_t map_inputs =
      parts.embeds ? parts.point.embed(MatrixView(nullptr, 0, parts.features), {}).cols()
                   : parts.features + (parts.sees_input ? parts.point.law().feature_count() : 0);
  if (parts.map.inputs() != map_inputs || snq.dims() != parts.map.dims()) {
    fail(ErrorCode::kCorruptFile,
         "the model file's kernel, its features and its point model do not fit together");
  }
  parts.choice = load_choice(in, snq.options().bandwidth);
  parts.screened = load_screened(in, map_inputs);
  return std::make_unique<NrcModel>(std::move(parts), std::move(snq));
}

}  // namespace tare
