// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

namespace tare::cli {

/// Groups of options, in the order in which help shows them.
inline constexpr const char* kMostUsed = "Most used";
inline constexpr const char* kYourModel = "Your model";
inline constexpr const char* kColumns = "Columns";
inline constexpr const char* kRows = "Rows";
inline constexpr const char* kAnswers = "Answers";
inline constexpr const char* kKernel = "Point model and kernel";
inline constexpr const char* kOutput = "Output";
inline constexpr const char* kGeneral = "General";

/// Help in groups, with lines that fit a terminal of 100 columns. Options without a group come
/// first.
class GroupedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// The option of this name, "--force" or "-f"; null where the command has none. CLI11's own
/// functions for this are noexcept and allocate.
CLI::Option* find_option(CLI::App& command, const std::string& name);

/// Puts options that the command has into a group.
void put_in_group(CLI::App& command, const char* group, std::initializer_list<const char*> options);

}  // namespace tare::cli
