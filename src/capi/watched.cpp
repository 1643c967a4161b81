// SPDX-License-Identifier: BSD-3-Clause
#include "capi/watched.h"

#include "base/watched_work.h"
#include "tare/c.h"

namespace tare::capi {
namespace {

struct Watcher {
  tare_watcher function = nullptr;
  void* data = nullptr;
};

thread_local Watcher of_this_thread;

}  // namespace

void watched(std::size_t threads, const std::function<void(const Execution&)>& work) {
  Execution how;
  how.threads = threads;
  const Watcher watcher = of_this_thread;
  if (watcher.function == nullptr) return work(how);

  run_watched(how, work, [&](const WorkNews& news) {
    if (watcher.function(watcher.data, news.stage.c_str(), news.share) != 0) throw Stopped{};
  });
}

}  // namespace tare::capi

extern "C" void tare_watch(tare_watcher watcher, void* data) {
  tare::capi::of_this_thread = {watcher, data};
}
