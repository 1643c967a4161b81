// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

namespace tare::serve {

/// A request's body as it arrives. Its bytes count towards the limit of all bodies from their
/// arrival until this object is destroyed. A large Content-Length alone does not count.
class BodyBuffer {
 public:
  BodyBuffer() = default;
  BodyBuffer(BodyBuffer&& other) noexcept { *this = std::move(other); }
  BodyBuffer& operator=(BodyBuffer&& other) noexcept {
    release();
    text = std::move(other.text);
    counter_ = std::exchange(other.counter_, nullptr);
    most_ = other.most_;
    counted_ = std::exchange(other.counted_, 0);
    return *this;
  }
  ~BodyBuffer() { release(); }

  /// The shared counter of bytes, and its limit.
  void count_in(std::atomic<std::uint64_t>& counter, std::size_t most) {
    counter_ = &counter;
    most_ = most;
  }
  /// Returns false and adds nothing if all bodies together would exceed the limit, or there is no
  /// memory.
  bool append(const void* data, std::size_t size) {
    if (counter_->fetch_add(size) + size > most_) {
      counter_->fetch_sub(size);
      return false;
    }
    counted_ += size;
    try {
      text.append(static_cast<const char*>(data), size);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  std::string text;  // may be taken; its bytes stay counted

 private:
  void release() {
    if (counter_ != nullptr) counter_->fetch_sub(counted_);
    counted_ = 0;
  }

  std::atomic<std::uint64_t>* counter_ = nullptr;
  std::uint64_t most_ = 0;
  std::uint64_t counted_ = 0;
};

/// How Beast's parser fills a BodyBuffer. not_enough_memory: all bodies together exceed the limit.
struct CountedBody {
  using value_type = BodyBuffer;

  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(boost::beast::http::header<isRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, boost::beast::error_code& error) {
      error = {};
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      std::size_t taken = 0;
      for (auto it = boost::asio::buffer_sequence_begin(buffers);
           it != boost::asio::buffer_sequence_end(buffers); ++it) {
        const boost::asio::const_buffer piece = *it;
        if (!body_.append(piece.data(), piece.size())) {
          error = make_error_code(boost::system::errc::not_enough_memory);
          return taken;
        }
        taken += piece.size();
      }
      error = {};
      return taken;
    }
    void finish(boost::beast::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace tare::serve
