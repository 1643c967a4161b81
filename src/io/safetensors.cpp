// SPDX-License-Identifier: BSD-3-Clause
#include "io/safetensors.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/fail.h"
#include "io/json_text.h"
#include "io/whole_file.h"

namespace tare {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kNoChecksum = "00000000";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;  // a mapped double must lie on a multiple of 8

std::uint32_t crc(std::uint32_t start, std::span<const std::byte> bytes) {
  if (bytes.empty()) return start;  // zlib starts again if it gets a null pointer
  return static_cast<std::uint32_t>(
      ::crc32_z(start, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string hex8(std::uint32_t value) { return fmt::format("{:08x}", value); }

std::size_t padded(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

/// Where the eight digits of the checksum stand in the header's text.
std::optional<std::size_t> checksum_place(std::string_view header) {
  constexpr std::string_view kKey = "\"checksum\":\"";
  const std::size_t found = header.find(kKey);
  if (found == std::string_view::npos) return {};
  const std::size_t place = found + kKey.size();
  if (place + kNoChecksum.size() >= header.size()) return {};
  return place;
}

/// The order of the tensors in the payload. The format allows no gap between them, so the widest
/// elements come first: then each one starts on a multiple of its own size.
std::vector<std::pair<std::string, const Tensor*>> in_file_order(const TensorStore& store) {
  std::vector<std::pair<std::string, const Tensor*>> order;
  for (const auto& [name, tensor] : store.tensors) order.emplace_back(name, &tensor);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return dtype_size(a.second->dtype) > dtype_size(b.second->dtype);
  });
  return order;
}

Json header_of(const TensorStore& store) {
  Json header = Json::object();
  Json& metadata = header[std::string(kMetadata)];
  metadata["checksum"] = kNoChecksum;
  metadata["format"] = "tare";
  metadata["format_version"] = std::to_string(kFormatVersion);
  for (const auto& [name, value] : store.values) metadata["tare." + name] = value.dump();
  std::size_t offset = 0;
  for (const auto& [name, tensor] : in_file_order(store)) {
    const std::size_t end = offset + tensor->bytes.size();
    header[name] = {{"dtype", dtype_name(tensor->dtype)},
                    {"shape", tensor->shape},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  return header;
}

}  // namespace

namespace {

/// A file's bytes in pieces, for `write` to put one behind the other.
template <class Write>
void write_pieces(const TensorStore& store, const Write& write) {
  std::string header = header_of(store).dump();
  header.resize(padded(header.size()), ' ');
  const auto order = in_file_order(store);
  std::uint32_t sum = crc(0, std::as_bytes(std::span(header)));
  for (const auto& [name, tensor] : order) sum = crc(sum, tensor->bytes);
  header.replace(*checksum_place(header), kNoChecksum.size(), hex8(sum));

  std::uint64_t length = header.size();
  std::byte length_bytes[kLengthBytes];
  for (std::byte& byte : length_bytes) {
    byte = static_cast<std::byte>(length & 0xff);
    length >>= 8;
  }
  write(std::span<const std::byte>(length_bytes));
  write(std::as_bytes(std::span(header)));
  for (const auto& [name, tensor] : order) write(tensor->bytes.span());
}

/// The header's text; `bytes` begin with its length. Nothing where it would end past their end.
std::optional<std::string> header_text(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes) return {};
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = (length << 8) | static_cast<std::uint64_t>(bytes[i]);
  }
  if (length > bytes.size() - kLengthBytes) return {};
  return std::string(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes,
                     static_cast<std::size_t>(length));
}

}  // namespace

void write_safetensors(const std::string& path, const TensorStore& store, Overwrite overwrite) {
  AtomicFile file(path, overwrite);
  write_pieces(store, [&](std::span<const std::byte> piece) { file.write(piece); });
  file.commit();
}

std::vector<std::byte> safetensors_bytes(const TensorStore& store) {
  std::vector<std::byte> bytes;
  write_pieces(store, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return bytes;
}

std::string stated_checksum(std::span<const std::byte> bytes) {
  const std::optional<std::string> header = header_text(bytes);
  const auto place = header ? checksum_place(*header) : std::nullopt;
  return place ? header->substr(*place, kNoChecksum.size()) : "unknown";
}

namespace {

/// Checks one tensor's entry against the payload and returns where it lies.
Tensor tensor_at(const std::string& path, const std::string& name, const Json& entry,
                 std::span<const std::byte> payload, const std::shared_ptr<const void>& owner) {
  Tensor tensor;
  const auto wrong = [&](std::string_view what) {
    fail(ErrorCode::kCorruptFile, {.source = path}, "tensor '{}': {}", name, what);
  };
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets")) {
    wrong("its entry is incomplete");
  }
  const Json& dtype = entry["dtype"];
  bool known = false;
  for (const Dtype candidate : {Dtype::kU8, Dtype::kI32, Dtype::kI64, Dtype::kF32, Dtype::kF64}) {
    if (dtype.is_string() && dtype.get<std::string>() == dtype_name(candidate)) {
      tensor.dtype = candidate;
      known = true;
    }
  }
  if (!known) wrong("its type is not known");
  std::size_t elements = 1;
  if (!entry["shape"].is_array()) wrong("its shape is not a list");
  for (const Json& extent : entry["shape"]) {
    if (!extent.is_number_unsigned()) wrong("its shape is not made of counts");
    const auto value = extent.get<std::size_t>();
    if (value > 0 && elements > payload.size() / value) wrong("its shape is larger than the file");
    elements *= value;
    tensor.shape.push_back(value);
  }
  const Json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    wrong("its place is not two offsets");
  }
  const auto first = offsets[0].get<std::size_t>();
  const auto last = offsets[1].get<std::size_t>();
  if (first > last || last > payload.size()) wrong("it reaches past the end of the file");
  if (last - first != elements * dtype_size(tensor.dtype))
    wrong("its length does not fit its shape");
  const auto bytes = payload.subspan(first, last - first);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % dtype_size(tensor.dtype) != 0) {
    wrong("it is not aligned");
  }
  tensor.bytes = Buffer<std::byte>(bytes, owner);
  return tensor;
}

}  // namespace

TensorStore read_safetensors(const std::string& path) {
  // A large file that is none of ours is not read to its end.
  const auto may_be_ours = [](std::span<const std::byte> start) {
    constexpr std::uint64_t kLongHeader = std::uint64_t{1} << 32;
    std::uint64_t length = 0;
    for (std::size_t i = std::min(start.size(), kLengthBytes); i-- > 0;) {
      length = (length << 8) | static_cast<std::uint64_t>(start[i]);
    }
    return length > 1 && length < kLongHeader && start.size() > kLengthBytes &&
           start[kLengthBytes] == std::byte{'{'};
  };
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(read_whole_file(path, may_be_ours));
  return read_safetensors(*bytes, bytes, path);
}

TensorStore read_safetensors(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const std::string& path) {
  const auto not_ours = [&](std::string_view why) {
    fail(ErrorCode::kCorruptFile, {.source = path}, "is not a tare model file: {}", why);
  };
  if (bytes.size() < kLengthBytes) not_ours("it is too short");
  std::optional<std::string> found = header_text(bytes);
  if (!found) {
    fail(ErrorCode::kCorruptFile, {.source = path},
         "is not a tare model file, or is cut off: its header would end past its end");
  }
  std::string text = *std::move(found);
  const auto payload = bytes.subspan(kLengthBytes + text.size());

  if (is_nested_too_deeply(text)) not_ours("its header has too many brackets within brackets");
  const Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object()) not_ours("its header is not JSON");
  const auto metadata = header.find(std::string(kMetadata));
  if (metadata == header.end() || !metadata->is_object() ||
      metadata->value("format", Json()) != Json("tare")) {
    not_ours("its header does not say so");
  }
  const Json version = metadata->value("format_version", Json());
  if (version.is_string() && version != Json(std::to_string(kFormatVersion))) {
    fail(ErrorCode::kCorruptFile, {.source = path, .remedies = {advice("use a newer tare")}},
         "has format version {}, and this build reads up to {}", version.get<std::string>(),
         kFormatVersion);
  }
  const auto place = checksum_place(text);
  if (!place) not_ours("it has no checksum");
  const std::string stated = text.substr(*place, kNoChecksum.size());
  text.replace(*place, kNoChecksum.size(), kNoChecksum);
  const std::string actual = hex8(crc(crc(0, std::as_bytes(std::span(text))), payload));
  if (stated != actual) {
    fail(ErrorCode::kCorruptFile, {.source = path},
         "is damaged or cut off: its checksum is {}, and it states {}", actual, stated);
  }

  TensorStore store;
  for (const auto& [name, entry] : header.items()) {
    if (name != kMetadata) store.tensors[name] = tensor_at(path, name, entry, payload, owner);
  }
  constexpr std::string_view kOwn = "tare.";
  for (const auto& [name, value] : metadata->items()) {
    if (!name.starts_with(kOwn)) continue;
    const bool sound = value.is_string() && !is_nested_too_deeply(value.get<std::string>());
    Json parsed = sound ? Json::parse(value.get<std::string>(), nullptr, false) : Json();
    if (!sound || parsed.is_discarded()) not_ours("its value '" + name + "' is not JSON");
    store.values[name.substr(kOwn.size())] = std::move(parsed);
  }
  return store;
}

}  // namespace tare
