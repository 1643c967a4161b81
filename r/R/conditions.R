# SPDX-License-Identifier: BSD-3-Clause
# Errors and notices of the library in R's words.

statuses <- c("other", "invalid_argument", "not_found", "bad_data", "unsupported", "shape_mismatch", "corrupt_file", "io", "stopped")

# The library says missing=impute; here it is na.action = "impute".
policies <- c(drop = "omit", impute = "impute", error = "fail")

options_that_errors_name <- c(
  "method", "target", "prediction", "prediction_sd", "prediction_quantiles", "features", "drop", "categorical", "calibrate_on",
  "weight", "group", "split", "window", "missing", "shift_to", "seed", "guarantee", "regressor", "bandwidth", "bands", "bounds",
  "masses", "kernel", "folds", "dims", "reducer", "trees", "levels", "interval", "set", "cost", "diagnostics", "threads", "budget"
)

# "use missing=drop" becomes 'use na.action = "omit"', also for options that a method adds.
in_words_of_r <- function(text) {
  for (name in names(policies)) {
    text <- gsub(paste0("\\bmissing=", name, "\\b"), paste0("na.action = \"", policies[[name]], "\""), text)
  }
  names <- paste(options_that_errors_name, collapse = "|")
  text <- gsub(paste0("(?<![\\w'.])(", names, ")=([^ ,()']+)"), "\\1 = \"\\2\"", text, perl = TRUE)
  text <- sub("'NaN' is a missing value", "NA is a missing value", text, fixed = TRUE)
  text <- sub("^has no column", "the data has no column", text)
  sub("^the file has", "the data has", text)
}

raise <- function(text, class = NULL, call = NULL, ...) {
  stop(structure(class = c(class, "tare_error", "error", "condition"), list(message = text, call = call, ...)))
}

# What Ctrl-C does: handlers of 'interrupt' run, and then R is back at its prompt.
interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "stopped", call = NULL)))
  invokeRestart("abort")
}

# The result of a call of the library, or its error.
checked <- function(result) {
  if (!inherits(result, "tare_failure")) return(result)
  status <- statuses[[result$status]]
  if (status == "stopped") interrupt()
  raise(
    in_words_of_r(result$text), paste0("tare_", status),
    column = result$column, option = result$option, value = result$value, source = result$source, line = result$line
  )
}

# Rows with NA are NA in the answer, so that nobody has to be told.
quiet_notices <- c("dropped_rows", "left_out_rows", "imputed_values")

warn_about <- function(notices) {
  for (k in seq_along(notices$code)) {
    if (notices$code[[k]] %in% quiet_notices) next
    warning(structure(
      class = c(paste0("tare_", notices$code[[k]]), "tare_warning", "warning", "condition"),
      list(message = in_words_of_r(notices$text[[k]]), call = NULL, rows = notices$rows[[k]])
    ))
  }
}
