# SPDX-License-Identifier: BSD-3-Clause

prediction_types <- c("quantile", "interval", "median", "set", "action", "diagnostics", "pred_int", "numeric")

predict.tare <- function(object, newdata, type = "quantile", quantiles = c(0.05, 0.5, 0.95), level = 0.9, cost = NULL,
                         na.action = object$na.action, threads = NULL, progress = FALSE, ...) {
  unknown <- names(list(...))
  if (...length() > 0) {
    raise(sprintf("predict() does not know the argument '%s'", if (is.null(unknown)) "..." else unknown[[1]]), "tare_invalid_argument")
  }
  if (!is.character(type) || length(type) != 1 || !type %in% prediction_types) {
    raise(sprintf("'type' must be one of %s", paste0("\"", prediction_types, "\"", collapse = ", ")), "tare_invalid_argument", option = "type")
  }
  if (missing(newdata)) {
    raise("'newdata' is missing; a 'tare' object does not keep the rows of its fit", "tare_invalid_argument", option = "newdata")
  }
  columns <- new_columns(object, newdata)
  rows <- NROW(newdata)
  ask <- function(...) answers_for(object, columns, rows, c(...), read_na_action(na.action), threads, progress)
  switch(type,
    quantile = as_answer_matrix(ask(level_option("levels", quantiles, "quantiles")), newdata),
    interval = interval_matrix(ask(level_option("interval", level, "level")), level, newdata),
    median = unname(ask("levels=0.5")[[1]]),
    set = as_answer_frame(ask("set=shortest", level_option("interval", level, "level")), newdata),
    action = as_answer_frame(ask(cost_option(cost)), newdata),
    diagnostics = as_answer_frame(ask(level_option("levels", quantiles, "quantiles"), "diagnostics=yes"), newdata),
    pred_int = tidy_interval(ask(level_option("interval", one_level(level), "level"))),
    numeric = data.frame(.pred = ask("levels=0.5")[[1]])
  )
}

# The columns that the model needs from new rows.
new_columns <- function(object, newdata) {
  if (!is.null(object$outer)) return(outer_columns(object, newdata))
  if (!is.null(object$terms)) {
    newdata <- as_frame(newdata, "newdata")
    # What was a column in the fit must be one here: a variable of the same name elsewhere is something else.
    absent <- setdiff(object$needed, names(newdata))
    if (length(absent) > 0) {
      raise(sprintf("'newdata' has no column '%s', which the model needs (needed: %s)", absent[[1]], paste(object$needed, collapse = ", ")),
        "tare_not_found", column = absent[[1]])
    }
    frame <- model.frame(object$terms, newdata, na.action = na.pass)
    columns <- as_table(frame)
  } else {
    newdata <- as_frame(newdata, "newdata")
    # Columns that are not the model's may have any type.
    usable <- vapply(newdata, function(v) is.atomic(v) || inherits(v, "POSIXlt") || is.factor(v), NA)
    return(as_table(newdata[needed_names(object, names(newdata)[usable])]))
  }
  for (name in object$extra) {
    if (!name %in% names(newdata)) {
      raise(sprintf("'newdata' has no column '%s', which the model needs", name), "tare_not_found", column = name)
    }
    columns <- c(columns, as_columns(newdata[[name]], name))
  }
  columns
}

# Of the columns at hand, those that the model knows. The library says which are missing.
needed_names <- function(object, names) {
  known <- c(vapply(object$description$inputs, function(column) column$name, ""), object$description$target, object$names)
  given <- unlist(object$description$given, use.names = FALSE)
  known <- unique(c(known, given, object$description$group))
  intersect(names, known)
}

# Answers for all rows; those that were left out because of NA are NA.
answers_for <- function(object, columns, rows, options, action, threads, progress) {
  all <- c(options, missing_option(action), threads_option(threads))
  answers <- checked(.Call(tare_r_predict, model_pointer(object), unname(columns), names(columns), enc2utf8(all), isTRUE(progress)))
  warn_about(answers$notices)
  if (length(answers$row) == rows) return(answers$columns)
  lapply(answers$columns, function(column) {
    whole <- rep(NA_real_, rows)
    whole[answers$row] <- column
    whole
  })
}

level_option <- function(option, values, argument) {
  if (!is.numeric(values) || length(values) == 0 || anyNA(values) || any(values <= 0 | values >= 1)) {
    raise(sprintf("'%s' must be numbers between 0 and 1, got %s", argument, paste(format(values), collapse = ", ")),
      "tare_invalid_argument", option = argument)
  }
  if (anyDuplicated(values)) {
    raise(sprintf("'%s' has %s twice", argument, format(values[duplicated(values)][[1]])), "tare_invalid_argument", option = argument)
  }
  paste0(option, "=", paste(vapply(values, number_text, ""), collapse = ","))
}

one_level <- function(level) {
  if (length(level) == 1) return(level)
  raise("'level' must be one number for this type", "tare_invalid_argument", option = "level")
}

cost_option <- function(cost) {
  if (is.numeric(cost) && length(cost) == 2 && setequal(names(cost), c("over", "under"))) {
    return(paste0("cost=over=", number_text(cost[["over"]]), ",under=", number_text(cost[["under"]])))
  }
  raise("type = \"action\" needs the costs of a unit too many and too few, for example cost = c(over = 1, under = 4)",
    "tare_invalid_argument", option = "cost")
}

row_labels <- function(newdata) {
  if (is.data.frame(newdata) && .row_names_info(newdata) > 0L) return(rownames(newdata))
  if (is.matrix(newdata)) return(rownames(newdata))
  NULL
}

as_answer_matrix <- function(columns, newdata) {
  matrix(unlist(columns, use.names = FALSE), ncol = length(columns), dimnames = list(row_labels(newdata), names(columns)))
}

# 'lower' and 'upper' for one level, 'lower_0.9' and so on for several.
interval_matrix <- function(columns, level, newdata) {
  if (length(level) == 1) names(columns) <- c("lower", "upper")
  as_answer_matrix(columns, newdata)
}

as_answer_frame <- function(columns, newdata) {
  frame <- as.data.frame(columns, optional = TRUE)
  labels <- row_labels(newdata)
  if (!is.null(labels) && !anyDuplicated(labels)) rownames(frame) <- labels
  frame
}

tidy_interval <- function(columns) data.frame(.pred_lower = columns[[1]], .pred_upper = columns[[2]])
