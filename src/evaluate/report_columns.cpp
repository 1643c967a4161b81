// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/report_columns.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tare {
namespace {

constexpr const char* kUnseenName = "(not seen at fit)";
constexpr const char* kNoCell = "(empty)";

/// The index of the 1 among the indicator columns of a category; their number if there is none.
std::uint32_t category_of(std::span<const double> indicators) {
  const auto found = std::ranges::find_if(indicators, [](double v) { return v > 0.5; });
  return static_cast<std::uint32_t>(found - indicators.begin());
}

/// Names without those that no row has: a category need not occur among the test rows.
void drop_absent_names(ReportColumn& column) {
  std::vector<std::uint8_t> present(column.names.size(), 0);
  for (const std::uint32_t code : column.codes) present[code] = 1;
  std::vector<std::uint32_t> place(column.names.size(), 0);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < column.names.size(); ++k) {
    place[k] = static_cast<std::uint32_t>(names.size());
    if (present[k] != 0) names.push_back(std::move(column.names[k]));
  }
  for (std::uint32_t& code : column.codes) code = place[code];
  column.names = std::move(names);
}

ReportColumn derived(std::string name, std::vector<double> values) {
  ReportColumn column;
  column.name = std::move(name);
  column.origin = ColumnOrigin::kDerived;
  column.numbers = std::move(values);
  return column;
}

std::vector<ReportColumn> derived_columns(const Outcomes& outcomes) {
  std::vector<double> width(outcomes.rows());
  std::vector<double> place(outcomes.rows());
  for (std::size_t i = 0; i < outcomes.rows(); ++i) {
    width[i] = outcomes.upper[i] - outcomes.lower[i];
    place[i] = static_cast<double>(i + 1);
  }
  // A column without a finite value cannot be cut.
  const auto any_finite = [](const std::vector<double>& values) {
    return std::ranges::any_of(values, [](double v) { return std::isfinite(v); });
  };
  std::vector<ReportColumn> columns;
  if (any_finite(outcomes.median)) columns.push_back(derived("predicted median", outcomes.median));
  if (any_finite(width)) columns.push_back(derived(kWidthColumn, std::move(width)));
  columns.push_back(derived("place in the file", std::move(place)));
  return columns;
}

}  // namespace

ColumnGatherer::ColumnGatherer(const Schema& schema, const std::vector<std::string>& groups) {
  for (const InputColumn& input : schema.inputs()) {
    ReportColumn column;
    column.name = input.name;
    column.categorical = input.categorical;
    column.names = input.vocabulary;
    if (input.categorical) column.names.emplace_back(kUnseenName);
    features_.push_back(std::move(column));
    sources_.push_back({step_width_, input.width()});
    step_width_ += input.width();
  }
  for (const std::string& name : groups) {
    ReportColumn column;
    column.name = name;
    column.origin = ColumnOrigin::kGroup;
    column.categorical = true;
    groups_.push_back(std::move(column));
  }
  codes_.resize(groups.size());
}

void ColumnGatherer::add_features(MatrixView x) {
  const std::size_t last_step = x.cols() >= step_width_ ? x.cols() - step_width_ : 0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const auto row = x.row(i).subspan(last_step);
    for (std::size_t k = 0; k < features_.size(); ++k) {
      const auto cells = row.subspan(sources_[k].first, sources_[k].width);
      if (features_[k].categorical) {
        features_[k].codes.push_back(category_of(cells));
      } else {
        features_[k].numbers.push_back(cells[0]);
      }
    }
  }
}

void ColumnGatherer::add_group_cell(std::size_t group, std::string_view text) {
  if (text.empty()) text = kNoCell;
  auto found = codes_[group].find(text);
  if (found == codes_[group].end()) {
    const auto code = static_cast<std::uint32_t>(groups_[group].names.size());
    found = codes_[group].emplace(std::string(text), code).first;
    groups_[group].names.emplace_back(text);
  }
  groups_[group].codes.push_back(found->second);
}

std::vector<ReportColumn> ColumnGatherer::finish(const Outcomes& outcomes) && {
  std::vector<ReportColumn> columns = std::move(groups_);
  std::ranges::move(features_, std::back_inserter(columns));
  for (ReportColumn& column : columns) {
    if (column.categorical) drop_absent_names(column);
  }
  std::ranges::move(derived_columns(outcomes), std::back_inserter(columns));
  return columns;
}

}  // namespace tare
