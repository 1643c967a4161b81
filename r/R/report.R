# SPDX-License-Identifier: BSD-3-Clause
# How a model does on rows with known targets.

tare_evaluate <- function(object, newdata, y = NULL, level = 0.9, threads = NULL, seed = 0) {
  if (!inherits(object, "tare")) raise("'object' must be a model of tare_fit(), tare_calibrate() or tare_load()", "tare_invalid_argument")
  level_option("interval", one_level(level), "level")
  targets <- targets_of(object, newdata, y)
  columns <- new_columns(object, newdata)
  columns[[object$description$target]] <- targets
  options <- c(missing_option(scored_action(object)), paste0("seed=", number_text(read_seed(seed))), threads_option(threads))
  scores <- checked(.Call(tare_r_scores, model_pointer(object), unname(columns), names(columns), enc2utf8(options)))
  curve <- (1:99) / 100
  ends <- c((1 - level) / 2, (1 + level) / 2)
  asked <- unique(c(curve, signif(ends, 12)))
  # What there is to say about rows is said once, below.
  answers <- suppressWarnings(
    predict(object, newdata, "quantile", quantiles = asked, na.action = scored_action(object), threads = threads),
    classes = "tare_warning"
  )
  lower <- answers[, match(signif(ends[[1]], 12), asked)]
  upper <- answers[, match(signif(ends[[2]], 12), asked)]
  rows <- data.frame(target = targets, median = answers[, match(0.5, asked)], lower = lower, upper = upper)
  rows <- rows[stats::complete.cases(rows), , drop = FALSE]
  known <- !is.na(targets) & stats::complete.cases(answers)
  below <- colMeans(targets[known] <= answers[known, seq_along(curve), drop = FALSE])
  n <- sum(known)
  single <- vapply(scores, function(score) length(score) <= 1, NA)
  values <- vapply(scores[single], function(score) if (is.null(score)) NA_real_ else as.double(score), 0)
  structure(
    list(
      scores = values,
      calibration = data.frame(
        level = curve, share = unname(below), low = qbinom(0.05, n, curve) / n, high = qbinom(0.95, n, curve) / n
      ),
      pit = scores$pit, rows = rows, level = level, method = object$description$method
    ),
    class = "tare_report"
  )
}

scored_action <- function(object) if (object$na.action == "impute") "impute" else "omit"

targets_of <- function(object, newdata, y) {
  values <- if (!is.null(y)) {
    if (is.character(y) && length(y) == 1) newdata[[y]] else y
  } else if (!is.null(object$formula)) {
    eval(object$formula[[2]], newdata, environment(object$formula))
  } else if (!is.null(object$target_expression)) {
    eval(object$target_expression, newdata)
  } else {
    newdata[[object$target]]
  }
  if (is.null(values)) {
    raise("the targets of the rows are not known; give them as 'y'", "tare_invalid_argument", option = "y")
  }
  if (!is.numeric(values) || length(values) != NROW(newdata)) {
    raise(sprintf("the targets must be numeric with one value for each of the %d rows", NROW(newdata)), "tare_shape_mismatch", option = "y")
  }
  as.double(values)
}

print.tare_report <- function(x, ...) {
  shown <- c("check_score", "crps", "mace", "agce", "coverage_90", "length_90", "winkler_90")
  shown <- intersect(shown, names(x$scores))
  cat(sprintf("tare report: method %s, %d rows\n", x$method, as.integer(x$scores[["rows"]])))
  print(signif(x$scores[shown], 4))
  inside <- mean(x$rows$target >= x$rows$lower & x$rows$target <= x$rows$upper)
  cat(sprintf("%.1f %% of the targets are inside their %g %% interval\n", 100 * inside, 100 * x$level))
  invisible(x)
}

as.data.frame.tare_report <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(score = names(x$scores), value = unname(x$scores), row.names = row.names)
}

report_types <- c("calibration", "pit", "intervals")

read_report_type <- function(type) {
  if (is.character(type) && type[[1]] %in% report_types) return(type[[1]])
  raise(sprintf("'type' must be one of %s", paste0("\"", report_types, "\"", collapse = ", ")), "tare_invalid_argument", option = "type")
}

# Rows in the order of their median, at most 'most' of them, evenly chosen.
ordered_rows <- function(report, most = 400) {
  rows <- report$rows[order(report$rows$median), , drop = FALSE]
  if (nrow(rows) > most) rows <- rows[round(seq(1, nrow(rows), length.out = most)), , drop = FALSE]
  rows$place <- seq_len(nrow(rows))
  rows$inside <- rows$target >= rows$lower & rows$target <= rows$upper
  rows
}

plot.tare_report <- function(x, type = "calibration", ...) {
  type <- read_report_type(type)
  if (type == "calibration") {
    curve <- x$calibration
    plot(curve$level, curve$share, type = "n", xlab = "level", ylab = "share of targets below the quantile", ...)
    polygon(c(curve$level, rev(curve$level)), c(curve$low, rev(curve$high)), col = "grey90", border = NA)
    abline(0, 1, lty = 2)
    lines(curve$level, curve$share, lwd = 2)
  } else if (type == "pit") {
    barplot(x$pit, space = 0, names.arg = seq_along(x$pit) / length(x$pit), xlab = "level of the target", ylab = "share of rows", ...)
    abline(h = 1 / length(x$pit), lty = 2)
  } else {
    rows <- ordered_rows(x)
    plot(rows$place, rows$target,
      type = "n", ylim = range(rows$target, rows$lower[is.finite(rows$lower)], rows$upper[is.finite(rows$upper)]),
      xlab = "rows by their median", ylab = "target", ...
    )
    segments(rows$place, rows$lower, rows$place, rows$upper, col = "grey75")
    points(rows$place, rows$target, pch = ifelse(rows$inside, 20, 4), cex = 0.7)
  }
  invisible(x)
}

utils::globalVariables(c("level", "share", "low", "high", "place", "target", "lower", "upper", "inside"))

autoplot.tare_report <- function(object, type = "calibration", ...) {
  type <- read_report_type(type)
  if (type == "calibration") {
    return(ggplot2::ggplot(object$calibration, ggplot2::aes(level, share)) +
      ggplot2::geom_ribbon(ggplot2::aes(ymin = low, ymax = high), alpha = 0.2) +
      ggplot2::geom_abline(linetype = 2) +
      ggplot2::geom_line() +
      ggplot2::labs(x = "level", y = "share of targets below the quantile", caption = "ribbon: 90 % of calibrated models, at each level"))
  }
  if (type == "pit") {
    bins <- data.frame(level = (seq_along(object$pit) - 0.5) / length(object$pit), share = object$pit)
    return(ggplot2::ggplot(bins, ggplot2::aes(level, share)) +
      ggplot2::geom_col(width = 1 / length(object$pit), alpha = 0.6) +
      ggplot2::geom_hline(yintercept = 1 / length(object$pit), linetype = 2) +
      ggplot2::labs(x = "level of the target", y = "share of rows"))
  }
  ggplot2::ggplot(ordered_rows(object), ggplot2::aes(place, target)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = lower, ymax = upper), colour = "grey70") +
    ggplot2::geom_point(ggplot2::aes(shape = inside), size = 1) +
    ggplot2::labs(x = "rows by their median", y = "target", shape = "inside")
}

# Verbs of 'generics', as 'broom' and 'parsnip' name their columns.
augment.tare <- function(x, newdata, level = 0.9, ...) {
  columns <- new_columns(x, newdata)
  answers <- answers_for(x, columns, NROW(newdata), c("levels=0.5", level_option("interval", one_level(level), "level")), x$na.action, NULL, FALSE)
  frame <- as.data.frame(newdata)
  frame$.pred <- answers[[1]]
  frame$.pred_lower <- answers[[2]]
  frame$.pred_upper <- answers[[3]]
  frame
}

glance.tare <- function(x, ...) {
  about <- x$description
  data.frame(method = about$method, rows = if (is.null(about$rows)) NA_real_ else about$rows, features = length(about$features),
    guarantee = !is.null(about$guarantee), seed = if (is.null(about$seed)) NA_real_ else about$seed)
}

tidy.tare_report <- function(x, ...) as.data.frame(x)
