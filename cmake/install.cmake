# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)
install(TARGETS tare_library EXPORT tareStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARE_BUILD_SHARED)
  install(TARGETS tare_shared EXPORT tareTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARE_BUILD_TOOL)
  install(TARGETS tare RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/tare DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tareStaticTargets NAMESPACE tare:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tare)
if(TARE_BUILD_SHARED)
  install(EXPORT tareTargets NAMESPACE tare:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tare)
endif()
configure_package_config_file(cmake/tareConfig.cmake.in ${PROJECT_BINARY_DIR}/tareConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tare)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tareConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tareConfig.cmake ${PROJECT_BINARY_DIR}/tareConfigVersion.cmake cmake/tare_libraries.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tare)

# For programs that are not built by CMake, such as the R package.
if(TARE_BUILD_SHARED)
  file(RELATIVE_PATH tare_prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" tare_prefix_from_pc "${tare_prefix_from_pc}")
  configure_file(cmake/tare.pc.in ${PROJECT_BINARY_DIR}/tare.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tare.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
