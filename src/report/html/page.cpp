// SPDX-License-Identifier: BSD-3-Clause
#include "report/html/page.h"

#include <fmt/format.h>

#include <iterator>

#include "report/html/page_style.h"
#include "report/svg/chart_style.h"
#include "report/svg/escape.h"

namespace tare {
namespace {

std::string table_row(const std::vector<std::string>& cells, bool heading) {
  std::string text = "<tr>";
  for (std::size_t j = 0; j < cells.size(); ++j) {
    const std::string cell = escape_xml(cells[j]);
    if (heading || j == 0) {
      text += fmt::format("<th scope=\"{}\">{}</th>", heading ? "col" : "row", cell);
    } else {
      text += fmt::format("<td>{}</td>", cell);
    }
  }
  return text + "</tr>\n";
}

/// Escaped, with `...` as code.
std::string text_html(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == text.npos ? open : text.find('`', open + 1);
    if (close == text.npos) return out + escape_xml(text);
    out += escape_xml(text.substr(0, open));
    out += "<code>" + escape_xml(text.substr(open + 1, close - open - 1)) + "</code>";
    text.remove_prefix(close + 1);
  }
}

std::string links_to(const std::vector<Section>& sections) {
  if (sections.size() < 2) return {};
  std::string text = "<nav aria-label=\"Sections\"><ul>\n";
  for (const Section& section : sections) {
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escape_xml(section.title));
  }
  return text + "</ul></nav>\n";
}

}  // namespace

std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", text_html(text)); }

std::string box_html(const std::string& body) {
  return fmt::format("<div class=\"card\">\n{}</div>\n", body);
}

std::string html_table(const Cells& rows, const std::string& name, CellKind kind) {
  std::string text = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">"
      "<table{}>\n<thead>",
      escape_xml(name), kind == CellKind::kWords ? " class=\"words\"" : "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 1) text += "</thead>\n<tbody>\n";
    text += table_row(rows[i], i == 0);
  }
  return text + (rows.size() > 1 ? "</tbody></table></div>\n" : "</thead></table></div>\n");
}

std::string facts_html(const std::vector<std::pair<std::string, std::string>>& facts,
                       const std::string& name) {
  std::string text = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">"
      "<table class=\"words\"><tbody>\n",
      escape_xml(name));
  for (const auto& [what, value] : facts) {
    if (!value.empty()) text += table_row({what, value}, false);
  }
  return text + "</tbody></table></div>\n";
}

std::string card_html(const Card& card) {
  std::string text =
      fmt::format("<figure class=\"card{}\">\n<h3>{}</h3>\n<div class=\"plots\">\n{}</div>\n",
                  card.full_width ? " full" : "", escape_xml(card.title), card.pictures);
  text += "<figcaption>\n";
  for (const std::string& words : card.words) {
    if (!words.empty()) text += paragraph(words);
  }
  text += "</figcaption>\n";
  if (!card.table.empty()) {
    text += fmt::format("<details><summary>The numbers behind it: {}</summary>\n{}</details>\n",
                        escape_xml(card.title), html_table(card.table, card.title));
  }
  return text + "</figure>\n";
}

std::string cards_html(const std::vector<Card>& cards, CardOrder order) {
  std::string text =
      order == CardOrder::kRows ? "<div class=\"cards\">\n" : "<div class=\"stack\">\n";
  for (const Card& card : cards) text += card_html(card);
  return text + "</div>\n";
}

std::string findings_html(const std::vector<Finding>& findings) {
  std::string text = "<ul class=\"found\">\n";
  for (const Finding& finding : findings) {
    fmt::format_to(std::back_inserter(text), "<li class=\"{}\"><b>{} {}</b> {}</li>\n",
                   finding.fine ? "fine" : "look",
                   finding.fine ? "Fine:" : "Look:", escape_xml(finding.head),
                   text_html(finding.text));
  }
  return text + "</ul>\n";
}

std::string tiles_html(const std::vector<Tile>& tiles) {
  std::string text = "<ul class=\"tiles\">\n";
  for (const Tile& tile : tiles) {
    fmt::format_to(std::back_inserter(text),
                   "<li class=\"tile\"><span class=\"name\">{}</span> <b>{}</b> "
                   "<span class=\"note\">{}</span></li>\n",
                   escape_xml(tile.name), escape_xml(tile.value), escape_xml(tile.note));
  }
  return text + "</ul>\n";
}

std::string page_html(const Page& page) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n{2}</head>\n<body>\n<div class=\"sheet\">\n"
      "<a class=\"skip\" href=\"#main\">To the contents</a>\n"
      "<header>\n<h1>{0}</h1>\n<p class=\"minor\">{3}</p>\n{4}</header>\n<main id=\"main\">\n{5}",
      escape_xml(page.title), kPageStyle, kChartStyle, text_html(page.provenance),
      links_to(page.sections), page.lead);
  for (const Section& section : page.sections) {
    fmt::format_to(std::back_inserter(text),
                   "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
                   "<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
                   section.id, escape_xml(section.title), section.body);
  }
  return text + fmt::format(
                    "</main>\n</div>\n<div id=\"tip\" role=\"status\"></div>\n"
                    "<script>{}</script>\n</body>\n</html>\n",
                    kPageScript);
}

}  // namespace tare
