// SPDX-License-Identifier: BSD-3-Clause
#include "io/safetensors_header.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace tare {
namespace {

using HeaderJson = nlohmann::json;

/// Takes the header token by token. Its form is fixed: an object of objects, which hold texts
/// (`__metadata__`) or a text and two lists of counts (a tensor). At anything else it stops.
class HeaderReader final : public nlohmann::json_sax<HeaderJson> {
 public:
  explicit HeaderReader(SafetensorsHeader& header) : header_(header) {}

  bool null() override { return refuse(); }
  bool boolean(bool) override { return refuse(); }
  bool number_integer(std::int64_t) override { return refuse(); }
  bool number_float(double, const std::string&) override { return refuse(); }
  bool binary(HeaderJson::binary_t&) override { return refuse(); }

  bool number_unsigned(std::uint64_t value) override {
    if (list_ == nullptr || list_->size() == kMostExtents) return refuse();
    list_->push_back(static_cast<std::size_t>(value));
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ != 2) return refuse();
    if (tensor_ == nullptr) {
      if (!header_.metadata.emplace(key_, std::move(text)).second) return refuse("stands twice");
      return true;
    }
    if (key_ != "dtype" || !tensor_->dtype.empty() || text.empty()) return refuse();
    tensor_->dtype = std::move(text);
    return true;
  }

  bool start_object(std::size_t) override {
    if (depth_ == 0) header_.is_json = true;
    if (depth_ >= 2) return refuse();
    if (++depth_ == 1) return true;
    tensor_ = nullptr;
    if (name_ == "__metadata__") {
      return std::exchange(has_metadata_, true) ? refuse("stands twice") : true;
    }
    const auto [place, is_new] = header_.tensors.try_emplace(name_);
    if (!is_new) return refuse("stands twice");
    tensor_ = &place->second;
    has_shape_ = has_offsets_ = false;
    return true;
  }

  bool key(std::string& text) override {
    (depth_ == 1 ? name_ : key_) = std::move(text);
    return true;
  }

  bool end_object() override {
    if (depth_-- == 2 && tensor_ != nullptr &&
        (tensor_->dtype.empty() || !has_shape_ || !has_offsets_)) {
      return refuse();
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || tensor_ == nullptr || list_ != nullptr) return refuse();
    if (key_ == "shape" && !std::exchange(has_shape_, true)) {
      list_ = &tensor_->shape;
    } else if (key_ == "data_offsets" && !std::exchange(has_offsets_, true)) {
      list_ = &tensor_->offsets;
    } else {
      return refuse();
    }
    return true;
  }

  bool end_array() override {
    list_ = nullptr;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const HeaderJson::exception&) override {
    header_.is_json = false;
    return false;
  }

 private:
  bool refuse(std::string_view why = "is not as the format has it") {
    header_.problem = fmt::format("the entry '{}' of its header {}", name_, why);
    return false;
  }

  SafetensorsHeader& header_;
  std::size_t depth_ = 0;  // of objects
  std::string name_;       // of the tensor, or __metadata__
  std::string key_;        // within it
  TensorEntry* tensor_ = nullptr;
  std::vector<std::size_t>* list_ = nullptr;
  bool has_metadata_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text) {
  SafetensorsHeader header;
  HeaderReader reader(header);
  HeaderJson::sax_parse(text, &reader);
  return header;
}

}  // namespace tare
