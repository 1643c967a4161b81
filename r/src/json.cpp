// SPDX-License-Identifier: BSD-3-Clause
#include "json.h"

#include <cpp11/doubles.hpp>
#include <cpp11/list.hpp>
#include <cpp11/strings.hpp>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using cpp11::sexp;

struct Value {
  enum Kind { kNull, kFlag, kNumber, kText, kArray, kObject } kind = kNull;
  bool flag = false;
  double number = 0.0;
  std::string text;
  std::vector<Value> items;
  std::vector<std::string> names;
};

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Value parse() {
    Value value = read(0);
    skip_blanks();
    if (at_ != text_.size()) wrong();
    return value;
  }

 private:
  [[noreturn]] void wrong() const {
    throw std::runtime_error("the library's JSON cannot be read at byte " + std::to_string(at_));
  }
  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) wrong();
  }
  bool take_word(const char* word) {
    const std::string wanted(word);
    if (text_.compare(at_, wanted.size(), wanted) != 0) return false;
    at_ += wanted.size();
    return true;
  }

  unsigned read_hex() {
    if (at_ + 4 > text_.size()) wrong();
    char* end = nullptr;
    const std::string digits = text_.substr(at_, 4);
    const unsigned long code = std::strtoul(digits.c_str(), &end, 16);
    if (end != digits.c_str() + 4) wrong();
    at_ += 4;
    return static_cast<unsigned>(code);
  }

  void read_escape(std::string& out) {
    if (at_ >= text_.size()) wrong();
    const char c = text_[at_++];
    switch (c) {
      case 'b':
        out += '\b';
        return;
      case 'f':
        out += '\f';
        return;
      case 'n':
        out += '\n';
        return;
      case 'r':
        out += '\r';
        return;
      case 't':
        out += '\t';
        return;
      case 'u':
        break;
      default:
        out += c;
        return;
    }
    unsigned code = read_hex();
    if (code >= 0xD800 && code < 0xDC00 && take_word("\\u")) {
      code = 0x10000 + ((code - 0xD800) << 10) + (read_hex() - 0xDC00);
    }
    append_utf8(out, code);
  }

  std::string read_text() {
    need('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (c == '\\') {
        read_escape(out);
      } else {
        out += c;
      }
    }
    need('"');
    return out;
  }

  Value read(int depth) {
    constexpr int kDeepest = 100;
    if (depth > kDeepest) wrong();
    skip_blanks();
    if (at_ >= text_.size()) wrong();
    Value value;
    const char c = text_[at_];
    if (c == '"') {
      value.kind = Value::kText;
      value.text = read_text();
    } else if (take('[')) {
      value.kind = Value::kArray;
      if (take(']')) return value;
      do value.items.push_back(read(depth + 1));
      while (take(','));
      need(']');
    } else if (take('{')) {
      value.kind = Value::kObject;
      if (take('}')) return value;
      do {
        skip_blanks();
        value.names.push_back(read_text());
        need(':');
        value.items.push_back(read(depth + 1));
      } while (take(','));
      need('}');
    } else if (take_word("true") || take_word("false")) {
      value.kind = Value::kFlag;
      value.flag = c == 't';
    } else if (!take_word("null")) {
      value.kind = Value::kNumber;
      char* end = nullptr;
      value.number = std::strtod(text_.c_str() + at_, &end);
      if (end == text_.c_str() + at_) wrong();
      at_ = static_cast<std::size_t>(end - text_.c_str());
    }
    return value;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

sexp utf8(const std::string& text) {
  return cpp11::safe[Rf_mkCharLenCE](text.c_str(), static_cast<int>(text.size()), CE_UTF8);
}

bool are_all(const std::vector<Value>& items, Value::Kind kind) {
  bool any = false;
  for (const Value& item : items) {
    if (item.kind != kind && (item.kind != Value::kNull || kind != Value::kNumber)) return false;
    any = any || item.kind == kind;
  }
  return any;
}

sexp to_r(const Value& value) {
  switch (value.kind) {
    case Value::kNull:
      return R_NilValue;
    case Value::kFlag:
      return cpp11::safe[Rf_ScalarLogical](value.flag ? 1 : 0);
    case Value::kNumber:
      return cpp11::safe[Rf_ScalarReal](value.number);
    case Value::kText:
      return cpp11::safe[Rf_ScalarString](static_cast<SEXP>(utf8(value.text)));
    default:
      break;
  }
  const auto count = static_cast<R_xlen_t>(value.items.size());
  if (value.kind == Value::kArray && are_all(value.items, Value::kNumber)) {
    cpp11::writable::doubles numbers(count);
    for (R_xlen_t i = 0; i < count; ++i) {
      const Value& item = value.items[static_cast<std::size_t>(i)];
      numbers[i] = item.kind == Value::kNumber ? item.number : NA_REAL;
    }
    return numbers;
  }
  if (value.kind == Value::kArray && are_all(value.items, Value::kText)) {
    const sexp texts = cpp11::safe[Rf_allocVector](STRSXP, count);
    for (R_xlen_t i = 0; i < count; ++i)
      SET_STRING_ELT(texts, i, utf8(value.items[static_cast<std::size_t>(i)].text));
    return texts;
  }
  const sexp list = cpp11::safe[Rf_allocVector](VECSXP, count);
  for (R_xlen_t i = 0; i < count; ++i)
    SET_VECTOR_ELT(list, i, to_r(value.items[static_cast<std::size_t>(i)]));
  if (value.kind == Value::kObject) {
    const sexp names = cpp11::safe[Rf_allocVector](STRSXP, count);
    for (R_xlen_t i = 0; i < count; ++i)
      SET_STRING_ELT(names, i, utf8(value.names[static_cast<std::size_t>(i)]));
    cpp11::safe[Rf_setAttrib](static_cast<SEXP>(list), R_NamesSymbol, static_cast<SEXP>(names));
  }
  return list;
}

}  // namespace

cpp11::sexp json_to_r(const std::string& text) { return to_r(Parser(text).parse()); }
