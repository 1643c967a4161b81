// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "apply/row_encoder.h"
#include "serve/http/time_limit.h"
#include "serve/model/served_model.h"
#include "tare/apply/predictor.h"
#include "tare/io/table.h"

namespace tare::serve {

/// Answers to the rows of a request. Throws Refusal: 422 for rows that are not valid for the model,
/// 503 after the time. Missing values are imputed if the model was fitted with it, and refused
/// otherwise.
Answers answer_rows(const ServedModel& model, Predictor& predictor, const Table& table,
                    const TimeLimit& time);

/// Encodes the rows of a request, and answers them as they are encoded. Throw as answer_rows.
void encode_rows(const ServedModel& model, RowEncoder& encoder, const Table& table);
Answers answer_encoded(Predictor& predictor, const RowEncoder& encoder, const TimeLimit& time);

/// One thread, which ends when the time does.
Execution until(const TimeLimit& time);

/// The ends of the monitored interval for rows whose targets are in the table: Answers::unnamed and
/// Answers::targets.
Answers answer_observed(const ServedModel& model, const Table& table, double watch,
                        const TimeLimit& time);

/// The two levels of a central interval.
std::vector<double> interval_ends(double confidence);

}  // namespace tare::serve
