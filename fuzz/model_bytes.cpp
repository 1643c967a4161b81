// SPDX-License-Identifier: BSD-3-Clause
#include "model_bytes.h"

#include <algorithm>
#include <cstdint>

namespace tare::fuzz {
namespace {

constexpr std::size_t kLengthBytes = 8;

std::uint64_t stated_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = (length << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

}  // namespace

ModelBytes split_model(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) return {{}, bytes};
  const std::uint64_t room = bytes.size() - kLengthBytes;
  const auto length = static_cast<std::size_t>(std::min(stated_length(bytes), room));
  return {bytes.substr(kLengthBytes, length), bytes.substr(kLengthBytes + length)};
}

std::string join_model(std::string header, std::string_view payload) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string bytes(kLengthBytes, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  }
  bytes += header;
  bytes += payload;
  return bytes;
}

}  // namespace tare::fuzz
