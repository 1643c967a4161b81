// SPDX-License-Identifier: BSD-3-Clause
#include "support/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <system_error>

namespace tare::cli {
namespace {

/// Bytes of the UTF-8 character at `i`; 0 where there is none.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(i);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  }
  return length;
}

/// One of U+0000 to U+001F, U+007F to U+009F.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string escaped(std::string_view text, bool keep_breaks) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const std::string_view character = text.substr(i, length == 0 ? 1 : length);
    const bool kept = keep_breaks && character == "\n";
    if (kept || (length > 0 && !is_control(character))) {
      out += character;
    } else {
      for (const char c : character) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    i += character.size();
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, false); }
std::string printable_lines(std::string_view text) { return escaped(text, true); }

void write_error(std::string_view text) noexcept {
  sigset_t pipe_signal;
  sigset_t pending;
  sigset_t before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (!was_pending) {
    // A signal that this write left behind would strike as soon as it is let through.
    const timespec now{};
    while (sigtimedwait(&pipe_signal, nullptr, &now) == -1 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void tell(std::string_view lead, std::string_view text) noexcept {
  constexpr std::size_t kLongest = 8'192;
  try {
    std::string line(lead);
    line += printable(text.substr(0, kLongest));
    if (text.size() > kLongest) line += "...";
    line += '\n';
    write_error(line);
  } catch (...) {  // no memory for the text
    write_error(lead);
    write_error("out of memory\n");
  }
}

void write_output(std::string_view text) {
  const std::string safe = printable_lines(text);
  if (std::fwrite(safe.data(), 1, safe.size(), stdout) == safe.size()) return;
  throw std::system_error(errno, std::generic_category(), "standard output");
}

void hold_standard_streams() noexcept {
  // The wrong way round, so that using one is an error and no text is lost silently.
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is this one: those below are open.
    if (::open("/dev/null", kModes[stream]) < 0) {
      [[maybe_unused]] const int held = ::open("/", O_RDONLY);
    }
  }
}

}  // namespace tare::cli
