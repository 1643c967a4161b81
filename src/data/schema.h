// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/group_column.h"
#include "data/roles.h"
#include "io/csv.h"
#include "io/tensor_store.h"
#include "tare/base/matrix.h"
#include "tare/data/given_form.h"
#include "tare/data/input_column.h"
#include "tare/data/missing_policy.h"

namespace tare {

/// A longer window is assumed to be a typing error.
inline constexpr std::size_t kMaxWindow = 10'000;

/// What encode() needs in addition to the features.
enum class Need : std::uint8_t { kFeatures, kFeaturesAndTarget };

/// Numbers made from a table.
struct Encoded {
  Matrix x;
  Matrix given;                   // Schema::given_columns(), where there are any
  std::vector<double> y;          // with kFeaturesAndTarget
  std::vector<double> weight;     // with kFeaturesAndTarget, where the table was read with it
  std::vector<std::size_t> rows;  // the table's rows that are in x
  std::size_t dropped = 0;        // rows left out because of a missing value
  std::size_t imputed = 0;        // cells filled in
  std::size_t unseen = 0;         // cells with a category that was not there at fit: all zeros
};

/// Maps the columns of a file to the columns of x: learned at fit, saved with the model, applied at
/// prediction.
class Schema {
 public:
  /// Checks the roles against a header and says how to read each column for fitting. Throws
  /// kNotFound for a name that is not there (with the nearest ones), kInvalidArgument for roles
  /// that contradict each other.
  static std::vector<ColumnRequest> fit_requests(const std::string& source,
                                                 const std::vector<std::string>& header,
                                                 const Roles& roles);
  static Schema learn(const Table& table, const Roles& roles);
  /// For a model that was fitted on plain numbers: features x0, x1, ...; nothing is given yet.
  static Schema plain(std::size_t features);
  /// The same for one that takes an input of this form.
  static Schema plain(std::size_t features, const GivenForm& form);

  /// How to read each column of another file. A column that is needed and absent is kNotFound;
  /// others, the weight of the fit among them, are skipped.
  std::vector<ColumnRequest> requests(const std::string& source,
                                      const std::vector<std::string>& header, Need need) const;
  /// Throws kBadData, naming line, column and remedy, for missing values that the policy does not
  /// allow.
  Encoded encode(const Table& table, Need need, MissingPolicy missing) const;

  const std::string& target() const noexcept { return target_; }
  const std::string& weight() const noexcept { return weight_; }
  /// Columns with given predictions, in the order of their form; empty: none.
  const std::vector<std::string>& given_columns() const noexcept { return given_; }
  const GivenForm& given_form() const noexcept { return form_; }
  /// Of each of given_columns(), where it is known.
  const std::vector<std::optional<ColumnRange>>& given_ranges() const noexcept {
    return given_ranges_;
  }
  const std::vector<InputColumn>& inputs() const noexcept { return inputs_; }
  /// The command of the predictor at fit (--predictor); empty: none.
  const std::string& predictor() const noexcept { return predictor_; }
  void set_predictor(std::string command) { predictor_ = std::move(command); }
  /// Time steps of a series in a row of the model's x; 1: not a series. encode() gives single rows,
  /// Windows joins them.
  std::size_t window() const noexcept { return window_; }
  void set_window(std::size_t window) { window_ = window; }
  /// The column of groups, which is read as raw cells; it may be empty.
  const GroupColumn& group() const noexcept { return group_; }
  void set_group(GroupColumn group) { group_ = std::move(group); }
  /// The default treatment of missing values at prediction.
  MissingPolicy missing() const noexcept { return missing_; }
  void set_missing(MissingPolicy missing) { missing_ = missing; }
  /// Columns of x.
  std::size_t width() const;
  /// Names of the columns of x: "age", or "colour=red" for a category.
  std::vector<std::string> feature_names() const;
  /// Names of the input columns that the point model may use.
  std::vector<std::string> model_inputs() const;
  /// Columns of x that the point model may use, and those that come from the named input columns.
  std::vector<std::size_t> model_columns() const;
  std::vector<std::size_t> columns_of(const std::vector<std::string>& names) const;

  Json to_json() const;
  /// Throws kCorruptFile.
  static Schema from_json(const Json& json);

 private:
  void check_names() const;

  std::string target_;
  std::string weight_;
  std::vector<std::string> given_;
  std::vector<std::optional<ColumnRange>> given_ranges_;  // of given_
  GivenForm form_;                                        // of given_, where it is not empty
  std::string predictor_;
  MissingPolicy missing_ = MissingPolicy::kError;
  std::size_t window_ = 1;
  GroupColumn group_;
  std::vector<InputColumn> inputs_;
};

}  // namespace tare
