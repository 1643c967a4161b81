// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <vector>

#include "online_learner.h"
#include "plain_array.h"

namespace tare::python {

/// The short way of one row of finite numbers through a stream: from NumPy's arrays to the learner
/// and back, with the prediction of the model outside in between.
///
/// A row takes it or does not. If it does not, because of its form or because there is no answer,
/// the usual way must read it and explain. The outcome is then None, or a tuple with what the model
/// outside has predicted, so that it is not asked twice.
class PlainRows {
 public:
  /// `asks`: the model outside, or the caller, has the prediction. `interval`: where the stream has
  /// the levels that answer() gives; none: it gives no answers.
  PlainRows(nanobind::object learner, bool asks, std::vector<std::size_t> interval);

  /// An array with the answer of a row. `predict` is the model outside; `y_pred` is None or what it
  /// has predicted.
  nanobind::object answer(nanobind::handle x, nanobind::handle predict,
                          nanobind::handle y_pred) const;
  /// The same at other levels of the stream.
  nanobind::object answer_at(const std::vector<std::size_t>& places, nanobind::handle x,
                             nanobind::handle predict, nanobind::handle y_pred) const;
  /// True: the row was learned.
  nanobind::object teach(nanobind::handle x, nanobind::handle y, nanobind::handle predict,
                         nanobind::handle y_pred) const;

 private:
  bool read_row(nanobind::handle x, std::span<double>& row) const;
  template <class Work>
  nanobind::object with_row(nanobind::handle x, nanobind::handle predict, nanobind::handle y_pred,
                            const Work& work) const;
  nanobind::object answer_in(nanobind::handle shape, std::span<const std::size_t> places,
                             nanobind::handle x, nanobind::handle predict,
                             nanobind::handle y_pred) const;

  nanobind::object owner_;  // of the learner
  OnlineLearner& learner_;
  bool asks_;
  std::vector<std::size_t> interval_;
  nanobind::object shape_;  // of an answer
  NumPy numpy_;
};

}  // namespace tare::python
