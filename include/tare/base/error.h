// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// What went wrong, in the few kinds a caller can act on. The exit code is the command line's.
enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  // outside the documented range            exit 2
  kShapeMismatch,    // two inputs disagree on rows or columns  exit 4
  kBadData,          // a value, row or column of the user's    exit 4
  kNotFound,         // unknown method, column or file          exit 3
  kCorruptFile,      // bad checksum, length past the end       exit 4
  kUnsupported,      // not built in                            exit 5
  kIo,               // the system refused to read or write     exit 1
};

/// "bad_data" for kBadData, and so on.
std::string_view error_code_name(ErrorCode code);

/// One thing the user can do: a whole phrase ("give more rows"), or a phrase that leads to an
/// option
/// ("use" missing=drop "where ..."), which each front end spells in its own way.
struct Remedy {
  std::string text = {};     // "use", "raise", "a larger" before an option
  std::string option = {};   // with underscores, as in "prediction_sd"; empty: none
  std::string value = {};    // of the option; empty: it is named alone
  std::string purpose = {};  // behind the option: "to replace it"
};

/// Where an error is and what can be done, as data. Everything may be left out.
struct ErrorDetails {
  std::string source = {};                // a file's name
  std::uint64_t line = 0;                 // of the source, from 1; 0: none
  std::optional<std::uint64_t> row = {};  // of the rows that were given, from 0
  std::string column = {};
  std::string option = {};  // whose value is refused; the text starts with its name
  std::string value = {};   // that is refused: a cell, or what the option was set to
  std::vector<Remedy> remedies = {};
  bool named_in_problem = false;  // the problem names column and option, so nothing precedes it
};

/// The only exception tare throws on purpose. The text names the place, the value and the remedy;
/// what() spells options as name=value, error_text() as a front end does. Copying never throws.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : Error(code, ErrorDetails{}, text) {}
  Error(ErrorCode code, ErrorDetails details, std::string problem);

  ErrorCode code() const noexcept { return code_; }
  const ErrorDetails& details() const noexcept { return body_->details; }
  /// What is wrong, without the place and the remedies.
  const std::string& problem() const noexcept { return body_->problem; }

  /// The same error, found while `source` was read. Where it has a source, the new one precedes it.
  Error in_source(const std::string& source) const;

 private:
  struct Body {
    ErrorDetails details;
    std::string problem;
  };
  ErrorCode code_;
  std::shared_ptr<const Body> body_;  // shared by the copies
};

/// How a front end writes an option, with its value or, where that is empty, alone. Empty for an
/// option that the front end does not have: remedies with it are left out.
using OptionSpelling = std::string (*)(std::string_view option, std::string_view value);

/// How a front end words an error.
struct Wording {
  OptionSpelling option;
  bool lines = true;            // false: rows stand for the place, as where there is no file
  std::uint64_t first_row = 1;  // number of the first row
};

/// "source:line: column 'c': problem (use --missing drop, or --missing impute)".
std::string error_text(const Error& error, const Wording& wording);

}  // namespace tare
