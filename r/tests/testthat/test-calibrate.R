# SPDX-License-Identifier: BSD-3-Clause
d <- draw(1500)
train <- d[1:500, ]
cal <- d[501:1000, ]
test <- d[1001:1500, ]

test_that("intervals around a linear model cover", {
  model <- tare_calibrate(lm(y ~ x, train), cal, guarantee = "split", seed = 0, progress = FALSE)
  ends <- predict(model, test, "interval", level = 0.9)
  # 250 held-out and 500 test rows: the standard error of the coverage is about 0.023.
  expect_gt(mean(test$y >= ends[, 1] & test$y <= ends[, 2]), 0.84)
})

test_that("the given prediction is the model's: a shift of it shifts the answers", {
  line <- lm(y ~ x, train)
  higher <- function(model, newdata) predict(model, newdata) + 10
  fit <- function(f) tare_calibrate(line, transform(cal, y = f(line, cal) + (y - predict(line, cal))), predict_function = f, method = "nrc",
    bandwidth = "infinite", seed = 0, progress = FALSE)
  plain <- predict(fit(function(model, newdata) predict(model, newdata)), test)
  expect_equal(predict(fit(higher), test), plain + 10, tolerance = 1e-6)
})

test_that("models of several kinds go in", {
  pieces <- list(
    lm(y ~ x + kind, train), glm(y ~ x, data = train), loess(y ~ x, train, control = loess.control(surface = "direct")),
    function(newdata) 2 * newdata$x
  )
  if (requireNamespace("ranger", quietly = TRUE)) pieces <- c(pieces, list(ranger::ranger(y ~ x + kind, train, num.trees = 20, num.threads = 1)))
  if (requireNamespace("mgcv", quietly = TRUE)) pieces <- c(pieces, list(mgcv::gam(y ~ s(x), data = train)))
  for (piece in pieces) {
    model <- tare_calibrate(piece, cal, target = "y", method = "nrc_boost", seed = 0, progress = FALSE)
    expect_equal(dim(predict(model, test)), c(500L, 3L))
  }
})

test_that("a mean with a standard deviation, quantiles and parsnip's frames are taken", {
  spread <- function(model, newdata) data.frame(mean = 2 * newdata$x, sd = 0.2 + newdata$x)
  fit <- function(f) tare_calibrate(NULL, cal, target = "y", predict_function = f, seed = 0, progress = FALSE)
  expect_equal(fit(spread)$description$method, "nrc")
  curves <- function(model, newdata) data.frame(q0.1 = newdata$x, q0.5 = 2 * newdata$x, q0.9 = 3 * newdata$x)
  expect_false(anyNA(predict(fit(curves), test)))
  tidy <- function(model, newdata) data.frame(.pred = 2 * newdata$x)
  expect_identical(predict(fit(tidy), test), predict(fit(function(model, newdata) 2 * newdata$x), test))
})

test_that("rows for which the model has no prediction are NA", {
  model <- tare_calibrate(lm(y ~ x, train), cal, seed = 0, method = "nrc_boost", progress = FALSE)
  holes <- test[1:5, ]
  holes$x[2] <- NA
  expect_equal(which(is.na(predict(model, holes)[, 1])), 2, ignore_attr = TRUE)
})

test_that("mistakes are named with a remedy", {
  fit <- function(f, ...) tare_calibrate(NULL, cal, target = "y", predict_function = f, seed = 0, progress = FALSE, ...)
  expect_error(tare_calibrate(function(newdata) 1, cal), "target = \"y\"")
  expect_error(fit(function(model, newdata) 1), "1 numbers for 500 rows")
  expect_error(fit(function(model, newdata) letters), "class 'character'")
  expect_error(fit(function(model, newdata) data.frame(a = newdata$x, b = 1)), "columns a, b")
  expect_error(tare_calibrate(lm(y ~ x, train), cal["x"]), "no column 'y'")
  expect_error(tare_calibrate(lm(y ~ x, train), cal, target = "why"), "no column 'why'")
  expect_error(tare_calibrate(lm(y ~ x, train), cal, features = "z"), "no column 'z'")
})
