/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of tare, for C and C++. CMake and the Python package read it from here. */
#ifndef TARE_BASE_VERSION_MACROS_H
#define TARE_BASE_VERSION_MACROS_H

#define TARE_VERSION_MAJOR 0
#define TARE_VERSION_MINOR 1
#define TARE_VERSION_PATCH 0
#define TARE_VERSION "0.1.0"

#endif
