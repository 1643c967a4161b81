// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/rowwise_rule.h"

#include <algorithm>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {
namespace {

[[noreturn]] void fail_local(std::string_view text) {
  fail_option("guarantee", text,
              "must be local, and may go on with ',fixed', ',share=SHARE' with a share between 0 "
              "and 1, ',strict', and the name of a kernel other than knn");
}

[[noreturn]] void fail_conditional(std::string_view text) {
  fail_option("guarantee", text,
              fmt::format("must be conditional:COLUMNS, with names of columns, 'groups', 'kernel' "
                          "or 'kernel:COUNT' with 1 to {} bumps, separated by commas; "
                          "',share=SHARE' with a share between 0 and 1 and ',strict' may follow",
                          kMostBumps));
}

/// Takes what both forms may end in. Returns whether it was such a word; the share is 0 where it
/// cannot be read.
bool take_common(std::string_view word, GuaranteeRule& rule) {
  constexpr std::string_view kShare = "share=";
  if (canonical_name(word) == "strict") {
    rule.outer = OuterLevels::kInfinite;
    return true;
  }
  if (!word.starts_with(kShare)) return false;
  const double share = parse_number(word.substr(kShare.size())).value_or(0.0);
  rule.share = share < 1.0 ? share : 0.0;
  return true;
}

bool take_kernel(std::string_view word, GuaranteeRule& rule) {
  for (const KernelKind kind : kAllKernels) {
    if (kind == KernelKind::kKnn || kernel_name(kind) != canonical_name(word)) continue;
    rule.kernel = kind;
    return true;
  }
  return false;
}

GuaranteeRule parse_local(std::string_view text, std::span<const std::string> words) {
  GuaranteeRule rule;
  rule.form = GuaranteeRule::Form::kLocal;
  for (const std::string& word : words) {
    if (canonical_name(word) == "fixed") {
      rule.fixed = true;
    } else if (!take_common(word, rule) && !take_kernel(word, rule)) {
      fail_local(text);
    }
  }
  if (!(rule.share > 0.0)) fail_local(text);
  return rule;
}

GuaranteeRule parse_conditional(std::string_view text, std::span<const std::string> words) {
  GuaranteeRule rule;
  rule.form = GuaranteeRule::Form::kConditional;
  for (const std::string& word : words) {
    if (take_common(word, rule)) continue;
    const bool is_bumps = word == "kernel" || word.starts_with("kernel:");
    if (word.empty() || (is_bumps && bumps_of(word) == 0)) fail_conditional(text);
    rule.conditions.push_back(word);
  }
  if (rule.conditions.empty() || !(rule.share > 0.0)) fail_conditional(text);
  return rule;
}

}  // namespace

std::size_t bumps_of(std::string_view condition) {
  constexpr std::string_view kCounted = "kernel:";
  if (condition == "kernel") return kUsualBumps;
  if (!condition.starts_with(kCounted)) return 0;
  const std::size_t count = parse_count(condition.substr(kCounted.size())).value_or(0);
  return count <= kMostBumps ? count : 0;
}

GuaranteeRule parse_rowwise(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : split_text(text, ',')) words.emplace_back(trim(word));
  const std::size_t colon = words[0].find(':');
  const std::string form = canonical_name(std::string_view(words[0]).substr(0, colon));
  if (form == "local") {
    if (colon != std::string::npos) fail_local(text);
    return parse_local(text, std::span(words).subspan(1));
  }
  if (colon == std::string::npos) fail_conditional(text);
  words[0] = trim(std::string_view(words[0]).substr(colon + 1));
  return parse_conditional(text, words);
}

}  // namespace tare
