// SPDX-License-Identifier: BSD-3-Clause
#include "forger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

namespace tare {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kMostParts = 60;  // of one value that are changed

std::size_t elements_of(const Tensor& tensor) {
  return tensor.bytes.size() / dtype_size(tensor.dtype);
}

Bytes bytes_of(const Tensor& tensor) {
  return {tensor.bytes.span().begin(), tensor.bytes.span().end()};
}

/// Values to put into an element, as its type has them.
struct Element {
  std::string name;
  Bytes bytes;
  bool is_huge = false;
};

template <class T>
Element element(const std::string& name, T value, bool is_huge = false) {
  Bytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return {name, std::move(bytes), is_huge};
}

template <class T>
std::vector<Element> float_elements() {
  using Limits = std::numeric_limits<T>;
  return {element("nan", Limits::quiet_NaN()),
          element("inf", Limits::infinity()),
          element("-inf", -Limits::infinity()),
          element("0", T{0}),
          element("-1", T{-1}),
          element("0.5", static_cast<T>(0.5)),
          element("1e30", static_cast<T>(1e30), true),
          element("largest", Limits::max(), true),
          element("lowest", Limits::lowest(), true),
          element("denormal", Limits::denorm_min())};
}

template <class T>
std::vector<Element> whole_elements() {
  using Limits = std::numeric_limits<T>;
  return {element("0", T{0}),
          element("1", T{1}),
          element("-1", static_cast<T>(-1)),
          element("largest", Limits::max()),
          element("lowest", Limits::min()),
          element("1000000", static_cast<T>(1'000'000))};
}

std::vector<Element> elements_for(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return float_elements<double>();
    case Dtype::kF32:
      return float_elements<float>();
    case Dtype::kI64:
      return whole_elements<std::int64_t>();
    case Dtype::kI32:
      return whole_elements<std::int32_t>();
    case Dtype::kU8:
      return {element("255", std::uint8_t{255}), element("0", std::uint8_t{0})};
  }
  return {};
}

class TensorForger {
 public:
  TensorForger(std::string name, const Tensor& tensor, std::vector<Forgery>& out)
      : name_(std::move(name)), tensor_(tensor), out_(out) {}

  void forge() {
    add("absent", [name = name_](TensorStore& store) { store.tensors.erase(name); });
    add("renamed", [name = name_](TensorStore& store) {
      store.tensors[name + "x"] = store.tensors[name];
      store.tensors.erase(name);
    });
    forge_shapes();
    forge_elements();
  }

 private:
  void add(const std::string& how, std::function<void(TensorStore&)> change, bool is_huge = false) {
    out_.push_back({name_ + ": " + how, std::move(change), is_huge});
  }
  void put(const std::string& how, Dtype dtype, Shape shape, Bytes bytes, bool is_huge = false) {
    Tensor made{dtype, std::move(shape), Buffer<std::byte>(std::move(bytes))};
    add(
        how, [name = name_, made](TensorStore& store) { store.tensors[name] = made; }, is_huge);
  }

  /// With `by` more or fewer of what the axis counts; new elements repeat the first ones.
  void resize(std::size_t axis, std::ptrdiff_t by, const std::string& how) {
    Shape shape = tensor_.shape;
    if (by < 0 && shape[axis] == 0) return;
    shape[axis] = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(shape[axis]) + by);
    std::size_t size = dtype_size(tensor_.dtype);
    for (const std::size_t extent : shape) size *= extent;
    Bytes bytes = bytes_of(tensor_);
    const std::size_t before = bytes.size();
    bytes.resize(size);
    for (std::size_t i = before; i < size; ++i) {
      bytes[i] = before == 0 ? std::byte{0} : bytes[i % before];
    }
    put(fmt::format("{} along axis {}", how, axis), tensor_.dtype, shape, std::move(bytes));
  }

  void forge_shapes() {
    const Bytes bytes = bytes_of(tensor_);
    const std::size_t count = elements_of(tensor_);
    for (std::size_t axis = 0; axis < tensor_.shape.size(); ++axis) {
      resize(axis, 1, "longer");
      resize(axis, -1, "shorter");
    }
    put("empty", tensor_.dtype, Shape(1), Bytes());
    put("flat", tensor_.dtype, {count}, bytes);
    put("one row", tensor_.dtype, {1, count}, bytes);
    put("one column", tensor_.dtype, {count, 1}, bytes);
    put("deep", tensor_.dtype, {1, 1, count}, bytes);
    put("no axis", Dtype::kF64, Shape(), Bytes(8));
    Shape turned = tensor_.shape;
    std::ranges::reverse(turned);
    put("turned", tensor_.dtype, turned, bytes);
    put("as bytes", Dtype::kU8, {bytes.size()}, bytes);
    const bool is_float = tensor_.dtype == Dtype::kF64 || tensor_.dtype == Dtype::kF32;
    if (dtype_size(tensor_.dtype) == 8) {
      put("of the other type", is_float ? Dtype::kI64 : Dtype::kF64, tensor_.shape, bytes);
    } else if (dtype_size(tensor_.dtype) == 4) {
      put("of the other type", is_float ? Dtype::kI32 : Dtype::kF32, tensor_.shape, bytes);
    }
  }

  void forge_elements() {
    const std::size_t count = elements_of(tensor_);
    const std::size_t size = dtype_size(tensor_.dtype);
    if (count == 0) return;
    const std::set<std::size_t> places = {0, count / 2, count - 1};
    for (const Element& value : elements_for(tensor_.dtype)) {
      Bytes all = bytes_of(tensor_);
      for (std::size_t k = 0; k < count; ++k) {
        std::memcpy(all.data() + k * size, value.bytes.data(), size);
      }
      put("all " + value.name, tensor_.dtype, tensor_.shape, std::move(all), value.is_huge);
      for (const std::size_t place : places) {
        Bytes one = bytes_of(tensor_);
        std::memcpy(one.data() + place * size, value.bytes.data(), size);
        put(fmt::format("{} at {}", value.name, place), tensor_.dtype, tensor_.shape,
            std::move(one), value.is_huge);
      }
    }
    Bytes turned = bytes_of(tensor_);
    for (std::size_t k = 0; k < count / 2; ++k) {
      const auto a = turned.begin() + static_cast<std::ptrdiff_t>(k * size);
      const auto b = turned.begin() + static_cast<std::ptrdiff_t>((count - 1 - k) * size);
      std::swap_ranges(a, a + static_cast<std::ptrdiff_t>(size), b);
    }
    put("backwards", tensor_.dtype, tensor_.shape, std::move(turned));
  }

  std::string name_;
  const Tensor& tensor_;
  std::vector<Forgery>& out_;
};

class ValueForger {
 public:
  ValueForger(std::string name, const Json& value, std::vector<Forgery>& out)
      : name_(std::move(name)), value_(value), out_(out) {}

  void forge() {
    add("", "absent", [name = name_](TensorStore& store) { store.values.erase(name); });
    add("", "renamed", [name = name_](TensorStore& store) {
      store.values[name + "x"] = store.values[name];
      store.values.erase(name);
    });
    forge_part(Json::json_pointer());
  }

 private:
  void add(const std::string& part, const std::string& how,
           std::function<void(TensorStore&)> change, bool is_huge = false) {
    out_.push_back({"value " + name_ + part + ": " + how, std::move(change), is_huge});
  }
  void put(const Json::json_pointer& part, Json made, const std::string& how = {}) {
    const bool is_huge = made.is_number() && std::abs(made.get<double>()) > 1e20;
    add(
        part.to_string(), how.empty() ? made.dump() : how,
        [name = name_, part, made](TensorStore& store) { store.values[name][part] = made; },
        is_huge);
  }

  void forge_part(const Json::json_pointer& part) {
    if (parts_++ > kMostParts) return;
    const Json& old = value_[part];
    for (const char* text : {"null",
                             "true",
                             "false",
                             "\"\"",
                             "\"text\"",
                             "-1",
                             "0",
                             "1",
                             "2",
                             "0.5",
                             "-0.5",
                             "1000",
                             "1e9",
                             "9007199254740992",
                             "18446744073709551615",
                             "-9223372036854775808",
                             "1e300",
                             "-1e300",
                             "1e-300",
                             "[]",
                             "{}",
                             "[0]",
                             "[[[[]]]]",
                             "{\"a\":1}",
                             "[-1]",
                             "[1e300]"}) {
      Json made = Json::parse(text);
      if (made != old) put(part, std::move(made));
    }
    if (old.is_number_unsigned()) {
      put(part, old.get<std::uint64_t>() + 1);
      put(part, old.get<std::uint64_t>() * 2 + 1);
    }
    if (old.is_number_float()) put(part, -old.get<double>());
    if (!old.is_structured() || old.empty()) return;
    Json less = old;
    Json more = old;
    if (old.is_array()) {
      less.erase(less.size() - 1);
      more.push_back(more.front());
      put(part, std::move(more), "with its first member twice");
      Json turned = old;
      std::reverse(turned.begin(), turned.end());
      put(part, std::move(turned), "backwards");
      for (std::size_t k = 0; k < std::min<std::size_t>(old.size(), 3); ++k) forge_part(part / k);
    } else {
      less.erase(less.begin());
      for (const auto& [key, member] : old.items()) forge_part(part / key);
    }
    put(part, std::move(less), "with a member less");
  }

  std::string name_;
  const Json& value_;
  std::vector<Forgery>& out_;
  std::size_t parts_ = 0;
};

}  // namespace

std::vector<Forgery> forgeries_of(const TensorStore& good) {
  std::vector<Forgery> all;
  for (const auto& [name, tensor] : good.tensors) TensorForger(name, tensor, all).forge();
  for (const auto& [name, value] : good.values) ValueForger(name, value, all).forge();
  return all;
}

}  // namespace tare
