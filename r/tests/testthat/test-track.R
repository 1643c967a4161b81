# SPDX-License-Identifier: BSD-3-Clause

test_that("a stream is answered before it is learned, and goes on", {
  d <- draw(400)
  d$forecast <- 2 * d$x
  stream <- tare_track(d[1:300, c("x", "forecast", "y")], "y", prediction = "forecast", level = 0.8, start = 20, progress = FALSE)
  expect_named(stream$answers, c("row", "lower_0.8", "upper_0.8", "target"))
  expect_equal(stream$answers$row, 21:300)
  inside <- stream$answers$target >= stream$answers$lower_0.8 & stream$answers$target <= stream$answers$upper_0.8
  expect_gt(mean(inside), 0.7)
  # Later targets do not change earlier answers.
  other <- d
  other$y[200:300] <- 50
  again <- tare_track(other[1:300, c("x", "forecast", "y")], "y", prediction = "forecast", level = 0.8, start = 20, progress = FALSE)
  expect_identical(again$answers[1:179, 2:3], stream$answers[1:179, 2:3])

  learned <- update(stream$model, d[301:400, c("x", "forecast", "y")])
  expect_equal(learned$description$rows, 400)
  expect_equal(stream$model$description$rows, 300)
  expect_equal(nrow(predict(learned, d[1, ], "interval", level = 0.8)), 1)
  expect_error(update(stream$model), "'newdata'")
  expect_error(tare_track(d, 3), "name of a column")
})

test_that("a fitted model goes on learning", {
  d <- draw(300)
  model <- update(quick(y ~ x + kind, d[1:200, ]), d[201:300, ])
  expect_false(anyNA(predict(model, d[1:5, ], "interval")))
})
