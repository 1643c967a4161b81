// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "report/svg/axis.h"
#include "report/svg/svg.h"

namespace tare {

struct PicturePoint {
  double x = 0.0;
  double y = 0.0;
};

/// Where a chart's plot lies in its picture, and what its axes span.
struct Chart::Frame {
  Axis x;
  Axis y;
  double left = 0.0;
  double right = 0.0;
  double top = 0.0;
  double bottom = 0.0;

  PicturePoint at(double vx, double vy) const {
    return {x.place(vx, left, right), y.place(vy, bottom, top)};
  }
};

}  // namespace tare
