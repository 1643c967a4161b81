// SPDX-License-Identifier: BSD-3-Clause
#include "serve/rows/json_body.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/strings.h"
#include "serve/http/refusal.h"
#include "serve/rows/row_table.h"

namespace tare::serve {
namespace {

/// The parser's message without its own name for it.
[[noreturn]] void refuse_json(const nlohmann::json::exception& error) {
  std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  if (text.starts_with('[') && end != std::string_view::npos) text.remove_prefix(end + 2);
  refuse(400,
         "the body is not JSON: {} (JSON has no NaN or infinity; send null for a missing value)",
         text);
}

/// What both readers of rows have in common with the parser's events.
class RowEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool binary(binary_t&) override { return false; }  // never comes of text
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    refuse_json(error);
  }
  bool number_integer(number_integer_t value) override {
    return any_number(static_cast<double>(value), fmt::format("{}", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return any_number(static_cast<double>(value), fmt::format("{}", value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return any_number(value, text);
  }

 protected:
  virtual bool any_number(double value, std::string_view text) = 0;
};

/// A line of NDJSON.
class LineEvents final : public RowEvents {
 public:
  explicit LineEvents(RowTable& rows) : rows_(rows) {}

  bool null() override {
    need_row();
    rows_.null();
    return true;
  }
  bool boolean(bool value) override {
    need_row();
    rows_.truth(value);
    return true;
  }
  bool string(string_t& value) override {
    need_row();
    rows_.text(value);
    return true;
  }
  bool start_object(std::size_t) override {
    if (open_) rows_.nested();
    open_ = true;
    rows_.start_row();
    return true;
  }
  bool key(string_t& name) override {
    rows_.name_cell(name);
    return true;
  }
  bool end_object() override {
    rows_.end_row();
    return true;
  }
  bool start_array(std::size_t) override {
    need_row();
    rows_.nested();
  }
  bool end_array() override { return true; }

 private:
  bool any_number(double value, std::string_view text) override {
    need_row();
    rows_.number(value, text);
    return true;
  }
  void need_row() const {
    if (!open_)
      refuse(400, "is not an object (each line must be a row, for example {{\"a\": 1, \"b\": 2}})");
  }

  RowTable& rows_;
  bool open_ = false;
};

/// The outer object, and the rows and lists in it.
class BodyEvents final : public RowEvents {
 public:
  explicit BodyEvents(const JsonExpectation& expected)
      : expected_(expected), rows_(expected.plan, expected.limits) {}

  JsonBody take() {
    if (seen_rows_) body_.table = rows_.take();
    return std::move(body_);
  }

  bool null() override {
    if (place_ != Place::kRow) wrong_value("null");
    rows_.null();
    return true;
  }
  bool boolean(bool value) override {
    if (place_ == Place::kRow) {
      rows_.truth(value);
    } else if (place_ == Place::kOuter && key_ == "diagnostics") {
      body_.diagnostics = value;
    } else {
      wrong_value(value ? "true" : "false");
    }
    return true;
  }
  bool string(string_t& value) override {
    if (place_ == Place::kRow) {
      rows_.text(value);
    } else if (place_ == Place::kList && key_ == "ids") {
      check_room(body_.ids->size());
      body_.ids->push_back(std::move(value));
    } else if (place_ == Place::kOuter && key_ == "set") {
      body_.set = value.substr(0, 60);
    } else {
      wrong_value("a text");
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (place_ == Place::kStart) {
      place_ = Place::kOuter;
    } else if (place_ == Place::kList && key_ == "rows") {
      place_ = Place::kRow;
      rows_.start_row();
    } else if (place_ == Place::kRow) {
      rows_.nested();
    } else if (place_ == Place::kOuter && key_ == "cost") {
      place_ = Place::kCost;
      body_.cost.emplace();
      cost_key_.clear();
    } else {
      wrong_value("an object");
    }
    return true;
  }
  bool key(string_t& name) override {
    if (place_ == Place::kRow) {
      rows_.name_cell(name);
    } else if (place_ == Place::kCost) {
      choose_cost(name);
    } else {
      choose_key(name);
    }
    return true;
  }
  bool end_object() override {
    if (place_ == Place::kRow) {
      rows_.end_row();
      place_ = Place::kList;
    } else if (place_ == Place::kCost) {
      place_ = Place::kOuter;
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ == Place::kRow) rows_.nested();
    if (place_ == Place::kCost && list_of_costs() != nullptr) {
      list_of_costs()->emplace();
      place_ = Place::kCostList;
      return true;
    }
    if (place_ != Place::kOuter || key_ == "diagnostics" || key_ == "cost" || key_ == "set") {
      wrong_value("a list");
    }
    place_ = Place::kList;
    if (key_ == "rows") seen_rows_ = true;
    if (key_ == "levels") body_.levels.emplace();
    if (key_ == "interval") body_.intervals.emplace();
    if (key_ == "ids") body_.ids.emplace();
    if (key_ == "targets") body_.targets.emplace();
    return true;
  }
  bool end_array() override {
    place_ = place_ == Place::kCostList ? Place::kCost : Place::kOuter;
    return true;
  }

 private:
  enum class Place { kStart, kOuter, kList, kRow, kCost, kCostList };

  bool any_number(double value, std::string_view text) override {
    if (place_ == Place::kRow) {
      rows_.number(value, text);
    } else if (place_ == Place::kOuter && key_ == "interval") {
      body_.intervals.emplace(1, value);
    } else if (place_ == Place::kList && key_ != "rows" && key_ != "ids") {
      std::vector<double>& list = key_ == "levels"     ? *body_.levels
                                  : key_ == "interval" ? *body_.intervals
                                                       : *body_.targets;
      check_room(list.size());
      list.push_back(value);
    } else if (place_ == Place::kCost && (cost_key_ == "over" || cost_key_ == "under")) {
      (cost_key_ == "over" ? body_.cost->over : body_.cost->under) = value;
    } else if (place_ == Place::kCostList) {
      add_cost(value);
    } else {
      wrong_value(text);
    }
    return true;
  }

  /// The column of a table of costs that is being read; null for another key.
  std::optional<std::vector<double>>* list_of_costs() {
    if (cost_key_ == "action") return &body_.cost->action;
    if (cost_key_ == "outcome") return &body_.cost->outcome;
    return cost_key_ == "cost" ? &body_.cost->cost : nullptr;
  }

  void add_cost(double value) {
    std::vector<double>& list = **list_of_costs();
    if (list.size() >= expected_.most_costs) {
      refuse(413, "the table of costs has more than {} entries", expected_.most_costs);
    }
    list.push_back(value);
  }

  void choose_cost(const std::string& name) {
    static const std::vector<std::string> kKnown = {"over", "under", "action", "outcome", "cost"};
    if (std::ranges::find(kKnown, name) == kKnown.end()) {
      refuse(400, "'cost' has a '{}' (there are: {})", name.substr(0, 60), join(kKnown, ", "));
    }
    if (std::ranges::find(cost_keys_, name) != cost_keys_.end()) {
      refuse(400, "'cost' has '{}' twice (send it once)", name);
    }
    cost_keys_.push_back(name);
    cost_key_ = name;
  }

  void choose_key(const std::string& name) {
    if (std::ranges::find(expected_.keys, name) == expected_.keys.end()) {
      const auto near = closest_names(std::string_view(name).substr(0, 60), expected_.keys);
      refuse(400, "the body has a '{}' ({}{})", name.substr(0, 60),
             near.empty() ? "there are: " : "did you mean ",
             join(near.empty() ? expected_.keys : near, ", "));
    }
    if (std::ranges::find(keys_, name) != keys_.end()) {
      refuse(400, "the body has '{}' twice (send it once)", name);
    }
    keys_.push_back(name);
    key_ = name;
  }

  void check_room(std::size_t size) const {
    if (size < expected_.limits.rows) return;
    refuse(413, "'{}' has more than {} entries (send them in several requests)", key_,
           expected_.limits.rows);
  }

  [[noreturn]] void wrong_value(std::string_view what) const {
    if (place_ == Place::kStart) {
      refuse(400, "the body is {}, not an object (send for example {{\"rows\": [{{\"a\": 1}}]}})",
             what);
    }
    if (place_ == Place::kCost || place_ == Place::kCostList) {
      refuse(400, "'{}' of 'cost' contains {}, but it must be {}", cost_key_, what.substr(0, 60),
             cost_key_ == "over" || cost_key_ == "under" ? "a number" : "a list of numbers");
    }
    const std::string_view wanted = key_ == "rows"          ? "a list of objects, one per row"
                                    : key_ == "ids"         ? "a list of texts"
                                    : key_ == "diagnostics" ? "true or false"
                                    : key_ == "set"         ? "\"interval\" or \"shortest\""
                                    : key_ == "interval"    ? "a number or a list of numbers"
                                    : key_ == "cost" ? "an object, as {\"over\": 1, \"under\": 4}"
                                                     : "a list of numbers";
    refuse(400, "'{}' contains {}, but it must be {}", key_, what.substr(0, 60), wanted);
  }

  const JsonExpectation& expected_;
  RowTable rows_;
  JsonBody body_;
  Place place_ = Place::kStart;
  std::string key_;
  std::vector<std::string> keys_;
  std::string cost_key_;
  std::vector<std::string> cost_keys_;
  bool seen_rows_ = false;
};

}  // namespace

JsonBody parse_json_body(std::string_view body, const JsonExpectation& expected) {
  BodyEvents events(expected);
  nlohmann::json::sax_parse(body, &events);
  return events.take();
}

Table parse_ndjson_body(std::string_view body, const ColumnPlan& plan, const RowLimits& limits) {
  RowTable rows(plan, limits);
  std::size_t number = 0;
  while (!body.empty()) {
    ++number;
    const std::size_t end = std::min(body.find('\n'), body.size());
    const std::string_view line = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if ((number & 1'023U) == 0) limits.time.check();
    if (trim(line).empty()) continue;
    LineEvents events(rows);
    try {
      nlohmann::json::sax_parse(line, &events);
    } catch (const Refusal& refusal) {
      throw Refusal(refusal.status(), fmt::format("line {}: {}", number, refusal.detail()),
                    refusal.cell());
    }
  }
  return rows.take();
}

}  // namespace tare::serve
