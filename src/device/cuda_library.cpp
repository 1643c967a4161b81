// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace tare {
namespace {

constexpr std::string_view kLibrary = "libtare_cuda.so";

/// The folder of the program or library that this function is part of.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code error;
  return std::filesystem::weakly_canonical(info.dli_fname, error).parent_path();
}

std::vector<std::string> places_to_look() {
  const char* const named = std::getenv("TARE_CUDA_LIBRARY");
  if (named != nullptr && *named != '\0') return {named};
  std::vector<std::string> places;
  const std::filesystem::path own = own_folder();
  for (const auto& folder : {own, own / "cuda", own.parent_path() / "lib"}) {
    std::error_code error;
    if (!own.empty() && std::filesystem::exists(folder / kLibrary, error)) {
      places.push_back(folder / kLibrary);
    }
  }
  places.emplace_back(kLibrary);
  return places;
}

}  // namespace

const CudaLibrary& CudaLibrary::get() {
  static const CudaLibrary library;
  return library;
}

CudaLibrary::CudaLibrary() : functions_(load()) {
  if (functions_ == nullptr) return;
  TareCudaText why{};
  devices_ = functions_->devices(&why);
  if (devices_ == 0) why_not_ = fmt::format("no GPU can be used: {}", why.text);
}

const TareCudaFunctions* CudaLibrary::load() {
  for (const std::string& place : places_to_look()) {
    // To open a pipe would wait for someone to write to it.
    std::error_code error;
    const auto kind = std::filesystem::status(place, error).type();
    if (kind != std::filesystem::file_type::regular &&
        kind != std::filesystem::file_type::not_found) {
      why_not_ = fmt::format("{} is not a file", place);
      continue;
    }
    void* const handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const reason = dlerror();
      why_not_ = fmt::format("{} cannot be loaded: {}", kLibrary, reason == nullptr ? "" : reason);
      continue;
    }
    using Entry = const TareCudaFunctions* (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, "tare_cuda_functions"));
    const TareCudaFunctions* const functions = entry == nullptr ? nullptr : entry();
    if (functions != nullptr && functions->abi == TARE_CUDA_ABI) {
      why_not_.clear();
      return functions;  // and it stays loaded
    }
    why_not_ = fmt::format("{} is not the {} of this version of tare", place, kLibrary);
    dlclose(handle);
  }
  return nullptr;
}

void CudaRowsDeleter::operator()(TareCudaRows* rows) const noexcept {
  CudaLibrary::get().functions().release(rows);
}

}  // namespace tare
