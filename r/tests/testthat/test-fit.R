# SPDX-License-Identifier: BSD-3-Clause

test_that("quantiles are near the true ones, and never cross", {
  model <- quick(y ~ x + kind, draw(3000))
  new <- expand.grid(x = c(0.2, 0.5, 0.8), kind = c("low", "high"))
  levels <- c(0.05, 0.25, 0.5, 0.75, 0.95)
  q <- predict(model, new, quantiles = levels)
  expect_equal(colnames(q), c("q0.05", "q0.25", "q0.5", "q0.75", "q0.95"))
  expect_true(all(diff(t(q)) >= 0))
  truth <- outer(2 * new$x, rep(1, 5)) + outer((0.2 + new$x) * ifelse(new$kind == "high", 2, 1), qnorm(levels))
  expect_lt(mean(abs(q - truth)), 0.25)
})

test_that("the order of levels is the caller's", {
  model <- quick(y ~ x, draw(300))
  q <- predict(model, data.frame(x = 0.5), quantiles = c(0.9, 0.1))
  expect_equal(colnames(q), c("q0.9", "q0.1"))
  expect_gt(q[1, 1], q[1, 2])
})

test_that("formula, frame and matrix give the same model", {
  d <- draw(400)
  by_formula <- predict(quick(y ~ x + noise, d), d)
  by_frame <- predict(quick(d[c("x", "noise")], d$y), d)
  by_matrix <- predict(quick(as.matrix(d[c("x", "noise")]), d$y), as.matrix(d[c("x", "noise")]))
  expect_equal(by_formula, by_frame, tolerance = 1e-12)
  expect_equal(unname(by_formula), unname(by_matrix), tolerance = 1e-12)
})

test_that("a dot is every other column, and formulas may transform", {
  d <- draw(300)
  expect_setequal(unique(sub("=.*", "", quick(y ~ ., d)$description$features)), c("x", "kind", "noise"))
  model <- quick(exp(y) ~ log(x) + poly(noise, 2), d)
  expect_equal(nrow(predict(model, d[1:3, ])), 3)
  # 'poly' uses the basis of the fit, not one of three rows.
  expect_equal(predict(model, d[1:3, ]), predict(model, d)[1:3, ], tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("set.seed and seed make a fit repeatable, and threads change nothing", {
  d <- draw(200)
  fit <- function(...) predict(tare_fit(y ~ x, d, method = "nrc_rf", trees = 20, progress = FALSE, ...), d)
  set.seed(5)
  one <- fit()
  set.seed(5)
  expect_identical(fit(), one)
  expect_identical(fit(seed = 3, threads = 1), fit(seed = 3, threads = 2))
})

test_that("factors, characters and logicals are categories, also where they look like numbers", {
  d <- draw(400)
  d$code <- factor(sample(c("10", "2", "33"), 400, TRUE))
  d$flag <- d$x > 0.5
  d$text <- as.character(d$kind)
  model <- quick(y ~ code + flag + text, d)
  expect_setequal(vapply(model$description$inputs, function(input) input$kind, ""), "category")
  expect_identical(predict(model, d[1:5, ]), predict(model, transform(d, code = as.character(code))[1:5, ]))
  expect_warning(predict(model, transform(d[1:2, ], code = "new")), class = "tare_unseen_category")
})

test_that("dates are numbers", {
  d <- draw(300)
  d$day <- as.Date("2026-01-01") + seq_len(300)
  d$time <- as.POSIXct(d$day)
  model <- quick(y ~ day + time, d)
  expect_setequal(vapply(model$description$inputs, function(input) input$kind, ""), "number")
})

test_that("NA: omitted by default and NA in the answer, or imputed, or refused", {
  d <- draw(300)
  d$x[c(3, 50)] <- NA
  d$kind[7] <- NA
  omitted <- quick(y ~ x + kind, d)
  expect_match(paste(format(omitted), collapse = "\n"), "3 rows with a missing value were left out")
  q <- predict(omitted, d)
  expect_equal(nrow(q), 300)
  expect_equal(which(is.na(q[, 1])), c(3, 7, 50), ignore_attr = TRUE)
  complete <- d[-c(3, 7, 50), ]
  expect_identical(unname(q[-c(3, 7, 50), ]), unname(predict(quick(y ~ x + kind, complete), complete)))
  expect_false(anyNA(predict(quick(y ~ x + kind, d, na.action = "impute"), d)))
  expect_error(quick(y ~ x + kind, d, na.action = na.fail), "na.action = \"omit\"", class = "tare_bad_data")
  expect_error(quick(y ~ x, d, na.action = "skip"), "must be \"omit\", \"impute\" or \"fail\"")
  expect_true(all(is.na(predict(omitted, d[c(3, 7), ]))))
})

test_that("weights count rows: with one window for all, quantiles are those of repeated rows", {
  d <- draw(200)
  d$count <- rep(c(2, 1), each = 100)
  weighted <- tare_fit(y ~ x, d, weights = count, method = "pure_kernel", bandwidth = "infinite", ranks = "paper", split = "cross",
    seed = 0, progress = FALSE)
  levels <- c(0.1, 0.33, 0.5, 0.9)
  oracle <- quantile(rep(d$y, d$count), levels, type = 1, names = FALSE)
  expect_equal(as.vector(predict(weighted, d[1, ], quantiles = levels)), oracle, tolerance = 1e-12)
  expect_error(tare_fit(y ~ x, d, weights = -x, method = "nrc_boost", progress = FALSE), "weight", class = "tare_error")
})

test_that("subset takes rows", {
  d <- draw(300)
  part <- tare_fit(y ~ x, d, subset = x < 0.5, method = "nrc_boost", seed = 0, progress = FALSE)
  expect_identical(predict(part, d), predict(quick(y ~ x, d[d$x < 0.5, ]), d))
})

test_that("a guarantee covers, within each group", {
  covered <- vapply(1:20, function(seed) {
    d <- draw(600, seed)
    model <- tare_fit(y ~ x, d[1:300, ], group = "kind", guarantee = "split:0.5", method = "nrc", regressor = "ridge",
      seed = seed, progress = FALSE)
    ends <- predict(model, d[301:600, ], type = "interval", level = 0.8)
    inside <- d$y[301:600] >= ends[, 1] & d$y[301:600] <= ends[, 2]
    tapply(inside, d$kind[301:600], mean)
  }, c(high = 0, low = 0))
  # 20 fits, 150 rows of a group each: the mean has a standard error of about 0.015.
  expect_gt(min(rowMeans(covered)), 0.755)
})

test_that("the group need not be a feature", {
  d <- draw(400)
  model <- quick(y ~ x, d, group = "kind", guarantee = "split")
  expect_equal(model$description$features, "x")
  expect_error(predict(model, data.frame(x = 0.5)), "no column 'kind'", class = "tare_not_found")
  expect_error(quick(y ~ x, d, group = "color", guarantee = "split"), "no column 'color'")
})

test_that("a column of calibrate_on need not be a feature of the model, and drop leaves columns out", {
  d <- draw(300)
  model <- tare_fit(y ~ x, d, calibrate_on = "noise", method = "nrc", regressor = "ridge", bands = "off", seed = 0, progress = FALSE)
  for_model <- vapply(model$description$inputs, function(input) input$for_model, NA)
  expect_equal(setNames(for_model, vapply(model$description$inputs, function(input) input$name, "")), c(x = TRUE, noise = FALSE))
  expect_error(predict(model, data.frame(x = 0.5)), "no column 'noise'")
  expect_setequal(quick(y ~ ., d, drop = c("noise", "kind"))$description$features, "x")
})

test_that("mistakes are named with a remedy", {
  d <- draw(100)
  expect_error(quick(~x, d), "no target", class = "tare_invalid_argument")
  expect_error(quick(y ~ x * kind, d), "interaction 'x:kind'", class = "tare_invalid_argument")
  expect_error(quick(y ~ x + offset(noise), d), "offset")
  expect_error(quick(y ~ 1, d), "no variable on the right")
  expect_error(quick(kind ~ x, d), "the target 'kind' must be numeric")
  expect_error(quick(y ~ x, d, method = "magic"), "magic", class = "tare_not_found")
  expect_error(quick(y ~ x, d, tree = 5), "tree", class = "tare_error")
  expect_error(quick(y ~ x, d, seed = -1), "whole number")
  expect_error(quick(y ~ x, d, threads = "many"), "threads", class = "tare_invalid_argument")
  expect_error(quick(y ~ x, d[1:2, ]), "rows", class = "tare_bad_data")
  expect_error(quick(y ~ x, transform(d, x = x / 0)), "nfinit", class = "tare_bad_data")
  expect_error(quick(d["x"]), "'y', the target, is missing")
  expect_error(quick(d["x"], d$y[-1]), "one value for each of the 100 rows", class = "tare_shape_mismatch")
  expect_error(quick(mean, d$y), "data frame or a matrix")
  odd <- d
  odd$kind <- factor(ifelse(d$x > 0.5, "NA", "b"))
  expect_error(quick(y ~ kind, odd), "reads as a missing value", class = "tare_bad_data")
  odd$kind <- replicate(100, list(1))
  expect_error(quick(odd[c("x", "kind")], d$y), "class 'list'")
  odd$kind <- complex(real = d$x)
  expect_error(quick(odd[c("x", "kind")], d$y), "class 'complex'")
})

test_that("an error has its parts", {
  error <- tryCatch(quick(y ~ x, draw(100), guarantee = "most"), error = identity)
  expect_s3_class(error, "tare_invalid_argument")
  expect_equal(error$option, "guarantee")
})

test_that("methods are listed with their options", {
  expect_true(all(c("auto", "nrc_boost", "qrf") %in% tare_methods()$name))
  expect_true("trees" %in% tare_methods("qrf")$name)
  expect_error(tare_methods("magic"), "must be one of")
  expect_match(tare_version(), "^[0-9]+\\.[0-9]+\\.[0-9]+$")
})

test_that("the package and the library have one version", {
  expect_equal(as.character(utils::packageVersion("tare")), tare_version())
})
