// SPDX-License-Identifier: BSD-3-Clause
#include <span>

#include "capi/handles.h"

using tare::capi::guarded;
using tare::capi::needed;

tare_status tare_table_new(tare_table** table) {
  return guarded([&] {
    tare_table*& out = needed(table, "table");
    out = new tare_table;
  });
}

tare_status tare_table_add_numbers(tare_table* table, const char* name, const double* values,
                                   size_t rows) {
  return guarded([&] {
    if (rows > 0) needed(values, "values");
    needed(table, "table").table.add_numbers(&needed(name, "name"), std::span(values, rows));
  });
}

tare_status tare_table_add_texts(tare_table* table, const char* name, const char* const* values,
                                 size_t rows) {
  return guarded([&] {
    if (rows > 0) needed(values, "values");
    std::vector<std::string> texts;
    texts.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i)
      texts.emplace_back(values[i] != nullptr ? values[i] : "");
    needed(table, "table").table.add_texts(&needed(name, "name"), texts);
  });
}

tare_status tare_table_read_csv(const char* path, tare_table** table) {
  return guarded([&] {
    tare_table*& out = needed(table, "table");
    out = new tare_table{tare::read_csv(&needed(path, "path"))};
  });
}

size_t tare_table_rows(const tare_table* table) {
  return table != nullptr ? table->table.rows() : 0;
}

void tare_table_free(tare_table* table) { delete table; }
