// SPDX-License-Identifier: BSD-3-Clause
#include "support/file_case.h"

#include <filesystem>

#include "base/strings.h"

namespace tare::cli {

void add_column_options(CLI::App& command, FileCase& file) {
  command.add_option("--features", file.features,
                     "Columns to use, separated by commas [all remaining columns]");
  command.add_option("--drop", file.drop, "Columns not to use");
  command.add_option("--categorical", file.categorical,
                     "Columns whose numbers are category codes, separated by commas");
  command
      .add_option("--missing", file.missing,
                  "What to do with missing values: error, drop (leave the row out), impute (median "
                  "or most frequent category)")
      ->capture_default_str();
}

ExperimentCase case_of(const FileCase& file) {
  ExperimentCase one;
  one.name = file.data == "-" ? "data" : std::filesystem::path(file.data).stem().string();
  one.file = file.data;
  one.target = file.target;
  one.features = split_names(file.features);
  one.drop = split_names(file.drop);
  one.categorical = split_names(file.categorical);
  one.missing = file.missing;
  one.origin = "give a file that exists";
  return one;
}

}  // namespace tare::cli
