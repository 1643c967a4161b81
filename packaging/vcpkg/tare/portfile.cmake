# SPDX-License-Identifier: BSD-3-Clause
# An overlay port for the source that it is part of: vcpkg install tare --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    tool TARE_BUILD_TOOL
    xgboost TARE_WITH_XGBOOST)
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" SHARED)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${FEATURE_OPTIONS} -DTARE_BUILD_SHARED=${SHARED} -DTARE_BUILD_TESTS=OFF -DTARE_UNITY=ON -DTARE_WERROR=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME tare CONFIG_PATH lib/cmake/tare)
if(EXISTS "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/tare.pc")
  vcpkg_fixup_pkgconfig()
endif()
if("tool" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES tare AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
