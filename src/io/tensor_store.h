// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/buffer.h"

namespace tare {

using Json = nlohmann::json;
using Shape = std::vector<std::size_t>;

/// Element types of a tensor, with safetensors' names.
enum class Dtype : std::uint8_t { kU8, kI32, kI64, kF32, kF64 };

std::string_view dtype_name(Dtype dtype);
std::size_t dtype_size(Dtype dtype);

template <class T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return Dtype::kU8;
  if constexpr (std::is_same_v<T, std::int32_t>) return Dtype::kI32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Dtype::kI64;
  if constexpr (std::is_same_v<T, float>) return Dtype::kF32;
  if constexpr (std::is_same_v<T, double>) return Dtype::kF64;
}

struct Tensor {
  Dtype dtype = Dtype::kF64;
  Shape shape;
  Buffer<std::byte> bytes;
};

/// Named tensors and named JSON values: what a model file holds, without the file.
struct TensorStore {
  std::map<std::string, Tensor, std::less<>> tensors;
  std::map<std::string, Json, std::less<>> values;
};

/// What each element of a tensor must be; every one is finite.
enum class Must : std::uint8_t {
  kBeFinite,
  kBePositive,
  kNotBeNegative,
  kAscend,  // at least the one before it
  kRise,    // more than the one before it
};

/// Whether numbers are so. O(n).
template <class T>
bool all_are(Must must, std::span<const T> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    if (!std::isfinite(value)) return false;
    if (must == Must::kBePositive && !(value > T{0})) return false;
    if (must == Must::kNotBeNegative && !(value >= T{0})) return false;
    if (must == Must::kAscend && i > 0 && value < values[i - 1]) return false;
    if (must == Must::kRise && i > 0 && value <= values[i - 1]) return false;
  }
  return true;
}

/// Writes into a part of a store: every name gets the part's prefix. Cheap to copy; the store must
/// outlive it.
class TensorWriter {
 public:
  explicit TensorWriter(TensorStore& store) : store_(&store) {}

  TensorWriter part(std::string_view name) const;
  void value(std::string_view name, Json value) const;
  template <class T>
  void tensor(std::string_view name, std::span<const T> values, Shape shape) const {
    const auto bytes = std::as_bytes(values);
    put(name, dtype_of<T>(), std::move(shape), std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  template <class T>
  void tensor(std::string_view name, const std::vector<T>& values) const {
    tensor(name, std::span<const T>(values), {values.size()});
  }

 private:
  void put(std::string_view name, Dtype dtype, Shape shape, std::vector<std::byte> bytes) const;

  TensorStore* store_;
  std::string prefix_;
};

/// Reads what a TensorWriter of the same part wrote. A tensor or value that is absent, or of
/// another type or shape than requested, is kCorruptFile: a file with a correct checksum can still
/// be damaged or made by hand.
class TensorReader {
 public:
  explicit TensorReader(const TensorStore& store) : store_(&store) {}

  TensorReader part(std::string_view name) const;
  bool has_value(std::string_view name) const;
  bool has_tensor(std::string_view name) const;
  const Json& value(std::string_view name) const;
  /// The value as a T; kCorruptFile where it is not one. Numbers of JSON are finite. Whole numbers
  /// are counts: the JSON library would turn -1 and 1e300 into one without a word.
  template <class T>
  T get(std::string_view name) const {
    static_assert(!std::is_integral_v<T> || std::is_same_v<T, bool>, "use count");
    const Json& json = value(name);
    try {
      return json.get<T>();
    } catch (const Json::exception&) {
      wrong_type(name);
    }
  }
  /// A count: whole, not negative, at most `limit`.
  std::size_t count(std::string_view name, std::size_t limit) const;
  /// A list of them.
  std::vector<std::size_t> counts(std::string_view name, std::size_t limit) const;
  Shape shape(std::string_view name) const;
  /// The number of elements of a tensor of one axis; kCorruptFile where it has another shape.
  std::size_t length(std::string_view name) const;
  /// The tensor's elements, where they are: no copy for a mapped file.
  template <class T>
  Buffer<T> tensor(std::string_view name, const Shape& shape) const {
    const Buffer<std::byte> bytes = checked(name, dtype_of<T>(), shape);
    const auto* first = reinterpret_cast<const T*>(bytes.data());
    return {std::span<const T>(first, bytes.size() / sizeof(T)),
            std::make_shared<const Buffer<std::byte>>(bytes)};
  }
  template <class T>
  std::vector<T> values(std::string_view name, const Shape& shape) const {
    const Buffer<T> buffer = tensor<T>(name, shape);
    return {buffer.span().begin(), buffer.span().end()};
  }
  /// The same; kCorruptFile where an element is not as it must be.
  template <class T>
  Buffer<T> tensor(std::string_view name, const Shape& shape, Must must) const {
    Buffer<T> buffer = tensor<T>(name, shape);
    if (!all_are(must, buffer.span())) not_as_it_must(name, must);
    return buffer;
  }
  template <class T>
  std::vector<T> values(std::string_view name, const Shape& shape, Must must) const {
    const Buffer<T> buffer = tensor<T>(name, shape, must);
    return {buffer.span().begin(), buffer.span().end()};
  }
  /// The elements of a tensor of one axis.
  template <class T>
  std::vector<T> list(std::string_view name) const {
    return values<T>(name, {length(name)});
  }
  template <class T>
  std::vector<T> list(std::string_view name, Must must) const {
    return values<T>(name, {length(name)}, must);
  }

 private:
  Buffer<std::byte> checked(std::string_view name, Dtype dtype, const Shape& shape) const;
  [[noreturn]] void wrong_type(std::string_view name) const;
  [[noreturn]] void not_as_it_must(std::string_view name, Must must) const;
  std::string full(std::string_view name) const;

  const TensorStore* store_;
  std::string prefix_;
};

}  // namespace tare
