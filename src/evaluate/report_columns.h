// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/schema.h"
#include "evaluate/examination.h"
#include "tare/base/matrix.h"

namespace tare {

enum class ColumnOrigin : std::uint8_t {
  kFeature,  // an input of the model
  kGroup,    // a column of the file that divides rows into groups
  kDerived,  // computed from the predictions or the order of the rows
};

inline constexpr const char* kWidthColumn = "width of the interval";  // derived

/// A column along which calibration is examined: numbers, or names.
struct ReportColumn {
  std::string name;
  ColumnOrigin origin = ColumnOrigin::kFeature;
  bool categorical = false;
  std::vector<double> numbers;       // one for each row, or
  std::vector<std::uint32_t> codes;  // the index of each row's value in `names`
  std::vector<std::string> names;
};

/// Collects the columns of test rows, batch by batch, as they are in the file: a category is one
/// column of names, not one indicator per value. For a series it takes the last step of each
/// window.
class ColumnGatherer {
 public:
  ColumnGatherer(const Schema& schema, const std::vector<std::string>& groups);

  /// The model's x for some rows.
  void add_features(MatrixView x);
  /// The cell of a group's column in the next row.
  void add_group_cell(std::size_t group, std::string_view text);

  /// The columns, and three derived ones: the predicted median, the interval's width, and the
  /// position in the file.
  std::vector<ReportColumn> finish(const Outcomes& outcomes) &&;

 private:
  struct Source {
    std::size_t first = 0;  // column of x
    std::size_t width = 1;
  };
  std::vector<ReportColumn> features_;
  std::vector<Source> sources_;
  std::size_t step_width_ = 0;
  std::vector<ReportColumn> groups_;
  std::vector<std::map<std::string, std::uint32_t, std::less<>>> codes_;
};

}  // namespace tare
