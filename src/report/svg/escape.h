// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace tare {

/// Text for the inside of an XML or HTML element or quoted attribute: & < > " ' become entities.
/// What XML cannot hold at all (control characters, bytes that are not UTF-8) becomes U+FFFD, so
/// that a strange column name cannot break a page.
std::string escape_xml(std::string_view text);

}  // namespace tare
