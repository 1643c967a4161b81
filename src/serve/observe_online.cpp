// SPDX-License-Identifier: BSD-3-Clause
#include "serve/observe_online.h"

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apply/row_encoder.h"
#include "serve/http/refusal.h"
#include "serve/model/predict_rows.h"

namespace tare::serve {
namespace {

/// The request's rows are learned in their order: what stands before a refused one stays learned.
[[noreturn]] void refuse_after(const Refusal& refusal, std::size_t learned) {
  if (learned == 0) throw refusal;
  throw Refusal(refusal.status(),
                fmt::format("{} ({} rows of this request were learned before; rows with ids may be "
                            "sent again)",
                            refusal.detail(), learned),
                refusal.cell());
}

class Lesson {
 public:
  Lesson(const ObserveRequest& asked, const NumberedModel& now, std::uint32_t lineage,
         OnlineTeacher& teacher, Observations& observations)
      : asked_(asked),
        now_(now),
        model_(*now.model->online()),
        lineage_(lineage),
        teacher_(teacher),
        observations_(observations) {}

  OnlineOutcome teach(const TimeLimit& time) {
    try {
      if (asked_.by_id) {
        teach_by_id(time);
      } else {
        teach_rows(time);
      }
    } catch (const Refusal& refusal) {
      refuse_after(refusal, outcome_.learned);
    }
    return outcome_;
  }

 private:
  void teach_rows(const TimeLimit& time) {
    RowEncoder encoder(now_.model->schema(), Need::kFeaturesAndTarget);
    encode_rows(*now_.model, encoder, asked_.table);
    const Rows rows = encoder.rows();
    const std::vector<double>& targets = encoder.encoded().y;
    const std::vector<double> predictions = known_predictions(rows, time);
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      if (std::isfinite(targets[i] - predictions[i])) continue;
      refuse_cell({.row = encoder.encoded().rows[i], .column = now_.model->schema().target()},
                  "{} is too far from its prediction {}: their difference is not finite",
                  targets[i], predictions[i]);
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      time.check();
      const std::string id = asked_.ids.empty() ? "" : asked_.ids[encoder.encoded().rows[i]];
      const auto prediction = predictions.empty() ? std::nullopt : std::optional(predictions[i]);
      const OnlineTeacher::Taught taught =
          teacher_.learn(some_rows(rows, i, 1), targets[i], id, prediction, lineage_);
      if (!count(taught.outcome) || !taught.is_answered) continue;
      Matrix interval(1, 2);
      interval(0, 0) = taught.lower;
      interval(0, 1) = taught.upper;
      add(observations_.observe(interval, std::span(&targets[i], 1), now_.number));
    }
  }

  /// Of a model of its own they change while it learns.
  std::vector<double> known_predictions(const Rows& rows, const TimeLimit& time) const {
    if (model_.base() == nullptr && model_.given() == 0) return {};
    return model_.predictions(rows, until(time));
  }

  void teach_by_id(const TimeLimit& time) {
    if (!model_.stream().options().known_later.empty()) {
      refuse(422,
             "some columns of this model are known only with the target (send 'rows' with all "
             "columns and the target)");
    }
    for (std::size_t i = 0; i < asked_.ids.size(); ++i) {
      time.check();
      const std::string& id = asked_.ids[i];
      if (teacher_.has_seen(id)) {
        ++outcome_.watched.repeated;
        continue;
      }
      const auto number = observations_.number(id);
      const auto row = number ? teacher_.waiting().find(*number, lineage_) : std::nullopt;
      if (!row) {
        ++outcome_.watched.unknown;
        continue;
      }
      if (count(
              teacher_.learn(row->rows(), asked_.targets[i], id, std::nullopt, lineage_).outcome)) {
        add(observations_.observe(std::span(&id, 1), std::span(&asked_.targets[i], 1)));
      }
    }
  }

  /// Whether the row was learned.
  bool count(OnlineTeacher::Outcome outcome) {
    switch (outcome) {
      case OnlineTeacher::Outcome::kLearned:
        ++outcome_.learned;
        return true;
      case OnlineTeacher::Outcome::kRepeated:
        ++outcome_.watched.repeated;
        return false;
      case OnlineTeacher::Outcome::kEarlier:
        ++outcome_.watched.earlier;
        return false;
    }
    return false;
  }

  /// What the monitor counted of a row that was learned.
  void add(const Observations::Outcome& watched) { outcome_.watched.counted += watched.counted; }

  const ObserveRequest& asked_;
  const NumberedModel& now_;
  const OnlineModel& model_;
  std::uint32_t lineage_;
  OnlineTeacher& teacher_;
  Observations& observations_;
  OnlineOutcome outcome_;
};

}  // namespace

OnlineOutcome observe_online(const ObserveRequest& asked, const NumberedModel& now,
                             std::uint32_t lineage, OnlineTeacher& teacher,
                             Observations& observations, const TimeLimit& time) {
  return Lesson(asked, now, lineage, teacher, observations).teach(time);
}

}  // namespace tare::serve
