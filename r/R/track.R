# SPDX-License-Identifier: BSD-3-Clause
# Rows in time order: each is answered before its target is seen, and then learned.

tare_track <- function(data, target, prediction = NULL, level = 0.9, model = NULL, na.action = "fail", threads = NULL,
                       progress = interactive(), ...) {
  data <- as_frame(data, "data")
  if (!is.character(target) || length(target) != 1) {
    raise("'target' must be the name of a column", "tare_invalid_argument", option = "target")
  }
  columns <- as_table(data)
  texts <- c(
    paste0("target=", target), as_options(list(prediction = prediction)), level_option("interval", level, "level"),
    as_options(list(...)), missing_option(read_na_action(na.action)), threads_option(threads)
  )
  start <- if (is.null(model)) NULL else model_pointer(model)
  result <- checked(.Call(tare_r_track, start, unname(columns), names(columns), enc2utf8(texts), isTRUE(progress)))
  warn_about(result$answers$notices)
  answers <- as.data.frame(result$answers$columns, optional = TRUE)
  answers <- cbind(row = as.integer(result$answers$row), answers, target = columns[[target]][result$answers$row])
  followed <- new_tare(result$model, target = target, na.action = "fail")
  list(answers = answers, model = followed)
}

update.tare <- function(object, newdata, ...) {
  if (missing(newdata)) {
    raise("'newdata', rows with their targets, is missing; update() teaches a model further rows", "tare_invalid_argument", option = "newdata")
  }
  if (!is.null(object$terms) || !is.null(object$outer)) {
    columns <- new_columns(object, newdata)
    columns[[object$description$target]] <- targets_of(object, newdata, NULL)
  } else {
    columns <- as_table(as_frame(newdata, "newdata"))
  }
  opened <- checked(.Call(tare_r_update, model_pointer(object), unname(columns), names(columns)))
  warn_about(opened$notices)
  made <- new_tare(opened)
  made[c("bytes", "description", "notices", "handle")] -> fresh
  object[names(fresh)] <- fresh
  object
}
