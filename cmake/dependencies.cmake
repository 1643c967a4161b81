# SPDX-License-Identifier: BSD-3-Clause
# Everything comes from the distribution; tools/setup.sh installs it on Debian.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(nlohmann_json REQUIRED)
find_package(FastFloat REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # headers alone: Asio and Beast, for the service
find_path(HWY_INCLUDE_DIR hwy/highway.h REQUIRED)
find_library(HWY_LIBRARY hwy REQUIRED)
if(TARE_WITH_XGBOOST)
  find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)
  find_library(XGBOOST_LIBRARY xgboost REQUIRED)
endif()
if(TARE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(TARE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND PROJECT_IS_TOP_LEVEL)
  # Without these ccache does not cache what uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  add_compile_options(-fpch-preprocess)
endif()
