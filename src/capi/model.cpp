// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/strings.h"
#include "capi/handles.h"
#include "capi/watched.h"
#include "tare/apply/track.h"
#include "tare/base/version.h"
#include "tare/calibrate/description.h"

using tare::capi::guarded;
using tare::capi::needed;

namespace tare::capi {

char* copy_text(std::string_view text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

std::size_t read_threads(std::string_view text) {
  constexpr std::size_t kMost = 1024;
  const auto count = parse_count(text);
  if (!count || *count > kMost) {
    fail_option("threads", text, fmt::format("must be a whole number from 0 to {}", kMost));
  }
  return *count;
}

}  // namespace tare::capi

namespace {

const tare::Notice* fit_notice(const tare_model* model, std::size_t notice) {
  if (model == nullptr || notice >= model->notices.size()) return nullptr;
  return &model->notices[notice];
}

}  // namespace

const char* tare_version(void) { return TARE_VERSION; }

tare_status tare_fit(const tare_table* table, const char* const* options, size_t count,
                     tare_model** model) {
  return guarded([&] {
    tare_model*& out = needed(model, "model");
    tare::FitOptions asked;
    const std::size_t threads = tare::capi::set_options(
        options, count, [&](auto name, auto value) { asked.set(name, value); });
    const tare::Table& rows = needed(table, "table").table;
    tare::FitSummary summary;
    tare::FittedModel fitted;
    tare::capi::watched(threads, [&](const tare::Execution& how) {
      fitted = tare::fit(rows, asked, how, &summary);
    });
    out = new tare_model{std::move(fitted), std::move(summary.notices)};
  });
}

tare_status tare_model_update(const tare_model* model, const tare_table* table,
                              tare_model** updated) {
  return guarded([&] {
    tare_model*& out = needed(updated, "updated");
    const tare::FittedModel& before = needed(model, "model").fitted;
    const tare::Table& rows = needed(table, "table").table;
    tare::Updated made;
    tare::capi::watched(
        0, [&](const tare::Execution& how) { made = tare::update(before, rows, {}, how); });
    out = new tare_model{std::move(made.model), std::move(made.notices)};
  });
}

tare_status tare_model_open(const char* path, tare_model** model) {
  return guarded([&] {
    tare_model*& out = needed(model, "model");
    out = new tare_model{tare::load_model(&needed(path, "path"))};
  });
}

tare_status tare_model_open_memory(const void* bytes, size_t size, tare_model** model) {
  return guarded([&] {
    tare_model*& out = needed(model, "model");
    if (bytes == nullptr) tare::fail(tare::ErrorCode::kInvalidArgument, "bytes is NULL");
    const auto* first = static_cast<const std::byte*>(bytes);
    out = new tare_model{tare::load_model_from_memory({first, first + size})};
  });
}

tare_status tare_model_save(const tare_model* model, const char* path, int replace) {
  return guarded([&] {
    tare::save_model(&needed(path, "path"), needed(model, "model").fitted,
                     replace != 0 ? tare::Replace::kReplace : tare::Replace::kKeep);
  });
}

tare_status tare_model_save_memory(const tare_model* model, void** bytes, size_t* size) {
  return guarded([&] {
    void*& out = needed(bytes, "bytes");
    std::size_t& length = needed(size, "size");
    const auto saved = tare::save_model_to_memory(needed(model, "model").fitted);
    out = tare::capi::copy_text({reinterpret_cast<const char*>(saved.data()), saved.size()});
    length = saved.size();
  });
}

tare_status tare_model_describe(const tare_model* model, char** json) {
  return guarded([&] {
    char*& out = needed(json, "json");
    const auto description = tare::describe(needed(model, "model").fitted);
    out = tare::capi::copy_text(tare::description_json(description));
  });
}

int tare_model_has_guarantee(const tare_model* model) {
  return model != nullptr && model->fitted.model->has_guarantee() ? 1 : 0;
}

size_t tare_model_notices(const tare_model* model) {
  return model != nullptr ? model->notices.size() : 0;
}

const char* tare_model_notice_code(const tare_model* model, size_t notice) {
  const tare::Notice* found = fit_notice(model, notice);
  return found != nullptr ? found->code.c_str() : nullptr;
}

const char* tare_model_notice_text(const tare_model* model, size_t notice) {
  const tare::Notice* found = fit_notice(model, notice);
  return found != nullptr ? found->text.c_str() : nullptr;
}

size_t tare_model_notice_rows(const tare_model* model, size_t notice) {
  const tare::Notice* found = fit_notice(model, notice);
  return found != nullptr ? found->rows : 0;
}

void tare_model_free(tare_model* model) { delete model; }

void tare_free(void* memory) { std::free(memory); }
