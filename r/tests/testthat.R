# SPDX-License-Identifier: BSD-3-Clause
library(testthat)
library(tare)

test_check("tare")
