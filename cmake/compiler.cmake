# SPDX-License-Identifier: BSD-3-Clause
# One interface target carries what every target of ours is compiled with.
add_library(tare_build_flags INTERFACE)
target_compile_options(tare_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Werror
  # g++ 12 sees overlaps and overruns inside std::string where there are none (its bugs 105651, 105329).
  -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
  # Sums must not depend on whether the compiler fused a multiply with an add.
  -ffp-contract=off
  # Nobody reads errno after a square root, and with it the loop over one cannot run on vectors.
  -fno-math-errno)
if(TARE_SANITIZE)
  target_compile_options(tare_build_flags INTERFACE
    # Undefined behaviour is looked for in the library and the tool. In the tests' own code it would take the
    # compiler a third longer.
    -fsanitize=address$<$<NOT:$<BOOL:$<TARGET_PROPERTY:TARE_IS_TEST>>>:,undefined>
    # A null pointer that is followed is a crash that the address sanitizer shows; the checks before each access that look
    # for it, for alignment and for types took the compiler 40 % longer (unity_0 of calibrate: 25.9 s, without 18.5 s).
    -fno-sanitize=null,alignment,object-size,vptr
    -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(tare_build_flags INTERFACE -fsanitize=address,undefined)
endif()
