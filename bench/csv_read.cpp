// SPDX-License-Identifier: BSD-3-Clause
// Reads one file into a Table and prints how long that took, as JSON. See csv_vs_pandas.py.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "io/csv.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: csv_read FILE [THREADS]\n");
    return 2;
  }
  try {
    const auto start = std::chrono::steady_clock::now();
    tare::CsvReader reader(argv[1]);
    if (argc == 3) reader.use_threads(std::stoul(argv[2]));
    const tare::Table table = tare::read_all(reader);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;

    double sum = 0.0;  // lets the script check that both read the same numbers
    for (const tare::Column& column : table.columns) {
      for (const double value : column.numbers) sum += value;
    }
    fmt::print("{{\"seconds\": {}, \"rows\": {}, \"columns\": {}, \"sum\": {}}}\n", taken.count(),
               table.rows(), table.columns.size(), sum);
  } catch (const std::exception& error) {
    fmt::print(stderr, "csv_read: {}\n", error.what());
    return 1;
  }
  return 0;
}
