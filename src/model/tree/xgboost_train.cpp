// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/xgboost_train.h"

#include <xgboost/c_api.h>

#include <cassert>
#include <cstdint>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/fail.h"

namespace tare {
namespace {

using Json = nlohmann::json;

void check(int status) {
  if (status == 0) return;
  // The first line is the message, after the time in brackets; below it is a stack trace.
  std::string_view text = XGBGetLastError();
  text = text.substr(0, text.find('\n'));
  // A lack of memory is no fault of the data.
  if (text.find("bad_alloc") != text.npos) throw std::bad_alloc();
  if (const auto time = text.find("] "); time != text.npos) text.remove_prefix(time + 2);
  // It reports every exception as a text; this one says nothing about the data.
  if (text.find("bad_alloc") != text.npos || text.find("out of memory") != text.npos)
    throw std::bad_alloc();
  fail(ErrorCode::kBadData, "XGBoost: {}", text);
}

/// The setting is per thread, hence not done once for the program.
void be_quiet() { check(XGBSetGlobalConfig(R"({"verbosity": 0})")); }

/// XGBoost's arrays of one tree, as its JSON model has them.
struct SourceTree {
  std::vector<std::int32_t> left, right, feature;
  std::vector<float> value;  // the threshold; in a leaf, its prediction
};

/// Appends the tree in breadth-first order: XGBoost reuses the places of nodes it pruned, so in its
/// own order a child may precede its parent, and places may be unused.
void append_tree(const SourceTree& source, TreeNodes& trees) {
  TreeNodes tree;
  tree.root.push_back(0);
  std::vector<std::size_t> origin = {0};
  for (std::size_t k = 0; k < origin.size(); ++k) {
    const std::size_t from = origin[k];
    TreeNode node{-1, source.value.at(from), 0, 0};
    if (source.left.at(from) != -1) {
      node.feature = source.feature.at(from);
      node.left = static_cast<std::int32_t>(origin.size());
      node.right = node.left + 1;
      origin.push_back(static_cast<std::size_t>(source.left[from]));
      origin.push_back(static_cast<std::size_t>(source.right.at(from)));
    }
    tree.node.push_back(node);
  }
  trees.append(tree);
}

}  // namespace

TreeRows::TreeRows(std::span<const float> x, std::size_t cols, std::span<const float> y,
                   std::span<const float> weight)
    : rows_(y.size()) {
  assert(x.size() == rows_ * cols && cols > 0 && "x does not have a row for each target");
  be_quiet();
  const float missing = std::numeric_limits<float>::quiet_NaN();
  check(XGDMatrixCreateFromMat_omp(x.data(), rows_, cols, missing, &handle_, 1));
  try {
    check(XGDMatrixSetFloatInfo(handle_, "label", y.data(), rows_));
    if (!weight.empty()) check(XGDMatrixSetFloatInfo(handle_, "weight", weight.data(), rows_));
  } catch (...) {
    XGDMatrixFree(handle_);
    throw;
  }
}

TreeRows::~TreeRows() { XGDMatrixFree(handle_); }

Booster::Booster(const BoosterParams& params, std::span<const TreeRows* const> watched) {
  be_quiet();
  std::vector<DMatrixHandle> handles;
  for (const TreeRows* rows : watched) handles.push_back(rows->handle());
  check(XGBoosterCreate(handles.data(), handles.size(), &handle_));
  try {
    const BoosterParams fixed = {{"verbosity", "0"},    {"nthread", "1"},
                                 {"base_score", "0"},   {"objective", "reg:squarederror"},
                                 {"booster", "gbtree"}, {"disable_default_eval_metric", "1"}};
    for (const BoosterParams& list : {fixed, params}) {
      for (const auto& [name, value] : list) {
        check(XGBoosterSetParam(handle_, name.c_str(), value.c_str()));
      }
    }
  } catch (...) {
    XGBoosterFree(handle_);
    throw;
  }
}

Booster::~Booster() { XGBoosterFree(handle_); }

void Booster::add_tree(const TreeRows& train) {
  check(XGBoosterUpdateOneIter(handle_, added_++, train.handle()));
}

void Booster::add_mean_tree(const TreeRows& train, std::span<const float> y,
                            std::span<const float> weight) {
  assert(y.size() == train.rows() && weight.size() == y.size() && "one target and weight per row");
  // A leaf is -sum(gradient) / sum(hessian), here the weighted mean of y.
  std::vector<float> gradient(y.size());
  std::vector<float> hessian(weight.begin(), weight.end());
  for (std::size_t i = 0; i < y.size(); ++i) gradient[i] = -weight[i] * y[i];
  check(XGBoosterBoostOneIter(handle_, train.handle(), gradient.data(), hessian.data(), y.size()));
  ++added_;
}

std::vector<float> Booster::predict(const TreeRows& rows) {
  const char* config =
      R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
  const bst_ulong* shape = nullptr;
  bst_ulong dims = 0;
  const float* result = nullptr;
  check(XGBoosterPredictFromDMatrix(handle_, rows.handle(), config, &shape, &dims, &result));
  return {result, result + rows.rows()};
}

TreeNodes Booster::trees(std::size_t count) const {
  bst_ulong length = 0;
  const char* text = nullptr;
  check(XGBoosterSaveModelToBuffer(handle_, R"({"format": "json"})", &length, &text));
  TreeNodes trees;
  try {
    const Json model = Json::parse(text, text + length);
    const Json& list = model.at("learner").at("gradient_booster").at("model").at("trees");
    for (std::size_t t = 0; t < count; ++t) {
      const Json& tree = list.at(t);
      append_tree({tree.at("left_children"), tree.at("right_children"), tree.at("split_indices"),
                   tree.at("split_conditions")},
                  trees);
    }
  } catch (const Json::exception& error) {
    fail(ErrorCode::kUnsupported, "this version of XGBoost writes models tare cannot read: {}",
         error.what());
  } catch (const std::out_of_range&) {
    fail(ErrorCode::kUnsupported, "this version of XGBoost writes trees tare cannot read");
  }
  return trees;
}

}  // namespace tare
