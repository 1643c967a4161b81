# SPDX-License-Identifier: BSD-3-Clause
# A layer is a folder of src/ compiled on its own; the library is all of them together.
define_property(GLOBAL PROPERTY TARE_LAYERS)

# Names in unnamed namespaces must differ within a layer, as the files of one may be compiled as one.
function(tare_unity target)
  if(TARE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)
  endif()
endfunction()

# Files that Highway compiles once for each vector width: they include themselves, so never as part of another.
function(tare_vector_files)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  if(TARE_SANITIZE)
    # The widest and the plainest: each width more takes the sanitizers' compiler twenty seconds.
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS
      "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX2|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")
  endif()
endfunction()

# Every .cpp below the current folder, in the order of their names, so that a new file needs no list and a build does not depend on
# the file system; without those named in ARGN.
function(tare_sources result)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(REMOVE_ITEM found ${ARGN} "")
  list(SORT found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# tare_layer(name [GENERATED file...] [EXCEPT file...]): the sources of the current folder and what the build writes.
function(tare_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "GENERATED;EXCEPT")
  tare_sources(sources ${layer_EXCEPT})
  add_library(tare_${name} OBJECT ${sources} ${layer_GENERATED})
  target_include_directories(tare_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tare_${name} PUBLIC tare_build_flags fmt::fmt nlohmann_json::nlohmann_json Eigen3::Eigen)
  if(TARE_SANITIZE)
    target_compile_options(tare_${name} PRIVATE -O1)  # the tests' programs stay without: they compile for longer than they run
  endif()
  # The large headers are parsed once for all layers: half of the time of a build from nothing.
  if(name STREQUAL base)
    target_precompile_headers(tare_${name} PRIVATE <algorithm> <functional> <memory> <span> <string> <vector>
      <fmt/format.h> <nlohmann/json.hpp>)
  else()
    target_precompile_headers(tare_${name} REUSE_FROM tare_base)
  endif()
  tare_unity(tare_${name})
  set_property(GLOBAL APPEND PROPERTY TARE_LAYERS tare_${name})
endfunction()

# What both forms of the library are linked with.
function(tare_link_library target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:tare_build_flags> fmt::fmt ZLIB::ZLIB Threads::Threads tare::hwy)
  if(TARE_WITH_XGBOOST)
    target_link_libraries(${target} PRIVATE tare::xgboost)
  endif()
endfunction()

function(tare_library_from_layers)
  get_property(layers GLOBAL PROPERTY TARE_LAYERS)
  set(objects)
  set(shared_objects)
  foreach(layer ${layers})
    list(APPEND objects $<TARGET_OBJECTS:${layer}>)
    if(NOT layer STREQUAL tare_serve)  # only the tool serves
      list(APPEND shared_objects $<TARGET_OBJECTS:${layer}>)
    endif()
  endforeach()
  add_library(tare_library STATIC ${objects})
  set_target_properties(tare_library PROPERTIES OUTPUT_NAME tare EXPORT_NAME static)
  tare_link_library(tare_library)

  if(TARE_BUILD_SHARED)
    add_library(tare_shared SHARED ${shared_objects})
    set_target_properties(tare_shared PROPERTIES OUTPUT_NAME tare EXPORT_NAME tare VERSION ${PROJECT_VERSION}
      # Before 1.0 a minor version may break programs that were linked with the one before.
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libtare.map)
    target_link_options(tare_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/libtare.map -Wl,--no-undefined)
    tare_link_library(tare_shared)
    add_library(tare::tare ALIAS tare_shared)
  else()
    add_library(tare::tare ALIAS tare_library)
  endif()

  # What tests, benchmarks and the tool see: the static library and its private headers.
  add_library(tare_internal INTERFACE)
  target_include_directories(tare_internal INTERFACE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tare_internal INTERFACE tare_library tare_build_flags fmt::fmt
    nlohmann_json::nlohmann_json Eigen3::Eigen Threads::Threads)
endfunction()
