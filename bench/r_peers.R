#!/usr/bin/env Rscript
# SPDX-License-Identifier: BSD-3-Clause
# Compares the R package with ranger (quantile regression forests) and quantreg (linear quantile regression) on one job: fit some rows,
# predict nine quantiles, or --levels as many, for others. One thread each; a process for each measurement.
#
#     make build && cmake --build build --target tare_shared && cmake --install build --prefix PREFIX
#     TARE_HOME=PREFIX R CMD INSTALL r
#     TARE_DATA=... Rscript bench/r_peers.R                     # all, as a table for bench/RESULTS.md
#     Rscript bench/r_peers.R --cases law_2000 --seeds 1        # a quick look
#     Rscript bench/r_peers.R --set linear --levels 99          # linear models only; --set forests: forests only
#
# Times are processor seconds (user and system) after packages and data are loaded. Memory is the growth of the process's peak. The loss is
# the mean pinball loss over rows and levels; '+-' is the standard error over the seeds, which draw rows and models.

levels <- seq_len(9) / 10
tables <- list(concrete = c("concrete.csv", "compressive_strength"), power = c("power.csv", "PE"), kin8nm = c("kin8nm.csv", "y"))
laws <- c(law_2000 = 2000, law_20000 = 20000, law_100000 = 100000)

# A sine and a line in the mean, an sd that depends on two features; six of the ten say nothing. The law of bench/qrf_peers.py.
law_rows <- function(n) {
  x <- matrix(runif(10 * n), n, dimnames = list(NULL, paste0("x", 1:10)))
  sd <- 0.2 + x[, 3] + abs(x[, 4] - 0.5)
  data.frame(x, y = sin(6 * x[, 1]) + 2 * x[, 2] + sd * rnorm(n))
}

make_case <- function(name, seed) {
  set.seed(seed)
  if (name %in% names(laws)) {
    rows <- law_rows(laws[[name]] + 5000)
    test <- seq_len(5000)
  } else {
    rows <- read.csv(file.path(Sys.getenv("TARE_DATA"), tables[[name]][[1]]))
    names(rows)[names(rows) == tables[[name]][[2]]] <- "y"
    test <- sample(nrow(rows), nrow(rows) %/% 10)
  }
  list(train = rows[-test, ], test = rows[test, ])
}

tare_peer <- function(...) {
  arguments <- list(...)
  list(
    load = function() loadNamespace("tare"),
    fit = function(train, seed) do.call(tare::tare_fit, c(list(y ~ ., train, seed = seed, threads = 1, progress = FALSE), arguments)),
    predict = function(model, test) predict(model, test, quantiles = levels, threads = 1)
  )
}

peers <- list(
  "tare, nrc on ridge" = tare_peer(method = "nrc", regressor = "ridge", bands = "off"),
  # A bandwidth by its rate, without the search.
  "tare, nrc on ridge, rate" = tare_peer(method = "nrc", regressor = "ridge", bandwidth = "rate", bands = "off"),
  # All residuals weigh alike: lines with one slope.
  "tare, nrc on ridge, parallel" = tare_peer(method = "nrc", regressor = "ridge", bandwidth = "infinite", bands = "off"),
  "tare, nrc_boost" = tare_peer(method = "nrc_boost", bands = "off"),
  "tare, qrf" = tare_peer(method = "qrf", trees = 500, bands = "off"),
  # As many columns at each split as ranger tries (the root of their number), and leaves of about the size of its leaves, which have 1 to 5
  # rows because nodes of more than 5 are split.
  "tare, qrf as ranger" = list(
    load = function() loadNamespace("tare"),
    fit = function(train, seed) {
      columns <- ncol(train) - 1
      tare_peer(method = "qrf", trees = 500, min_leaf = 2, columns = floor(sqrt(columns)) / columns, bands = "off")$fit(train, seed)
    },
    predict = tare_peer()$predict
  ),
  "tare, auto, quick" = tare_peer(budget = "quick"),
  "tare, auto" = tare_peer(),
  "ranger" = list(
    load = function() loadNamespace("ranger"),
    fit = function(train, seed) ranger::ranger(y ~ ., train, num.trees = 500, quantreg = TRUE, num.threads = 1, seed = seed),
    predict = function(model, test) predict(model, test, type = "quantiles", quantiles = levels, num.threads = 1)$predictions
  ),
  "quantreg, br" = list(
    load = function() loadNamespace("quantreg"),
    fit = function(train, seed) suppressWarnings(quantreg::rq(y ~ ., levels, train)),
    predict = function(model, test) predict(model, test)
  ),
  "quantreg, fn" = list(
    load = function() loadNamespace("quantreg"),
    fit = function(train, seed) quantreg::rq(y ~ ., levels, train, method = "fn"),
    predict = function(model, test) predict(model, test)
  )
)

sets <- list(linear = grep("ridge|quantreg", names(peers), value = TRUE), forests = grep("qrf|ranger", names(peers), value = TRUE), all = names(peers))

peak_mib <- function() {
  line <- grep("^VmHWM:", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

cpu <- function(code) {
  before <- proc.time()
  force(code)
  sum((proc.time() - before)[c("user.self", "sys.self")])
}

measure <- function(peer, case, seed) {
  rows <- make_case(case, seed)
  invisible(gc())
  peers[[peer]]$load()
  before <- peak_mib()
  fit_s <- cpu(model <- peers[[peer]]$fit(rows$train, seed))
  predict_s <- cpu(q <- peers[[peer]]$predict(model, rows$test))
  error <- rows$test$y - q
  loss <- mean(pmax(sweep(error, 2, levels, "*"), sweep(error, 2, levels - 1, "*")))
  cat(sprintf("%.17g %.17g %.17g %.17g\n", fit_s, predict_s, peak_mib() - before, loss))
}

option <- function(name, default) {
  arguments <- commandArgs(TRUE)
  at <- match(paste0("--", name), arguments)
  if (is.na(at)) return(default)
  rest <- arguments[-seq_len(at)]
  end <- match(TRUE, startsWith(rest, "--"))
  if (is.na(end)) rest else rest[seq_len(end - 1)]
}

ask <- function(peer, case, seed) {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  output <- system2(file.path(R.home("bin"), "Rscript"), c(shQuote(script), "--one", shQuote(peer), case, seed, length(levels)),
    stdout = TRUE, env = c("OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"))
  if (!is.null(attr(output, "status"))) stop(peer, " failed on ", case)
  as.numeric(strsplit(output[[length(output)]], " ")[[1]])
}

main <- function() {
  one <- option("one", NULL)
  count <- as.integer(if (is.null(one)) option("levels", 9) else one[[4]])
  levels <<- seq_len(count) / (count + 1)
  if (!is.null(one)) return(measure(one[[1]], one[[2]], as.integer(one[[3]])))
  known <- c(if (nzchar(Sys.getenv("TARE_DATA"))) names(tables) else character(), names(laws))
  cases <- option("cases", known)
  seeds <- as.integer(option("seeds", c("1", "2", "3")))
  cat("| case | peer | fit s | predict s | peak MiB | pinball loss | +- |\n|---|---|---:|---:|---:|---:|---:|\n")
  for (case in cases) {
    for (peer in option("peers", sets[[option("set", "all")]])) {
      all <- vapply(seeds, function(seed) ask(peer, case, seed), numeric(4))
      middle <- rowMeans(all)
      cat(sprintf("| %s | %s | %.2f | %.2f | %.0f | %.4f | %.4f |\n", case, peer, middle[[1]], middle[[2]], middle[[3]], middle[[4]],
        if (length(seeds) > 1) sd(all[4, ]) / sqrt(length(seeds)) else NA))
    }
  }
}

main()
