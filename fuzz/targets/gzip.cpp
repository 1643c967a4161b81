// SPDX-License-Identifier: BSD-3-Clause
// A file that may be gzip: read in large and in small steps with the same result, and, where the
// program itself has packed the bytes, with the bytes that were packed.
#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "input.h"
#include "io/files/byte_source.h"
#include "memory_file.h"
#include "tare/base/error.h"

namespace tare::fuzz {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1}
                                   << 17;  // of what is unpacked; the rest is not read

struct Reading {
  std::string bytes;
  bool damaged = false;
};

Reading read_in_steps(const std::string& path, std::size_t step) {
  Reading result;
  try {
    const auto source = open_bytes(path);
    std::string room(step, '\0');
    while (result.bytes.size() < kMostBytes) {
      const std::size_t count = source->read(room.data(), step);
      if (count == 0) break;
      require(count <= step, "no more is given than asked for");
      result.bytes.append(room, 0, count);
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kCorruptFile, "data are damaged or good", error.what());
    result.damaged = true;
  }
  return result;
}

std::string packed(std::string_view text, int level, int strategy) {
  z_stream stream{};
  require(deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, strategy) == Z_OK,
          "zlib starts");
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib packs");
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

/// The text in one or two members with zeros between and behind, as tapes leave them.
std::string packed_members(Input& input, std::string_view& text) {
  const int level = static_cast<int>(input.choose(10));
  const int strategy = static_cast<int>(input.choose(5));
  const std::size_t zeros = input.choose(4);
  const bool two = input.flag();
  text = input.text();
  const std::size_t half = two ? text.size() / 2 : text.size();
  std::string bytes = packed(text.substr(0, half), level, strategy) + std::string(zeros, '\0');
  if (two) bytes += packed(text.substr(half), 9 - level, strategy);
  return bytes + std::string(zeros, '\0');
}

}  // namespace
}  // namespace tare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare::fuzz;
  Input input(data, size);
  const std::size_t mode = input.choose(4);
  const std::size_t step = 1 + input.choose(256);
  std::string_view text;
  std::string bytes;
  if (mode == 0) {
    bytes = input.text();
  } else {
    const std::size_t change = input.choose(256);
    const std::size_t place = input.choose(256) * 256 + input.choose(256);
    bytes = packed_members(input, text);
    if (mode == 2) bytes[place % bytes.size()] ^= static_cast<char>(change);
    if (mode == 3) bytes.resize(place % bytes.size());
  }
  const MemoryFile file(bytes);
  const Reading whole = read_in_steps(file.path(), std::size_t{1} << 16);
  const Reading steps = read_in_steps(file.path(), step);
  if (std::max(whole.bytes.size(), steps.bytes.size()) >= kMostBytes) return 0;
  require(whole.damaged == steps.damaged, "the size of the steps does not change the outcome");
  if (!whole.damaged) require(whole.bytes == steps.bytes, "nor the bytes");
  if (mode == 1) {
    require(!whole.damaged && whole.bytes == text, "what was packed comes out again");
  }
  const bool gzip = bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
  if (!gzip) require(!whole.damaged && whole.bytes == bytes, "other bytes are given as they are");
  return 0;
}
