// SPDX-License-Identifier: BSD-3-Clause
#include "data/external_model.h"

#include <cstddef>
#include <string_view>

#include "base/fail.h"
#include "base/strings.h"
#include "io/column_finder.h"
#include "io/csv.h"
#include "io/files/subprocess.h"

namespace tare {

std::vector<double> run_external_model(const ExternalModel& model, const Table& table,
                                       const std::vector<std::string>& features,
                                       const std::vector<std::size_t>& rows) {
  std::vector<const Column*> columns;
  ColumnFinder finder(table);
  std::string input;
  for (const std::string& name : features) {
    if (!columns.empty()) input += ',';
    append_csv_cell(input, name);
    columns.push_back(finder.find(name));
  }
  input += '\n';
  for (const std::size_t i : rows) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (k > 0) input += ',';
      append_csv_cell(input, columns[k]->raw[i]);
    }
    input += '\n';
  }

  // The longest decimal of a double has some 330 characters before its fraction.
  constexpr std::size_t kBytesPerRow = 400;
  constexpr std::size_t kSomeMore = 65'536;  // blank lines at the end
  const std::string output =
      run_filter(model.command, input, model.timeout, kBytesPerRow * rows.size() + kSomeMore);
  std::vector<std::string> lines = split_text(output, '\n');
  while (!lines.empty() && trim(lines.back()).empty()) lines.pop_back();
  if (lines.size() != rows.size()) {
    fail(ErrorCode::kBadData,
         {.remedies = {advice("it must print one number per row and nothing else")}},
         "the predictor '{}' printed {} lines for {} rows", model.command, lines.size(),
         rows.size());
  }
  std::vector<double> predictions;
  predictions.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto value = parse_number(lines[i]);
    if (!value) {
      fail(ErrorCode::kBadData, {.value = std::string(trim(lines[i]))},
           "the predictor '{}': line {} of its output, '{}', is not a finite number", model.command,
           i + 1, trim(lines[i]));
    }
    predictions.push_back(*value);
  }
  return predictions;
}

}  // namespace tare
