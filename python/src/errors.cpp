// SPDX-License-Identifier: BSD-3-Clause
#include "errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/strings.h"

namespace nb = nanobind;

namespace tare::python {
namespace {

/// What Python programmers expect for each kind of error.
PyObject* type_of(ErrorCode code) {
  using enum ErrorCode;
  switch (code) {
    case kCorruptFile:
    case kIo:
      return PyExc_OSError;
    case kUnsupported:
      return PyExc_NotImplementedError;
    default:
      return PyExc_ValueError;
  }
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// A number, or a text in quotes.
std::string literal(std::string_view value) {
  if (parse_number(value)) return std::string(value);
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

std::string argument(std::string_view option, std::string_view value) {
  constexpr std::array<std::string_view, 20> kArguments = {
      "missing",   "guarantee", "bounds",   "bands",      "features", "method",      "kernel",
      "bandwidth", "window",    "shift_to", "start",      "delay",    "known_later", "period",
      "lags",      "levels",    "interval", "drift_rate", "target",   "device"};
  // They concern files and columns by name, which a caller has in hand here.
  constexpr std::array<std::string_view, 7> kOfTheTool = {
      "drop", "categorical", "prediction", "timeout", "keep", "group", "port"};
  if (option == "force") return "overwrite=True";
  if (option == "seed") return "random_state";
  if (option == "calibrate_on") return "features";
  if (is_one_of(option, kOfTheTool)) return "";
  if (is_one_of(option, kArguments)) {
    return value.empty() ? std::string(option) : fmt::format("{}={}", option, literal(value));
  }
  return value.empty() ? fmt::format("options['{}']", option)
                       : fmt::format("options={{'{}': {}}}", option, literal(value));
}

/// Texts of the core may hold any bytes.
nb::object text_object(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::object text_or_none(std::string_view text) {
  return text.empty() ? nb::none() : text_object(text);
}

}  // namespace

void set_python_error(const Error& error, PyObject* type) {
  const ErrorDetails& details = error.details();
  const std::string text = error_text(error, {.option = argument, .lines = false, .first_row = 0});
  if (type == nullptr) type = type_of(error.code());
  const nb::object raised =
      nb::steal(PyObject_CallFunctionObjArgs(type, text_object(text).ptr(), nullptr));
  if (!raised.is_valid()) return;  // Python's own error is set
  raised.attr("code") = text_object(error_code_name(error.code()));
  raised.attr("column") = text_or_none(details.column);
  raised.attr("row") = details.row ? nb::object(nb::int_(*details.row)) : nb::none();
  raised.attr("option") = text_or_none(details.option);
  raised.attr("value") = text_or_none(details.value);
  PyErr_SetObject(type, raised.ptr());
}

}  // namespace tare::python
