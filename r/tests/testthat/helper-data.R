# SPDX-License-Identifier: BSD-3-Clause
options(tare.threads = 2)

# A target whose spread grows with x and depends on a factor; the conditional distribution is known.
draw <- function(n, seed = 1) {
  set.seed(seed)
  x <- runif(n)
  kind <- factor(sample(c("low", "high"), n, TRUE))
  sd <- (0.2 + x) * ifelse(kind == "high", 2, 1)
  data.frame(x = x, kind = kind, noise = rnorm(n), y = 2 * x + sd * rnorm(n))
}

quick <- function(..., method = "nrc_boost", seed = 0) tare_fit(..., method = method, seed = seed, progress = FALSE)

pinball <- function(y, q, level) mean(pmax(level * (y - q), (level - 1) * (y - q)))
