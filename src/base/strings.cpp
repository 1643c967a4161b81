// SPDX-License-Identifier: BSD-3-Clause
#include "base/strings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace tare {

std::vector<std::string> split_text(std::string_view text, char mark) {
  std::vector<std::string> parts;
  std::size_t first = 0;
  for (;;) {
    const std::size_t next = text.find(mark, first);
    parts.emplace_back(text.substr(first, next - first));
    if (next == std::string_view::npos) return parts;
    first = next + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view between) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += between;
    out += parts[i];
  }
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  if (trim(text).empty()) return names;
  for (const std::string& item : split_text(text, ',')) names.emplace_back(trim(item));
  return names;
}

std::string canonical_name(std::string_view name) {
  std::string out(trim(name));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-' || c == ' ') c = '_';
  }
  return out;
}

std::optional<double> parse_number(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::size_t> parse_count(std::string_view text) {
  text = trim(text);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

namespace {

/// Insertions, deletions, changes and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::vector<std::string> closest_names(std::string_view wrong, std::span<const std::string> names) {
  // Comparing takes the product of two lengths, and both may come from a stranger.
  constexpr std::size_t kLongest = 60;
  if (wrong.size() > kLongest) return {};
  const std::string sought = canonical_name(wrong);
  const std::size_t most = std::max<std::size_t>(1, sought.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& name : names) {
    if (name.size() > 2 * kLongest) continue;
    const std::string other = canonical_name(name);
    if (std::max(sought.size(), other.size()) - std::min(sought.size(), other.size()) > most) {
      continue;
    }
    const std::size_t distance = edit_distance(sought, other);
    if (distance <= most) scored.emplace_back(distance, name);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> closest;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, scored.size()); ++i) {
    closest.push_back(scored[i].second);
  }
  return closest;
}

}  // namespace tare
