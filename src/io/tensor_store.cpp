// SPDX-License-Identifier: BSD-3-Clause
#include "io/tensor_store.h"

#include <array>
#include <cassert>
#include <utility>

#include "base/fail.h"

namespace tare {

std::string_view dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kU8:
      return "U8";
    case Dtype::kI32:
      return "I32";
    case Dtype::kI64:
      return "I64";
    case Dtype::kF32:
      return "F32";
    case Dtype::kF64:
      return "F64";
  }
  return "?";
}

std::size_t dtype_size(Dtype dtype) {
  switch (dtype) {
    case Dtype::kU8:
      return 1;
    case Dtype::kI32:
    case Dtype::kF32:
      return 4;
    case Dtype::kI64:
    case Dtype::kF64:
      return 8;
  }
  return 1;
}

TensorWriter TensorWriter::part(std::string_view name) const {
  TensorWriter inner = *this;
  inner.prefix_ += std::string(name) + ".";
  return inner;
}

void TensorWriter::value(std::string_view name, Json value) const {
  store_->values[prefix_ + std::string(name)] = std::move(value);
}

void TensorWriter::put(std::string_view name, Dtype dtype, Shape shape,
                       std::vector<std::byte> bytes) const {
  [[maybe_unused]] std::size_t elements = 1;
  for (const std::size_t extent : shape) elements *= extent;
  assert(elements * dtype_size(dtype) == bytes.size() && "the shape does not fit the values");
  store_->tensors[prefix_ + std::string(name)] =
      Tensor{dtype, std::move(shape), Buffer<std::byte>(std::move(bytes))};
}

std::string TensorReader::full(std::string_view name) const { return prefix_ + std::string(name); }

TensorReader TensorReader::part(std::string_view name) const {
  TensorReader inner = *this;
  inner.prefix_ += std::string(name) + ".";
  return inner;
}

bool TensorReader::has_value(std::string_view name) const {
  return store_->values.contains(full(name));
}

bool TensorReader::has_tensor(std::string_view name) const {
  return store_->tensors.contains(full(name));
}

const Json& TensorReader::value(std::string_view name) const {
  const auto found = store_->values.find(full(name));
  if (found == store_->values.end()) {
    fail(ErrorCode::kCorruptFile, "the model file lacks the value '{}'", full(name));
  }
  return found->second;
}

void TensorReader::wrong_type(std::string_view name) const {
  fail(ErrorCode::kCorruptFile, "the model file's value '{}' is of the wrong type", full(name));
}

void TensorReader::not_as_it_must(std::string_view name, Must must) const {
  constexpr std::array<std::string_view, 5> kWords = {
      "that is not a finite number", "that is not positive and finite",
      "that is negative or not finite", "that is not finite or less than the one before it",
      "that is not finite or not above the one before it"};
  fail(ErrorCode::kCorruptFile, "the model file's tensor '{}' has an element {}", full(name),
       kWords[static_cast<std::size_t>(must)]);
}

namespace {

/// A value as a message shows it; a hostile one may be as long as the file.
std::string shown(const Json& json) {
  constexpr std::size_t kMostShown = 60;
  if (json.is_structured()) return json.is_array() ? "a list" : "an object";
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kMostShown ? text : "a long text";
}

}  // namespace

std::size_t TensorReader::count(std::string_view name, std::size_t limit) const {
  const Json& json = value(name);
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > limit) {
    fail(ErrorCode::kCorruptFile, "the model file's count '{}' is {}, which is not in 0 to {}",
         full(name), shown(json), limit);
  }
  return json.get<std::size_t>();
}

std::vector<std::size_t> TensorReader::counts(std::string_view name, std::size_t limit) const {
  const Json& json = value(name);
  if (!json.is_array()) wrong_type(name);
  std::vector<std::size_t> counts;
  for (const Json& one : json) {
    if (!one.is_number_unsigned() || one.get<std::uint64_t>() > limit) {
      fail(ErrorCode::kCorruptFile,
           "the model file's list of counts '{}' has {}, which is not in 0 to {}", full(name),
           shown(one), limit);
    }
    counts.push_back(one.get<std::size_t>());
  }
  return counts;
}

std::size_t TensorReader::length(std::string_view name) const {
  const Shape found = shape(name);
  if (found.size() != 1) {
    fail(ErrorCode::kCorruptFile, "the model file's tensor '{}' is {}, not a list", full(name),
         Json(found).dump());
  }
  return found[0];
}

Shape TensorReader::shape(std::string_view name) const {
  const auto found = store_->tensors.find(full(name));
  if (found == store_->tensors.end()) {
    fail(ErrorCode::kCorruptFile, "the model file lacks the tensor '{}'", full(name));
  }
  return found->second.shape;
}

Buffer<std::byte> TensorReader::checked(std::string_view name, Dtype dtype,
                                        const Shape& expected) const {
  const Shape actual = shape(name);
  const Tensor& tensor = store_->tensors.find(full(name))->second;
  if (tensor.dtype != dtype || actual != expected) {
    fail(ErrorCode::kCorruptFile, "the model file's tensor '{}' is {} {}, not {} {}", full(name),
         dtype_name(tensor.dtype), Json(actual).dump(), dtype_name(dtype), Json(expected).dump());
  }
  return tensor.bytes;
}

}  // namespace tare
