// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tare/base/export.h"
#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/warnings.h"
#include "tare/data/given_form.h"
#include "tare/data/input_column.h"

namespace TARE_PUBLIC tare {

struct FittedModel;

// The description of a fitted model, as data. The tool, its reports, the service and the Python
// package write their own texts from it; none of them reads the model file for it.

/// A column with predictions of an outside model.
struct GivenColumn {
  std::string name;
  std::optional<ColumnRange> range = {};  // where it is known
};

/// A central interval of a guarantee, for rows that use the ranks of all rows.
struct IntervalCoverage {
  double confidence = 0.0;
  /// Average coverage over new rows: exact for split, a lower bound with own_levels;
  /// for cross exact if the models of the folds agree; for local and conditional the confidence.
  double on_average = 0.0;
  /// The proven lower bound of the coverage; none if there is no proof.
  std::optional<double> proven = {};
  bool kept = false;      // the ranked rows are enough for both ends
  bool infinite = false;  // they are too few, and the answer is infinite
};

/// A group within which a guarantee holds.
struct GuaranteeGroup {
  std::string name;
  std::size_t rows = 0;        // that are ranked
  bool has_own_ranks = false;  // false: too few rows, so the group uses the ranks of all rows
};

/// The cost of a split on its held-out rows, as mean pinball losses. They are infinite if the
/// method's own quantiles are.
struct GuaranteeCost {
  double without = 0.0;    // of the method
  double with = 0.0;       // of the adjusted levels
  std::size_t levels = 0;  // number compared, of 100: those that the ranks keep
};

enum class GuaranteeForm : std::uint8_t { kSplit, kCross, kLocal, kConditional, kLoose };

/// Ranks near the row: the kernel by which held-out rows count.
struct LocalGuaranteeDescription {
  bool fixed = false;  // without a draw; nothing is proven then
  std::string kernel;
  double bandwidth = 0.0;            // infinite: no feature was found that the scores depend on
  std::vector<std::size_t> columns;  // of x on which distances are measured
  bool own_median = false;           // and the model's own median,
  bool own_spread = false;           // and the distance of its own quartiles
  std::size_t tuned_on = 0;          // rows that chose these, and are not ranked
  double usual_rows = 0.0;           // median effective number of ranked rows near a row
};

struct GuaranteeDescription {
  GuaranteeForm form = GuaranteeForm::kSplit;
  std::size_t rows = 0;     // number ranked; for a split the held-out rows
  std::size_t folds = 1;    // 1: a split
  bool has_bound = false;   // IntervalCoverage::proven has a value
  bool own_levels = false;  // a split or loose: the model's own levels where ranks allow, so that
                            // IntervalCoverage::on_average is a lower bound
  /// Central intervals of 50, 80, 90, 95 and 99 %.
  std::vector<IntervalCoverage> intervals;
  std::vector<GuaranteeGroup> groups;  // empty: it holds overall
  std::size_t rows_for_own_ranks = 0;  // that a group needs
  std::optional<double> shift_effective_rows =
      {};                                   // effective sample size of the weights of a shift
  bool assumes_unseen_predictions = false;  // given predictions come from a model that was
                                            // not trained on the rows of this fit
  bool is_series = false;                   // rows are in time order
  bool rows_depend = false;                 // FitInput::rows_depend
  std::optional<GuaranteeCost> cost = {};   // of a split
  std::optional<LocalGuaranteeDescription> local = {};  // of kLocal
  /// Of kConditional: the columns, "groups" and "kernel" as the user named them, and the number of
  /// independent functions of a row that they give.
  std::vector<std::string> conditions = {};
  std::size_t functions = 0;
  /// Of cross: the share of the ranked rows that the 90 % interval covers.
  std::optional<double> seen_coverage = {};

  /// Of intervals; `confidence` is one of theirs.
  const IntervalCoverage& at(double confidence) const;
};

enum class BandsAbsence : std::uint8_t {
  kNone,         // there are bands
  kNotAsked,     // the fit was without
  kTooFewRows,   // fewer than they need
  kNotPossible,  // the method needs more than half of the rows, or many targets share a value that
                 // its quantiles never take
};

struct BandsDescription {
  BandsAbsence absence = BandsAbsence::kNotAsked;
  std::size_t fits = 0;  // on parts of the rows
  std::size_t half = 0;  // rows of each fit
  std::size_t rows = 0;  // of the whole
  std::size_t rows_needed = 0;
};

/// Either may be missing.
struct BoundsDescription {
  std::optional<double> low = {};
  std::optional<double> high = {};
};

/// Values that many targets share and that quantiles can equal.
struct MassDescription {
  std::vector<double> values;  // ascending
  bool whole = false;          // answers are whole numbers
  std::string guide;           // the candidate model that decides which quantiles equal them
};

/// SNQ: the calibration rows, the features of the kernel and its weights.
struct KernelDescription {
  std::size_t rows = 0;
  std::size_t dims = 0;
  std::string point_model;
  std::string kernel;
  BandwidthChoice bandwidth;  // may be infinite
  std::string fallback;
  std::size_t min_support = 0;
  std::string index;
};

/// The feature of the kernel of nrc_boost.
enum class AlongKind : std::uint8_t { kAll, kColumn, kPrediction, kGivenSpread, kSize };

/// The models of the residuals in nrc_boost.
struct ResidualTreesDescription {
  std::optional<std::size_t> center_trees = {};  // none: the center is 0
  std::optional<std::size_t> size_trees = {};    // none: the size is 1
  AlongKind along = AlongKind::kAll;
  std::string along_column = {};  // of kColumn
};

/// The candidates that `auto` tried, and those that it kept.
struct AutoTrail {
  struct Step {
    std::string name;
    double loss = 0.0;       // on left-out rows, in units of y
    double bandwidth = 0.0;  // the chosen one
    double share = 0.0;      // of the average
  };
  std::vector<Step> steps;
  double average_loss = 0.0;
  std::size_t rows = 0;      // that were left out
  std::string budget = {};   // of the fit; empty: not known
  std::size_t trained = 0;   // rows that the fit learned from: fewer than there are with a limit of
                             // time, a guarantee, rows of weight 0 or very many rows
  std::size_t eligible = 0;  // rows that it chose them from: more only with very many rows
  // How often everything was trained, each time with different folds and seeds; answers are the
  // mean. A step then has its mean loss over the rounds that tried it, its share of the whole, and
  // the bandwidth of the first of these rounds.
  std::size_t rounds = 1;
  // Values that many rows share, and the candidate that decides which quantiles equal them.
  std::vector<double> masses = {};
  std::string guide = {};
};

/// A column that was tested for whether the conditional distribution of the residual depends on it.
struct ScreenedColumnDescription {
  std::string name;
  double strength = 0.0;  // in standard deviations above the mean for unrelated columns
  double p_value = 1.0;
  bool kept = false;  // the kernel sees it
};

/// A model that goes on learning from a stream of rows.
struct OnlineDescription {
  std::string method;       // of the table of online methods
  std::string source;       // of the predictions: "model", "column", or "own" (a model of its own)
  std::string base_method;  // of the model, with source "model"
  std::uint64_t rows = 0;   // learned or passed over
  std::uint64_t answered = 0;  // learned since `start`
  std::uint64_t start = 0;     // rows to warm up
  std::size_t delay = 0;
  struct KeptLevel {
    double level = 0.0;
    double share_below = 0.0;  // of answered rows whose target was at or below the answer
    double bound = 1.0;        // proven, on |share_below - level|
  };
  std::vector<KeptLevel> levels;
  double drift_rate = 0.0;
  double drift_log_e = 0.0;                   // evidence of drift; an alarm from log(1 / rate) on
  std::optional<std::uint64_t> drift_alarm;   // the row of the stream at which it was raised
  std::optional<std::uint64_t> drift_change;  // the row where the change began, as estimated
};

struct Description {
  std::string method;
  std::vector<std::pair<std::string, std::string>> options;  // as the user gave them
  std::string tare_version;                                  // that wrote the file
  std::uint64_t seed = 0;
  std::size_t rows = 0;  // of the fit

  std::string target;     // empty: no name
  std::string weight;     // empty: none
  std::string predictor;  // the command of the predictor; empty: none
  std::string missing;    // the treatment of missing values: "error", "drop" or "impute"
  std::size_t window = 1;
  std::vector<InputColumn> inputs;
  std::vector<std::string> feature_names;  // columns of x for one step, as Schema names them
  GivenForm given_form;                    // of `given`
  std::vector<GivenColumn> given;  // columns with predictions of an outside model; empty: none
  std::string group;               // column of groups of the guarantee; empty: none
  std::vector<std::string> group_values;

  std::optional<GuaranteeDescription> guarantee = {};
  BandsDescription bands;
  std::optional<BoundsDescription> bounds = {};

  // The parts of the method. If the model was fitted in folds, they describe the first fold.
  bool of_first_fold = false;
  std::optional<MassDescription> masses = {};
  std::optional<KernelDescription> kernel = {};
  std::optional<ResidualTreesDescription> residual_trees = {};
  std::optional<AutoTrail> trail = {};
  std::optional<OnlineDescription> online = {};
  std::vector<ScreenedColumnDescription> screened;  // in the order of the columns

  std::vector<PredictionWarning> warnings;  // about every answer

  /// The name of a column of x, or its number if it has no name.
  std::string feature_name(std::size_t column) const;
};

/// A fitted model and the same model loaded from a file have the same description.
Description describe(const FittedModel& fitted);

/// One JSON object. Members that do not apply are null or empty. Numbers that are not finite are
/// null, except an infinite bandwidth, which is "infinite".
std::string description_json(const Description& description);
/// The member "guarantee" of it: an object, or null.
std::string guarantee_description_json(const Description& description);

}  // namespace tare
