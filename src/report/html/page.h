// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tare {

/// Rows of cells, the first being the heading.
using Cells = std::vector<std::vector<std::string>>;

/// A figure with its text and a table of its numbers.
struct Card {
  std::string title;
  std::string pictures;            // SVG elements
  std::vector<std::string> words;  // paragraphs: what it shows, what to do about it; plain text
  Cells table = {};                // the same as numbers, also for screen readers
  bool full_width = false;
};

struct Section {
  std::string id;
  std::string title;
  std::string body;  // HTML
};

/// A statement at the top of a report: fine, or something to look at.
struct Finding {
  bool fine = true;
  std::string head;  // a few words
  std::string text;
};

/// A number shown large at the top.
struct Tile {
  std::string name;
  std::string value;
  std::string note;
};

/// Plain text; text in backquotes is shown as code.
std::string paragraph(std::string_view text);
/// Tables in the frame that cards have.
std::string box_html(const std::string& body);
std::string card_html(const Card& card);
/// Side by side where there is room; kStacked fills columns one after the other, which leaves no
/// gaps below short cards.
enum class CardOrder { kRows, kStacked };
std::string cards_html(const std::vector<Card>& cards, CardOrder order = CardOrder::kRows);
std::string findings_html(const std::vector<Finding>& findings);
std::string tiles_html(const std::vector<Tile>& tiles);
/// A table that scrolls by itself if it is too wide; `name` is its name for a screen reader.
/// With kWords cells are sentences.
enum class CellKind { kNumbers, kWords };
std::string html_table(const Cells& rows, const std::string& name,
                       CellKind kind = CellKind::kNumbers);
/// Two columns, name and value, for facts about a model or a file.
std::string facts_html(const std::vector<std::pair<std::string, std::string>>& facts,
                       const std::string& name);

/// A self-contained page: title, a line of provenance, a lead (HTML) and sections with links to
/// them. Follows the reader's light or dark setting; readable on a phone and on paper.
struct Page {
  std::string title;
  std::string provenance;
  std::string lead;
  std::vector<Section> sections;
};
std::string page_html(const Page& page);

}  // namespace tare
