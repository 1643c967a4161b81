// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <cstring>
#include <new>

#include "capi/handles.h"
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

}  // namespace tare::capi

const char* tare_version(void) { return TARE_VERSION; }

tare_status tare_fit(const tare_table* table, const char* const* options, size_t count,
                     tare_model** model) {
  return guarded([&] {
    tare_model*& out = needed(model, "model");
    tare::FitOptions asked;
    tare::capi::set_options(options, count, [&](auto name, auto value) { asked.set(name, value); });
    out = new tare_model{tare::fit(needed(table, "table").table, asked)};
  });
}

tare_status tare_model_update(const tare_model* model, const tare_table* table,
                              tare_model** updated) {
  return guarded([&] {
    tare_model*& out = needed(updated, "updated");
    tare::Updated made = tare::update(needed(model, "model").fitted, needed(table, "table").table);
    out = new tare_model{std::move(made.model)};
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

void tare_model_free(tare_model* model) { delete model; }

void tare_free(void* memory) { std::free(memory); }
