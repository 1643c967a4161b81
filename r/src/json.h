// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cpp11/sexp.hpp>
#include <string>

// JSON of the library as R's values: an object is a named list, an array of numbers (null: NA) a
// double vector, one of texts a character vector, another one a list. Throws std::runtime_error for
// text that is not JSON.
cpp11::sexp json_to_r(const std::string& text);
