// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "serve/model/served_model.h"

namespace tare::serve {

/// A model and its number, by which observations are assigned to it.
struct NumberedModel {
  std::shared_ptr<const ServedModel> model;
  std::uint32_t number = 0;
};

/// The model in use, and its file. A request takes the model once and keeps it, so that a switch
/// does not affect requests in progress.
class ModelHolder {
 public:
  /// Throws what ServedModel::load throws.
  explicit ModelHolder(std::string path);

  const std::string& path() const noexcept { return path_; }
  std::shared_ptr<const NumberedModel> now() const;

  enum class Outcome : std::uint8_t { kSwitched, kSame, kRefused };
  struct Reload {
    Outcome outcome = Outcome::kSame;
    std::string version;
    std::string reason;  // if it was refused: the reason and the remedy
  };
  /// What must be done for a switch, and may refuse it by an exception.
  struct Prepared {
    std::unique_lock<std::mutex> held;  // until after the switch
    bool continues = false;             // the new model is in the state of the current one
  };
  using Prepare = std::function<Prepared(const ServedModel& fresh, const ServedModel& present)>;
  /// Reloads the whole file, and only then switches. A file is refused if it is damaged, cannot
  /// answer, or needs columns that clients of the current model do not send; the current model then
  /// stays in use. One reload at a time, on a thread that may block. `before` is called with the
  /// new model's number just before the switch, unless the new model continues the current one.
  Reload reload(const std::function<void(std::uint32_t)>& before, const Prepare& prepare = {});

  /// The next reload takes the file even if it is the one in use.
  void distrust() noexcept { is_distrusted_ = true; }

  /// Returns true once after the file has changed and then stayed the same for one more call, so
  /// that a file that is being written is not loaded. For one thread.
  bool file_changed();

 private:
  struct FileState {
    std::uint64_t inode = 0;
    std::int64_t size = -1;  // -1: no file
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    bool operator==(const FileState&) const = default;
  };
  FileState look() const;
  void note_load();

  std::string path_;
  void serve(std::shared_ptr<const NumberedModel> fresh) noexcept;

  // Not an atomic shared_ptr: that of g++ 12 is read without the order that its writer relies on
  // (its bug 101761).
  mutable std::mutex now_guard_;
  std::shared_ptr<const NumberedModel> now_;
  std::mutex reloading_;
  std::atomic<bool> is_distrusted_ = false;
  std::mutex state_guard_;
  FileState loaded_;  // when the last load began
  FileState seen_;    // by the last call of file_changed
};

}  // namespace tare::serve
