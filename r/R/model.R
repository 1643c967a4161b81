# SPDX-License-Identifier: BSD-3-Clause
# The object of class 'tare'. The model itself lives in the library; 'bytes' is its file, from which it is opened again after
# readRDS() or in another process.

new_tare <- function(opened, ..., class = NULL) {
  handle <- new.env(parent = emptyenv())
  handle$pointer <- opened$pointer
  structure(
    list(
      bytes = checked(.Call(tare_r_save_bytes, opened$pointer)),
      description = checked(.Call(tare_r_describe, opened$pointer)),
      notices = opened$notices,
      handle = handle,
      ...
    ),
    class = c(class, "tare")
  )
}

model_pointer <- function(object) {
  handle <- object$handle
  if (is.null(handle$pointer) || is_null_pointer(handle$pointer)) {
    handle$pointer <- checked(.Call(tare_r_open_bytes, object$bytes))$pointer
  }
  handle$pointer
}

# A pointer that was saved and read again points nowhere.
is_null_pointer <- function(pointer) .Call(tare_r_is_null, pointer)

na_actions <- c("omit", "impute", "fail")

# A text, or one of R's functions.
read_na_action <- function(action) {
  if (is.function(action)) {
    known <- list(omit = stats::na.omit, omit = stats::na.exclude, fail = stats::na.fail)
    for (k in seq_along(known)) if (identical(action, known[[k]])) return(names(known)[[k]])
  }
  if (is.character(action) && length(action) >= 1) {
    action <- sub("^na\\.", "", action[[1]])
    if (action == "exclude") action <- "omit"
    if (action %in% na_actions) return(action)
  }
  raise("'na.action' must be \"omit\", \"impute\" or \"fail\"", "tare_invalid_argument", option = "na.action")
}

missing_option <- function(action) paste0("missing=", names(policies)[policies == action])

threads_option <- function(threads) {
  if (is.null(threads)) threads <- getOption("tare.threads", 0)
  paste0("threads=", as.character(threads))
}

# set.seed() makes a fit repeatable, as R's users expect.
read_seed <- function(seed) {
  if (is.null(seed)) return(sample.int(.Machine$integer.max, 1L))
  if (!is.numeric(seed) || length(seed) != 1 || is.na(seed) || seed < 0 || seed != round(seed)) {
    raise("'seed' must be one whole number from 0 on", "tare_invalid_argument", option = "seed")
  }
  seed
}

# Fits the columns of a table. 'aside' are columns that the model must not use: they have another role.
fit_table <- function(columns, target, na.action, seed, threads, progress, method = NULL, guarantee = NULL, aside = character(),
                      options = list()) {
  if (!is.double(columns[[target]])) {
    raise(sprintf("the target '%s' must be numeric", target), "tare_bad_data", column = target)
  }
  rows <- lengths(columns)
  if (any(rows != rows[[1]])) {
    odd <- names(columns)[rows != rows[[1]]][[1]]
    raise(sprintf("column '%s' has %d values, and '%s' has %d", odd, rows[[odd]], names(columns)[[1]], rows[[1]]),
      "tare_shape_mismatch", column = odd)
  }
  seed <- read_seed(seed)
  categorical <- setdiff(names(columns)[vapply(columns, number_like, NA)], aside)
  categorical <- union(options$categorical, categorical)
  aside <- union(options$drop, aside)
  if (length(categorical) > 0) options$categorical <- names_as_text(categorical, "categorical")
  if (length(aside) > 0) options$drop <- names_as_text(aside, "drop")
  texts <- c(
    paste0("target=", target), as_options(list(method = method, guarantee = guarantee)), as_options(options),
    missing_option(na.action), paste0("seed=", number_text(seed)), threads_option(threads)
  )
  checked(.Call(tare_r_fit, unname(columns), names(columns), enc2utf8(texts), isTRUE(progress)))
}
