// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Stands before the name of the namespace in every installed header. What is declared there can be
// called from outside libtare.so; everything else is compiled hidden.
#if defined(__GNUC__)
#define TARE_PUBLIC [[gnu::visibility("default")]]
#else
#define TARE_PUBLIC
#endif
