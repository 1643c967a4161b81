// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rows.h"

namespace tare_cuda {

/// Fills the answer. Throws DeviceError and StoppedWork.
void answer_queries(TareCudaRows& rows, const TareCudaQuestion& question,
                    const TareCudaAnswer& answer);

}  // namespace tare_cuda
