// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/model_holder.h"

#include <sys/stat.h>

#include <utility>

#include "base/fail.h"
#include "serve/http/refusal.h"

namespace tare::serve {
namespace {

void check_columns(const ServedModel& present, const ServedModel& fresh) {
  for (const PlannedColumn& column : fresh.features().columns()) {
    const auto place = present.features().find(column.name);
    if (!place) {
      fail(ErrorCode::kBadData,
           "it needs a column '{}', which clients of the current model do not send (restart the "
           "service for a model with other columns)",
           column.name);
    }
    if (present.features().columns()[*place].kind != column.kind) {
      fail(ErrorCode::kBadData,
           "its column '{}' has a different type than clients send (restart the service)",
           column.name);
    }
  }
  if (present.schema().target() != fresh.schema().target()) {
    fail(ErrorCode::kBadData, "its target is '{}', not '{}' (restart the service)",
         fresh.schema().target(), present.schema().target());
  }
  if (present.schema().window() != fresh.schema().window()) {
    fail(ErrorCode::kBadData, "its window is {} rows, not {} (restart the service)",
         fresh.schema().window(), present.schema().window());
  }
}

}  // namespace

ModelHolder::ModelHolder(std::string path) : path_(std::move(path)), loaded_(look()) {
  seen_ = loaded_;
  serve(std::make_shared<const NumberedModel>(NumberedModel{ServedModel::load(path_), 1}));
}

std::shared_ptr<const NumberedModel> ModelHolder::now() const {
  const std::lock_guard lock(now_guard_);
  return now_;
}

/// The old model goes outside of the lock, where nobody waits for that.
void ModelHolder::serve(std::shared_ptr<const NumberedModel> fresh) noexcept {
  const std::lock_guard lock(now_guard_);
  now_.swap(fresh);
}

ModelHolder::Reload ModelHolder::reload(const std::function<void(std::uint32_t)>& before,
                                        const Prepare& prepare) {
  const std::lock_guard lock(reloading_);
  const std::shared_ptr<const NumberedModel> present = now();
  note_load();
  try {
    auto fresh = ServedModel::load(path_);
    if (fresh->version() == present->model->version() && !is_distrusted_)
      return {Outcome::kSame, fresh->version(), ""};
    check_columns(*present->model, *fresh);
    // What needs memory comes first: from `before` on nothing may throw.
    Reload switched{Outcome::kSwitched, fresh->version(), ""};
    auto next = std::make_shared<NumberedModel>(NumberedModel{std::move(fresh), present->number});
    const Prepared prepared = prepare ? prepare(*next->model, *present->model) : Prepared{};
    is_distrusted_ = false;
    if (!prepared.continues) before(++next->number);
    serve(std::move(next));
    return switched;
  } catch (const std::bad_alloc&) {
    return {Outcome::kRefused, present->model->version(), "there is not enough memory to load it"};
  } catch (const std::exception& error) {
    return {Outcome::kRefused, present->model->version(), error.what()};
  }
}

bool ModelHolder::file_changed() {
  const FileState state = look();
  const std::lock_guard lock(state_guard_);
  const bool settled = state == seen_;
  seen_ = state;
  if (!settled || state == loaded_ || state.size < 0) return false;
  loaded_ = state;
  return true;
}

/// A file that is loaded because somebody asked for it has not changed once more.
void ModelHolder::note_load() {
  const FileState state = look();
  const std::lock_guard lock(state_guard_);
  loaded_ = state;
}

ModelHolder::FileState ModelHolder::look() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return {};
  return {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

}  // namespace tare::serve
