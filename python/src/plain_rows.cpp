// SPDX-License-Identifier: BSD-3-Clause
#include "plain_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nb = nanobind;

namespace tare::python {
namespace {

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

nb::object shape_of_answer(std::size_t levels) { return nb::make_tuple(1, levels); }

}  // namespace

PlainRows::PlainRows(nb::object learner, bool asks, std::vector<std::size_t> interval)
    : owner_(std::move(learner)),
      learner_(nb::cast<OnlineLearner&>(owner_)),
      asks_(asks),
      interval_(std::move(interval)),
      shape_(shape_of_answer(interval_.size())) {}

bool PlainRows::read_row(nb::handle x, std::span<double>& row) const {
  return numpy_.read(x, 2, row) && row.size() == learner_.online().features() && all_finite(row);
}

/// `work` has the outcome, or none if the usual way must go on.
template <class Work>
nb::object PlainRows::with_row(nb::handle x, nb::handle predict, nb::handle y_pred,
                               const Work& work) const {
  std::span<double> row;
  if (!read_row(x, row) || (!asks_ && !y_pred.is_none())) return nb::none();
  nb::object predicted;
  double given = 0.0;
  if (asks_) {
    if (y_pred.is_none() && PyCallable_Check(predict.ptr()) == 0) return nb::none();
    predicted = y_pred.is_none() ? predict(x) : nb::borrow(y_pred);
    std::span<double> prediction;
    // The row is read again: a model may do with it what it likes.
    if (!numpy_.read(predicted, 1, prediction) || prediction.size() != 1 ||
        !all_finite(prediction) || !read_row(x, row)) {
      return nb::make_tuple(std::move(predicted));
    }
    given = prediction[0];
  }
  // A copy, as other threads may change the array while this one works without Python's lock.
  thread_local std::vector<double> copy;
  copy.assign(row.begin(), row.end());
  const Rows rows{.x = MatrixView(copy.data(), 1, copy.size()),
                  .given = asks_ ? MatrixView(&given, 1, 1) : MatrixView{},
                  .group = {}};
  if (nb::object outcome = work(rows); outcome.is_valid()) return outcome;
  return asks_ ? nb::object(nb::make_tuple(std::move(predicted))) : nb::none();
}

nb::object PlainRows::answer_in(nb::handle shape, std::span<const std::size_t> places, nb::handle x,
                                nb::handle predict, nb::handle y_pred) const {
  return with_row(x, predict, y_pred, [&](const Rows& row) -> nb::object {
    nb::object answer = numpy_.new_array(shape);
    std::span<double> to;
    if (!numpy_.read(answer, 2, to) || to.size() != places.size()) return {};
    bool is_ready = false;
    {
      const nb::gil_scoped_release unlocked;  // nobody else has seen the answer
      is_ready = learner_.answer_next(row, places, to);
    }
    // Of too few targets and of infinite answers the usual way tells.
    return is_ready && all_finite(to) ? answer : nb::object();
  });
}

nb::object PlainRows::answer(nb::handle x, nb::handle predict, nb::handle y_pred) const {
  return interval_.empty() ? nb::none() : answer_in(shape_, interval_, x, predict, y_pred);
}

nb::object PlainRows::answer_at(const std::vector<std::size_t>& places, nb::handle x,
                                nb::handle predict, nb::handle y_pred) const {
  return answer_in(shape_of_answer(places.size()), places, x, predict, y_pred);
}

nb::object PlainRows::teach(nb::handle x, nb::handle y, nb::handle predict,
                            nb::handle y_pred) const {
  std::span<double> targets;
  if (!numpy_.read(y, 1, targets) || targets.size() != 1 || !all_finite(targets)) {
    return nb::none();
  }
  const double target = targets[0];
  return with_row(x, predict, y_pred, [&](const Rows& row) {
    {
      const nb::gil_scoped_release unlocked;
      learner_.teach_next(row, target);
    }
    return nb::borrow(Py_True);
  });
}

}  // namespace tare::python
