// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/query.h"

#include <algorithm>

#include "base/strings.h"
#include "serve/http/refusal.h"

namespace tare::serve {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        refuse(400, "'{}' in the address is not a valid escape (write a percent sign as %25)",
               text.substr(i, 3));
      }
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

/// "http://host/path" to "/path": clients may write a target in full.
std::string_view without_origin(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t path = target.find('/', scheme.size());
    return path == std::string_view::npos ? "/" : target.substr(path);
  }
  return target;
}

}  // namespace

std::optional<std::string_view> Target::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Target parse_target(std::string_view target, std::span<const std::string_view> known) {
  target = without_origin(target);
  Target out;
  const std::size_t mark = std::min(target.find('?'), target.size());
  out.path = target.substr(0, mark);
  if (mark + 1 >= target.size()) return out;
  for (const std::string& item : split_text(target.substr(mark + 1), '&')) {
    if (item.empty()) continue;
    const std::size_t equals = std::min(item.find('='), item.size());
    std::string name = decoded(std::string_view(item).substr(0, equals));
    if (std::ranges::find(known, name) == known.end()) {
      const std::vector<std::string> names(known.begin(), known.end());
      refuse(400, "the address has a parameter '{}' ({})", name.substr(0, 60),
             names.empty() ? "it takes none" : "there are: " + join(names, ", "));
    }
    if (out.parameter(name)) refuse(400, "the address has '{}' twice (send it once)", name);
    const std::size_t value = std::min(equals + 1, item.size());
    out.parameters.emplace_back(std::move(name), decoded(std::string_view(item).substr(value)));
  }
  return out;
}

bool parse_truth(std::string_view text, std::string_view name) {
  const std::string value = canonical_name(text);
  if (value == "true" || value == "1" || value.empty()) return true;
  if (value == "false" || value == "0") return false;
  refuse(400, "{}: '{}' is neither true nor false", name, text.substr(0, 60));
}

}  // namespace tare::serve
