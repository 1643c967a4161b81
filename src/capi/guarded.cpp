// SPDX-License-Identifier: BSD-3-Clause
#include "capi/guarded.h"

#include <new>
#include <string>
#include <utility>

#include "tare/base/error.h"
#include "tare/base/execution.h"

namespace tare::capi {
namespace {

/// The last error of a thread, with the texts that tare_error points into.
struct LastError {
  bool set = false;
  std::string text;
  ErrorDetails details;
  tare_error shown = {};
};

thread_local LastError last_error;

tare_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return TARE_INVALID_ARGUMENT;
    case ErrorCode::kShapeMismatch:
      return TARE_SHAPE_MISMATCH;
    case ErrorCode::kBadData:
      return TARE_BAD_DATA;
    case ErrorCode::kNotFound:
      return TARE_NOT_FOUND;
    case ErrorCode::kCorruptFile:
      return TARE_CORRUPT_FILE;
    case ErrorCode::kUnsupported:
      return TARE_UNSUPPORTED;
    case ErrorCode::kIo:
      return TARE_IO;
  }
  return TARE_OTHER;
}

void show(tare_status status, std::string text, ErrorDetails details) {
  LastError& last = last_error;
  last.text = std::move(text);
  last.details = std::move(details);
  last.shown = {status,
                last.text.c_str(),
                last.details.source.c_str(),
                last.details.line,
                last.details.column.c_str(),
                last.details.option.c_str(),
                last.details.value.c_str()};
  last.set = true;
}

}  // namespace

tare_status remember(std::exception_ptr failure) noexcept {
  try {
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      show(status_of(error.code()), error.what(), error.details());
    } catch (const Stopped&) {
      show(TARE_STOPPED, "stopped by the function that watches", {});
    } catch (const std::bad_alloc&) {
      show(TARE_OTHER, "out of memory", {});
    } catch (const std::exception& error) {
      show(TARE_OTHER, error.what(), {});
    } catch (...) {
      show(TARE_OTHER, "an unknown error", {});
    }
    return last_error.shown.status;
  } catch (...) {  // not even memory for the message
    static constexpr const char* kNone = "";
    last_error.shown = {TARE_OTHER, "out of memory", kNone, 0, kNone, kNone, kNone};
    last_error.set = true;
    return TARE_OTHER;
  }
}

}  // namespace tare::capi

extern "C" const tare_error* tare_last_error(void) {
  const auto& last = tare::capi::last_error;
  return last.set ? &last.shown : nullptr;
}
