// SPDX-License-Identifier: BSD-3-Clause
#include "io/safetensors.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "io/files/whole_file.h"
#include "io/json_text.h"
#include "io/safetensors_header.h"

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
  if (header.size() > kMostHeaderBytes) {
    fail(ErrorCode::kBadData,
         "the model has too many columns, categories or parts for a file: its header would have {} "
         "bytes, and at most {} are read",
         header.size(), kMostHeaderBytes);
  }
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

std::uint64_t header_length(std::span<const std::byte> bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = (length << 8) | static_cast<std::uint64_t>(bytes[i]);
  }
  return length;
}

/// The header's text, where it lies; `bytes` begin with its length. Nothing where it would end past
/// their end.
std::optional<std::string_view> header_text(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes) return {};
  const std::uint64_t length = header_length(bytes);
  if (length > bytes.size() - kLengthBytes) return {};
  return std::string_view(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes,
                          static_cast<std::size_t>(length));
}

/// The checksum that a file should state, whose digits stand at `place` of its header.
std::string checksum_of(std::string_view header, std::size_t place,
                        std::span<const std::byte> payload) {
  std::uint32_t sum = crc(0, std::as_bytes(std::span(header.substr(0, place))));
  sum = crc(sum, std::as_bytes(std::span(kNoChecksum)));
  sum = crc(sum, std::as_bytes(std::span(header.substr(place + kNoChecksum.size()))));
  return hex8(crc(sum, payload));
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
  const std::optional<std::string_view> header = header_text(bytes);
  const auto place = header ? checksum_place(*header) : std::nullopt;
  return place ? std::string(header->substr(*place, kNoChecksum.size())) : "unknown";
}

std::vector<std::byte> with_right_checksum(std::vector<std::byte> bytes) {
  const std::optional<std::string_view> header = header_text(bytes);
  const auto place = header ? checksum_place(*header) : std::nullopt;
  if (!place) return bytes;
  const std::span<const std::byte> all(bytes);
  const std::string sum = checksum_of(*header, *place, all.subspan(kLengthBytes + header->size()));
  std::ranges::copy(std::as_bytes(std::span(sum)),
                    bytes.begin() + static_cast<std::ptrdiff_t>(kLengthBytes + *place));
  return bytes;
}

namespace {

std::optional<Dtype> dtype_by_name(std::string_view name) {
  for (const Dtype candidate : {Dtype::kU8, Dtype::kI32, Dtype::kI64, Dtype::kF32, Dtype::kF64}) {
    if (name == dtype_name(candidate)) return candidate;
  }
  return {};
}

/// Checks one tensor's entry against the payload and returns where it lies.
Tensor tensor_at(const std::string& path, const std::string& name, const TensorEntry& entry,
                 std::span<const std::byte> payload, const std::shared_ptr<const void>& owner) {
  const auto wrong = [&](std::string_view what) {
    fail(ErrorCode::kCorruptFile, {.source = path}, "tensor '{}': {}", name, what);
  };
  const std::optional<Dtype> dtype = dtype_by_name(entry.dtype);
  if (!dtype) wrong("its type is not known");
  Tensor tensor;
  tensor.dtype = *dtype;
  tensor.shape = entry.shape;
  std::size_t elements = 1;
  for (const std::size_t extent : entry.shape) {
    // Also of a tensor without elements: its other extents say how large other parts are.
    if (extent > 0 && std::max<std::size_t>(elements, 1) > payload.size() / extent) {
      wrong("its shape is larger than the file");
    }
    elements *= extent;
  }
  if (entry.offsets.size() != 2) wrong("its place is not two offsets");
  const std::size_t first = entry.offsets[0];
  const std::size_t last = entry.offsets[1];
  if (first > last || last > payload.size()) wrong("it reaches past the end of the file");
  if (last - first != elements * dtype_size(tensor.dtype)) {
    wrong("its length does not fit its shape");
  }
  const auto bytes = payload.subspan(first, last - first);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % dtype_size(tensor.dtype) != 0) {
    wrong("it is not aligned");
  }
  tensor.bytes = Buffer<std::byte>(bytes, owner);
  return tensor;
}

/// The tensors must fill the payload, one after the other: none lies over another, so that what a
/// loader allocates for them stays within the file's size.
void check_places(const std::string& path, const SafetensorsHeader& header, std::size_t payload) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const auto& [name, entry] : header.tensors) {
    places.emplace_back(entry.offsets[0], entry.offsets[1]);
  }
  std::ranges::sort(places);
  std::size_t end = 0;
  const bool joined = std::ranges::all_of(
      places, [&](const auto& place) { return place.first == std::exchange(end, place.second); });
  if (!joined || end != payload) {
    fail(ErrorCode::kCorruptFile, {.source = path},
         "its tensors do not fill its {} bytes one after the other: there is a gap, or one lies "
         "over another",
         payload);
  }
}

/// A value of the metadata, as JSON.
Json value_in(const std::string& path, const std::string& name, const std::string& text) {
  Json value = is_nested_too_deeply(text) ? Json(Json::value_t::discarded)
                                          : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    fail(ErrorCode::kCorruptFile, {.source = path},
         "is not a tare model file: its value '{}' is not JSON", name);
  }
  return value;
}

}  // namespace

TensorStore read_safetensors(const std::string& path) {
  // A large file that is none of ours is not read to its end.
  const auto may_be_ours = [](std::span<const std::byte> start) {
    return start.size() > kLengthBytes && header_length(start) <= kMostHeaderBytes &&
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
  const std::uint64_t length = header_length(bytes);
  if (length > kMostHeaderBytes) {
    not_ours(fmt::format("its header would have {} bytes, and at most {} are read", length,
                         kMostHeaderBytes));
  }
  const std::optional<std::string_view> text = header_text(bytes);
  if (!text) {
    fail(ErrorCode::kCorruptFile, {.source = path},
         "is not a tare model file, or is cut off: its header would end past its end");
  }
  const auto payload = bytes.subspan(kLengthBytes + text->size());

  const SafetensorsHeader header = parse_safetensors_header(*text);
  if (!header.is_json) not_ours("its header is not JSON");
  const auto stated = [&](std::string_view key) -> std::string_view {
    const auto found = header.metadata.find(key);
    return found == header.metadata.end() ? std::string_view() : found->second;
  };
  if (stated("format") != "tare") not_ours("its header does not say so");
  const std::string_view version = stated("format_version");
  if (version.empty()) not_ours("it states no version of its format");
  if (version != std::to_string(kFormatVersion)) {
    fail(ErrorCode::kCorruptFile, {.source = path, .remedies = {advice("use a newer tare")}},
         "has format version {}, and this build reads up to {}", version, kFormatVersion);
  }
  const auto place = checksum_place(*text);
  if (!place) not_ours("it has no checksum");
  const std::string_view sum = text->substr(*place, kNoChecksum.size());
  if (const std::string actual = checksum_of(*text, *place, payload); sum != actual) {
    fail(ErrorCode::kCorruptFile, {.source = path},
         "is damaged or cut off: its checksum is {}, and it states {}", actual, sum);
  }
  if (!header.problem.empty()) not_ours(header.problem);

  TensorStore store;
  for (const auto& [name, entry] : header.tensors) {
    store.tensors[name] = tensor_at(path, name, entry, payload, owner);
  }
  check_places(path, header, payload.size());
  constexpr std::string_view kOwn = "tare.";
  for (const auto& [name, value] : header.metadata) {
    if (name.starts_with(kOwn))
      store.values[name.substr(kOwn.size())] = value_in(path, name, value);
  }
  return store;
}

}  // namespace tare
