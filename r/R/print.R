# SPDX-License-Identifier: BSD-3-Clause

format.tare <- function(x, ...) {
  about <- x$description
  rows <- about$rows
  lines <- c(
    sprintf("tare model, method %s", about$method),
    if (!is.null(x$call)) paste("  call:     ", paste(trimws(deparse(x$call)), collapse = " ")),
    sprintf("  target:    %s", target_label(x)),
    sprintf("  inputs:    %s", paste(utils::head(about$features, 8), collapse = ", ")),
    if (length(about$features) > 8) sprintf("             and %d more columns", length(about$features) - 8L),
    if (!is.null(rows)) sprintf("  rows:      %s", format(rows, big.mark = ",")),
    sprintf("  guarantee: %s", guarantee_line(about$guarantee)),
    if (length(x$notices$text) > 0) paste("  note:     ", x$notices$text)
  )
  lines
}

# The target as the user wrote it; '.target' is its name in the library.
target_label <- function(x) {
  if (!is.null(x$target_expression)) return(paste(deparse(x$target_expression), collapse = " "))
  if (identical(x$description$target, ".target")) "y" else x$description$target
}

guarantee_line <- function(guarantee) {
  if (is.null(guarantee)) return("none (guarantee = \"split\" adds one)")
  form <- if (is.list(guarantee) && is.character(guarantee$form)) guarantee$form else "yes"
  paste0(form, if (is.list(guarantee) && is.numeric(guarantee$rows)) sprintf(", %g ranked rows", guarantee$rows))
}

print.tare <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

summary.tare <- function(object, ...) {
  structure(list(model = object, description = object$description), class = "summary.tare")
}

print.summary.tare <- function(x, ...) {
  print(x$model)
  utils::str(x$description[!names(x$description) %in% c("features", "method", "target", "rows")],
    give.attr = FALSE, max.level = 2, vec.len = 3, no.list = TRUE, list.len = 20)
  invisible(x)
}
