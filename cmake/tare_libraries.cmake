# SPDX-License-Identifier: BSD-3-Clause
# Libraries without a package file of their own, as imported targets: tare::hwy and tare::xgboost. Used by the build and, for
# programs that link the static library, by the installed package, so that they are found wherever they are.
function(tare_imported_library name header)
  if(TARGET tare::${name})
    return()
  endif()
  string(TOUPPER ${name} upper)
  find_path(${upper}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${upper}_LIBRARY ${name} REQUIRED)
  add_library(tare::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(tare::${name} PROPERTIES IMPORTED_LOCATION "${${upper}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${${upper}_INCLUDE_DIR}")
endfunction()
