// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tare {

/// The kinds of error that a caller can act on, with the exit code of the command line.
enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  // outside the documented range            exit 2
  kShapeMismatch,    // two inputs disagree on rows or columns  exit 4
  kBadData,          // a value, row or column of the input    exit 4
  kNotFound,         // unknown method, column or file          exit 3
  kCorruptFile,      // bad checksum, length past the end       exit 4
  kUnsupported,      // not built in                            exit 5
  kIo,               // the system refused to read or write     exit 1
};

/// The only exception tare throws on purpose. The text names the location, the value and the
/// remedy.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tare
