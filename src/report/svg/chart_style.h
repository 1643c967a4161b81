// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tare {

// Colours are written out for both schemes: custom properties would be shorter, but not every
// renderer knows them.
inline constexpr std::string_view kChartStyle = R"(<style>
.tare-chart{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.tare-chart .page{fill:#fff}.tare-chart text{fill:#333c48}.tare-chart .minor{fill:#5b6675}
.tare-chart .title{font-size:18px;font-weight:600}
.tare-chart .grid{stroke:#e8ebef;stroke-width:1}.tare-chart .axis{stroke:#a9b2bd;stroke-width:1}
.tare-chart .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.tare-chart .dashed{stroke-dasharray:7 5;stroke-width:1.6;stroke-linecap:butt}
.tare-chart .area{fill-opacity:.22}.tare-chart .dots{fill-opacity:.55}
.tare-chart .strong{fill-opacity:1}.tare-chart .bars{fill-opacity:.75}
.tare-chart .whiskers{fill:none;stroke-width:2;stroke-opacity:.55}
.tare-chart .grey{stroke:#7d8795}.tare-chart .blue{stroke:#1769aa}
.tare-chart .orange{stroke:#c4500f}.tare-chart .green{stroke:#2a7d4f}
.tare-chart .fill-grey{fill:#7d8795}.tare-chart .fill-blue{fill:#1769aa}
.tare-chart .fill-orange{fill:#c4500f}.tare-chart .fill-green{fill:#2a7d4f}
@media screen and (prefers-color-scheme:dark){
.tare-chart .page{fill:#14181d}.tare-chart text{fill:#dde3ea}.tare-chart .minor{fill:#9aa6b4}
.tare-chart .grid{stroke:#262d36}.tare-chart .axis{stroke:#56616e}.tare-chart .area{fill-opacity:.3}
.tare-chart .grey{stroke:#8b96a4}.tare-chart .blue{stroke:#5db0f2}
.tare-chart .orange{stroke:#ff9a57}.tare-chart .green{stroke:#6fcf97}
.tare-chart .fill-grey{fill:#8b96a4}.tare-chart .fill-blue{fill:#5db0f2}
.tare-chart .fill-orange{fill:#ff9a57}.tare-chart .fill-green{fill:#6fcf97}}
</style>
)";

}  // namespace tare
