# SPDX-License-Identifier: BSD-3-Clause
# One interface target carries what every target of ours is compiled with.
add_library(tare_build_flags INTERFACE)
target_compile_options(tare_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
  # Sums must not depend on whether the compiler fused a multiply with an add.
  -ffp-contract=off
  # Nobody reads errno after a square root, and with it the loop over one cannot run on vectors.
  -fno-math-errno)
if(TARE_WERROR)
  target_compile_options(tare_build_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlaps and overruns inside std::string where there are none (its bugs 105651, 105329).
  target_compile_options(tare_build_flags INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
  if(TARE_UNITY)
    # Where a build from nothing must be quick. The compiler collects its garbage less often: a tenth of its time, and a twentieth more
    # memory. Texts for fmt are not checked while compiling, a sixth of it: other builds check them, those by clang among them.
    target_compile_options(tare_build_flags INTERFACE --param=ggc-min-heapsize=500000)
    target_compile_definitions(tare_build_flags INTERFACE FMT_CONSTEVAL=)
  endif()
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(tare_build_flags INTERFACE
    # Designated initialisers leave out what has a default; g++ does not warn of that.
    -Wno-missing-designated-field-initializers
    # A loop that is asked to become vector code may stay as it is.
    -Wno-pass-failed
    # libstdc++ silences its own stable_sort with a pragma, which clang forgets in a precompiled header.
    -Wno-deprecated-declarations)
endif()

# Flags alone, so that what is linked with the library elsewhere (the Python module, the fuzzers) can take them, too.
set(TARE_SANITIZER_FLAGS "")
if(TARE_SANITIZE STREQUAL "address")
  set(TARE_SANITIZER_FLAGS -fsanitize=address,undefined)
elseif(TARE_SANITIZE STREQUAL "thread")
  set(TARE_SANITIZER_FLAGS -fsanitize=thread)
elseif(TARE_SANITIZE)
  message(FATAL_ERROR "TARE_SANITIZE is '${TARE_SANITIZE}'; it is address, thread or empty")
endif()
if(TARE_SANITIZE)
  target_compile_options(tare_build_flags INTERFACE ${TARE_SANITIZER_FLAGS} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(tare_build_flags INTERFACE ${TARE_SANITIZER_FLAGS})
endif()
if(TARE_BUILD_FUZZERS)
  # The fuzzers follow which branches of the library an input takes.
  target_compile_options(tare_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
