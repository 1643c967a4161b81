# SPDX-License-Identifier: BSD-3-Clause
# Quantiles around a model of any package: its predictions for rows that it has not seen, and the targets of these rows.

tare_calibrate <- function(model, data, target = NULL, features = NULL, predict_function = NULL, weights = NULL, na.action = "omit",
                           group = NULL, method = NULL, guarantee = NULL, seed = NULL, threads = NULL, progress = interactive(), ...) {
  action <- read_na_action(na.action)
  data <- as_frame(data, "data")
  y <- read_target(model, data, target)
  outer <- list(model = model, predict_function = predict_function, features = read_features(data, y$columns, features, group))
  columns <- outer_columns(list(outer = outer), data)
  columns[[".target"]] <- y$values
  options <- list(...)
  if (!is.null(options$calibrate_on)) options$calibrate_on <- names_as_text(options$calibrate_on, "calibrate_on")
  if (!is.null(weights)) {
    columns[[".weights"]] <- as.double(weights)
    options$weight <- ".weights"
  }
  options$group <- group
  given <- setdiff(names(columns)[startsWith(names(columns), ".prediction")], "")
  roles <- if (".prediction" %in% given) {
    list(prediction = ".prediction", prediction_sd = if (".prediction_sd" %in% given) ".prediction_sd")
  } else {
    list(prediction_quantiles = names_as_text(paste0(given, "=", sub("^\\.prediction_q", "", given)), "predict_function"))
  }
  opened <- fit_table(columns, ".target", action, seed, threads, progress, method, guarantee, options = c(roles, options))
  call <- match.call()
  call[[1]] <- quote(tare_calibrate)
  new_tare(opened, call = call, target = ".target", target_columns = y$columns, target_expression = y$expression, na.action = action,
    outer = outer, rows = nrow(data))
}

# The targets of the rows: a column, numbers, or the left side of the model's formula.
read_target <- function(model, data, target) {
  if (is.character(target) && length(target) == 1) {
    if (!target %in% names(data)) raise(sprintf("'data' has no column '%s'", target), "tare_not_found", column = target)
    values <- data[[target]]
    columns <- target
    expression <- as.name(target)
  } else if (is.numeric(target)) {
    values <- target
    columns <- character()
    expression <- NULL
  } else if (is.null(target)) {
    whole <- tryCatch(formula(model), error = function(e) NULL)
    if (length(whole) != 3) {
      raise("the model's formula does not say what the target is; name its column, for example target = \"y\"", "tare_invalid_argument",
        option = "target")
    }
    expression <- whole[[2]]
    columns <- all.vars(expression)
    absent <- setdiff(columns, names(data))
    if (length(absent) > 0) raise(sprintf("'data' has no column '%s', the model's target", absent[[1]]), "tare_not_found", column = absent[[1]])
    values <- eval(expression, data, environment(whole))
  } else {
    raise("'target' must be the name of a column, or numbers", "tare_invalid_argument", option = "target")
  }
  if (!is.numeric(values) || length(values) != nrow(data)) {
    raise(sprintf("the target must be numeric with one value for each of the %d rows of 'data'", nrow(data)), "tare_bad_data", option = "target")
  }
  list(values = as.double(values), columns = columns, expression = expression)
}

read_features <- function(data, target, features, group) {
  if (is.null(features)) return(setdiff(names(data), target))
  absent <- setdiff(c(features, group), names(data))
  if (length(absent) > 0) raise(sprintf("'data' has no column '%s'", absent[[1]]), "tare_not_found", column = absent[[1]])
  union(features, group)
}

# Features and predictions of new rows.
outer_columns <- function(object, newdata) {
  newdata <- as_frame(newdata, "newdata")
  outer <- object$outer
  absent <- setdiff(outer$features, names(newdata))
  if (length(absent) > 0) {
    raise(sprintf("'newdata' has no column '%s', which the model needs", absent[[1]]), "tare_not_found", column = absent[[1]])
  }
  columns <- as_table(newdata[outer$features])
  taken <- names(columns)[startsWith(names(columns), ".prediction")]
  if (length(taken) > 0) raise(sprintf("rename column '%s': names that start with '.prediction' are tare's own", taken[[1]]), "tare_bad_data")
  c(columns, outer_predictions(outer, newdata))
}

outer_predictions <- function(outer, newdata) {
  given <- if (is.function(outer$predict_function)) {
    outer$predict_function(outer$model, newdata)
  } else if (is.function(outer$model)) {
    outer$model(newdata)
  } else if (inherits(outer$model, "glm")) {
    predict(outer$model, newdata, type = "response", na.action = na.pass)
  } else if (inherits(outer$model, "ranger")) {
    predict(outer$model, data = newdata)$predictions
  } else if (inherits(outer$model, "lm")) {
    predict(outer$model, newdata, na.action = na.pass)
  } else {
    predict(outer$model, newdata)
  }
  read_predictions(given, nrow(newdata))
}

# A number for each row; a frame with mean and sd; or a frame with quantiles, q0.05 and so on.
read_predictions <- function(given, rows) {
  if (is.data.frame(given) && ".pred" %in% names(given)) given <- given$.pred
  wrong <- function(why) {
    raise(sprintf(
      "the model's predictions %s; give predict_function = function(model, newdata) that returns a number for each row, or a data frame with the columns mean and sd, or q0.05, q0.5 and so on",
      why
    ), "tare_bad_data", option = "predict_function")
  }
  if (is.matrix(given) && ncol(given) > 1) given <- as.data.frame(given, check.names = FALSE)
  if (is.data.frame(given)) {
    if (nrow(given) != rows) wrong(sprintf("have %d rows for %d rows of data", nrow(given), rows))
    if (setequal(names(given), c("mean", "sd"))) {
      return(list(.prediction = as.double(given$mean), .prediction_sd = as.double(given$sd)))
    }
    levels <- suppressWarnings(as.numeric(sub("^q", "", names(given))))
    if (anyNA(levels) || any(levels <= 0 | levels >= 1) || length(levels) < 2) wrong(sprintf("have the columns %s", paste(names(given), collapse = ", ")))
    return(setNames(lapply(given, as.double), paste0(".prediction_q", vapply(levels, number_text, ""))))
  }
  if (!is.numeric(given)) wrong(sprintf("have the class '%s'", class(given)[[1]]))
  if (length(given) != rows) wrong(sprintf("are %d numbers for %d rows", length(given), rows))
  list(.prediction = as.double(given))
}
