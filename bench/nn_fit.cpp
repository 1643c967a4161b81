// SPDX-License-Identifier: BSD-3-Clause
// Fits a regressor to one file and prints its error on another, as JSON: what nn_accuracy.py
// measures.
//
//     nn_fit REGRESSOR TRAIN TEST OPTIONS SEED
//
// A file holds rows and columns as int64, then the matrix as float64, row-major; the last column is
// the target.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/error.h"
#include "tare/model/regressor.h"

namespace {

struct Rows {
  tare::Matrix x;
  std::vector<double> y;
};

Rows read_rows(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::int64_t size[2] = {0, 0};
  in.read(reinterpret_cast<char*>(size), sizeof(size));
  if (!in || size[0] < 1 || size[1] < 1) throw std::runtime_error(path + " is not a matrix");
  const auto rows = static_cast<std::size_t>(size[0]);
  const auto cols = static_cast<std::size_t>(size[1]);
  std::vector<double> row(cols);
  Rows data{tare::Matrix(rows, cols - 1), std::vector<double>(rows)};
  for (std::size_t i = 0; i < rows; ++i) {
    in.read(reinterpret_cast<char*>(row.data()),
            static_cast<std::streamsize>(cols * sizeof(double)));
    std::copy(row.begin(), row.end() - 1, data.x.row(i).begin());
    data.y[i] = row.back();
  }
  if (!in) throw std::runtime_error(path + " is cut short");
  return data;
}

int run(char** argv) {
  const Rows train = read_rows(argv[2]);
  const Rows test = read_rows(argv[3]);
  tare::Execution how;
  how.threads = 1;
  const auto start = std::chrono::steady_clock::now();
  const auto model =
      tare::find_regressor(argv[1]).fit({train.x.view(), train.y, {}}, tare::Params::parse(argv[4]),
                                        tare::Seed{std::strtoull(argv[5], nullptr, 10)}, how);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::vector<double> predicted(test.y.size());
  model->predict(test.x, predicted, how);
  double squares = 0.0;
  for (std::size_t i = 0; i < test.y.size(); ++i)
    squares += std::pow(predicted[i] - test.y[i], 2.0);

  tare::Json answer = {{"rmse", std::sqrt(squares / static_cast<double>(test.y.size()))},
                       {"seconds", seconds.count()}};
  tare::TensorStore store;
  model->save(tare::TensorWriter(store));
  for (const char* name : {"learning_rate", "batch", "best_epoch", "epochs", "validation_loss"}) {
    if (store.values.contains(name)) answer[name] = store.values[name];
  }
  std::cout << answer.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: nn_fit REGRESSOR TRAIN TEST OPTIONS SEED\n", stderr);
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
