// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rows.h"

namespace tare_cuda {

/// Fills losses.losses. Throws DeviceError and StoppedWork.
void leave_one_out(TareCudaRows& rows, const TareCudaLosses& losses);

}  // namespace tare_cuda
