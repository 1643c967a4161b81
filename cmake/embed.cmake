# SPDX-License-Identifier: BSD-3-Clause
# Writes a source file that holds the given text files, so that the library needs no folder beside it.

# embed_list(OUT function FILES...): C++ text that defines `function`, which returns the files.
function(embed_list out function)
  set(rows "")
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  list(LENGTH ARGN count)
  set(${out} "std::span<const EmbeddedFile> ${function}() {
  static constexpr std::array<EmbeddedFile, ${count}> kFiles = {{\n${rows}  }};\n  return kFiles;\n}\n" PARENT_SCOPE)
endfunction()
