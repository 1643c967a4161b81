# SPDX-License-Identifier: BSD-3-Clause
d <- draw(500)
model <- quick(y ~ x + kind, d)

test_that("each type has its form", {
  new <- d[1:4, ]
  expect_equal(dim(predict(model, new)), c(4L, 3L))
  one <- predict(model, new, "interval")
  expect_equal(colnames(one), c("lower", "upper"))
  expect_equal(unname(one), unname(predict(model, new, quantiles = c(0.05, 0.95))), tolerance = 1e-9)
  expect_equal(colnames(predict(model, new, "interval", level = c(0.5, 0.9))), c("lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"))
  expect_identical(predict(model, new, "median"), unname(predict(model, new, quantiles = 0.5)[, 1]))
  expect_named(predict(model, new, "set", level = 0.8), c("lower_0.8", "upper_0.8", "lower2_0.8", "upper2_0.8"))
  action <- predict(model, new, "action", cost = c(over = 1, under = 4))
  expect_equal(action$action, unname(predict(model, new, quantiles = 0.8)[, 1]))
  expect_true(all(c("effective_n", "fallback") %in% names(predict(model, new, "diagnostics"))))
  expect_named(predict(model, new, "pred_int"), c(".pred_lower", ".pred_upper"))
  expect_named(predict(model, new, "numeric"), ".pred")
})

test_that("row names are kept, and columns may have any order", {
  new <- d[1:3, ]
  rownames(new) <- c("a", "b", "c")
  expect_equal(rownames(predict(model, new)), c("a", "b", "c"))
  expect_identical(predict(model, new), predict(model, new[c("noise", "kind", "x")]))
  expect_equal(nrow(predict(model, new[0, ])), 0)
})

test_that("mistakes are named with a remedy", {
  expect_error(predict(model), "'newdata' is missing")
  expect_error(predict(model, d["x"]), "no column 'kind'", class = "tare_not_found")
  kind <- d$kind
  expect_error(predict(model, d["x"]), "no column 'kind'", class = "tare_not_found")
  expect_error(predict(model, d, "mean"), "'type' must be one of")
  expect_error(predict(model, d, quantiles = 1.5), "between 0 and 1, got 1.5")
  expect_error(predict(model, d, quantiles = c(0.5, 0.5)), "twice")
  expect_error(predict(model, d, "interval", level = NA_real_), "between 0 and 1")
  expect_error(predict(model, d, "action"), "cost = c\\(over = 1, under = 4\\)")
  expect_error(predict(model, d, "action", cost = c(over = -1, under = 4)), class = "tare_invalid_argument")
  expect_error(predict(model, d, levels = 0.5), "does not know the argument 'levels'")
  expect_error(predict(model, transform(d, x = as.character(kind))), class = "tare_bad_data")
})

test_that("variables that are no columns of the data are found where the formula was written", {
  a <- d$x
  outside <- tare_fit(d$y ~ a, method = "nrc_boost", seed = 0, progress = FALSE)
  expect_equal(nrow(predict(outside, data.frame(a = c(0.2, 0.8)))), 2)
})

test_that("a model survives saveRDS, and a file is the tool's", {
  rds <- tempfile(fileext = ".rds")
  saveRDS(model, rds)
  expect_identical(predict(readRDS(rds), d), predict(model, d))
  file <- tempfile(fileext = ".tare")
  tare_save(model, file)
  loaded <- tare_load(file)
  expect_identical(predict(loaded, d), predict(model, d))
  expect_identical(loaded$bytes, model$bytes)
  expect_error(tare_save(model, file), "exists", class = "tare_invalid_argument")
  expect_silent(tare_save(model, file, overwrite = TRUE))
  expect_error(tare_load(tempfile()), class = "tare_not_found")
  writeLines("no model", file)
  expect_error(tare_load(file), class = "tare_corrupt_file")
})

test_that("names and texts may be in any script", {
  odd <- data.frame("größe" = d$x, "색" = c("красный", "青")[1 + (d$x > 0.5)], y = d$y, check.names = FALSE)
  model <- quick(y ~ ., odd)
  file <- tempfile(fileext = ".tare")
  tare_save(model, file)
  expect_identical(predict(tare_load(file), odd), predict(model, odd))
})

test_that("printing says method, target, rows and guarantee", {
  text <- paste(format(model), collapse = "\n")
  expect_match(text, "method nrc_boost")
  expect_match(text, "guarantee: none")
  expect_output(print(model), "tare model")
  expect_output(print(summary(model)), "bands|kernel")
  expect_match(paste(format(quick(y ~ x, d, guarantee = "split")), collapse = "\n"), "guarantee: split")
})

test_that("processes that are forked from this one can predict", {
  skip_on_os("windows")
  answers <- parallel::mclapply(1:2, function(i) predict(model, d[1:5, ], threads = 1), mc.cores = 2)
  expect_identical(answers[[1]], predict(model, d[1:5, ]))
  expect_identical(answers[[2]], answers[[1]])
})

test_that("Ctrl-C ends a fit", {
  skip_on_os("windows")
  # In a process of its own: an interrupt that comes late would end the tests.
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "library(tare)",
    "set.seed(1)",
    "d <- data.frame(a = runif(20000), b = runif(20000), y = rnorm(20000))",
    "invisible(system(sprintf('(sleep 2; kill -INT %d) &', Sys.getpid())))",
    "outcome <- tryCatch({tare_fit(y ~ ., d, budget = 'best', threads = 2); 'finished'}, interrupt = function(e) 'interrupted')",
    "after <- tare_fit(y ~ a, d[1:200, ], method = 'nrc_boost')",
    "cat(outcome, nrow(predict(after, d[1:3, ])), '\\n')"
  ), script)
  output <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = TRUE, stderr = TRUE,
    env = paste0("R_LIBS=", shQuote(paste(.libPaths(), collapse = ":"))))
  expect_match(paste(output, collapse = "\n"), "interrupted 3")
})
