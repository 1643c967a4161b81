# SPDX-License-Identifier: BSD-3-Clause
d <- draw(1200)
model <- quick(y ~ x + kind, d[1:800, ])
test <- d[801:1200, ]

test_that("scores agree with a slow computation", {
  report <- tare_evaluate(model, test)
  ends <- predict(model, test, "interval", level = 0.9)
  expect_equal(report$scores[["coverage_90_counted"]], mean(test$y >= ends[, 1] & test$y <= ends[, 2]))
  expect_equal(report$scores[["length_90"]], mean(ends[, 2] - ends[, 1]), tolerance = 1e-9)
  levels <- (1:99) / 100
  q <- predict(model, test, quantiles = levels)
  expect_equal(report$calibration$share, vapply(seq_along(levels), function(j) mean(test$y <= q[, j]), 0))
  expect_equal(report$scores[["rows"]], 400)
  expect_equal(sum(report$pit), 1)
  crps <- 2 * mean(vapply(seq_along(levels), function(j) pinball(test$y, q[, j], levels[[j]]), 0))
  expect_equal(report$scores[["crps"]], crps, tolerance = 0.05)
})

test_that("rows without a target or with NA are left out", {
  holes <- test
  holes$y[1:3] <- NA
  holes$x[10] <- NA
  expect_equal(tare_evaluate(model, holes)$scores[["rows"]], 396)
})

test_that("targets come from the formula, a column or a vector", {
  by_frame <- quick(d[1:800, c("x", "noise")], d$y[1:800])
  one <- tare_evaluate(by_frame, test, y = test$y)
  expect_identical(one$scores, tare_evaluate(by_frame, test, y = "y")$scores)
  expect_error(tare_evaluate(by_frame, test), "give them as 'y'")
  around <- tare_calibrate(lm(y ~ x, d[1:400, ]), d[401:800, ], method = "nrc_boost", seed = 0, progress = FALSE)
  expect_equal(tare_evaluate(around, test)$scores[["rows"]], 400)
})

test_that("reports print, become frames and are drawn", {
  report <- tare_evaluate(model, test, level = 0.8)
  expect_output(print(report), "inside their 80 % interval")
  expect_true("crps" %in% as.data.frame(report)$score)
  pdf(NULL)
  on.exit(dev.off())
  for (type in c("calibration", "pit", "intervals")) expect_identical(plot(report, type), report)
  expect_error(plot(report, "pie"), "must be one of")
  skip_if_not_installed("ggplot2")
  for (type in c("calibration", "pit", "intervals")) {
    picture <- ggplot2::autoplot(report, type)
    expect_s3_class(picture, "ggplot")
    expect_silent(print(picture))
  }
})

test_that("verbs of generics", {
  skip_if_not_installed("generics")
  more <- generics::augment(model, test)
  expect_equal(names(more), c(names(test), ".pred", ".pred_lower", ".pred_upper"))
  expect_true(all(more$.pred_lower <= more$.pred & more$.pred <= more$.pred_upper))
  expect_equal(generics::glance(model)$method, "nrc_boost")
  expect_equal(generics::tidy(tare_evaluate(model, test)), as.data.frame(tare_evaluate(model, test)))
})
