// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tare/base/error.h"
#include "tare/base/execution.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"
#include "tare/base/version.h"
#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/calibrate/snq.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"
#include "tare/evaluate/scorecard.h"
#include "tare/model/regressor.h"
