# SPDX-License-Identifier: BSD-3-Clause

tare_fit <- function(x, ...) UseMethod("tare_fit")

tare_fit.formula <- function(formula, data = NULL, weights = NULL, subset = NULL, na.action = "omit", group = NULL, method = NULL,
                             guarantee = NULL, seed = NULL, threads = NULL, progress = interactive(), ...) {
  action <- read_na_action(na.action)
  call <- match.call()
  frame_call <- call[c(1L, match(c("formula", "data", "weights", "subset"), names(call), 0L))]
  frame_call[[1]] <- quote(stats::model.frame)
  names(frame_call)[names(frame_call) == "x"] <- "formula"
  frame_call$na.action <- quote(stats::na.pass)
  frame <- eval(frame_call, parent.frame())
  terms <- attr(frame, "terms")
  check_terms(terms)
  target <- names(frame)[[attr(terms, "response")]]
  weights <- model.extract(frame, "weights")
  kept <- setdiff(names(frame), "(weights)")
  columns <- as_table(frame[kept])
  predictors <- setdiff(names(columns), target)
  options <- list(...)
  extra <- c(group, if (is.character(options$calibrate_on)) setdiff(options$calibrate_on, "auto"))
  aside <- character()
  for (name in setdiff(extra, predictors)) {
    if (is.null(data) || !name %in% names(data)) {
      raise(sprintf("there is no column '%s' in 'data'", name), "tare_not_found", column = name)
    }
    rows <- rownames(frame)
    values <- data[[name]]
    if (nrow(frame) != nrow(data)) values <- values[match(rows, rownames(data))]
    columns <- c(columns, as_columns(values, name))
    aside <- c(aside, name)
  }
  if (!is.null(weights)) {
    columns[[".weights"]] <- as.double(weights)
    options$weight <- ".weights"
  }
  options$group <- group
  if (!is.null(options$calibrate_on)) options$calibrate_on <- names_as_text(options$calibrate_on, "calibrate_on")
  opened <- fit_table(columns, target, action, seed, threads, progress, method, guarantee, aside, options)
  call[[1]] <- quote(tare_fit)
  new_tare(opened,
    call = call, terms = delete.response(terms), formula = formula(terms), target = target, na.action = action,
    needed = intersect(all.vars(delete.response(terms)), names(data)), extra = setdiff(extra, predictors), rows = nrow(frame)
  )
}

# tare's models find interactions by themselves, so a formula lists variables.
check_terms <- function(terms) {
  if (attr(terms, "response") == 0) {
    raise("the formula has no target; write it on the left, for example y ~ .", "tare_invalid_argument", option = "formula")
  }
  if (!is.null(attr(terms, "offset"))) {
    raise("the formula has an offset, which tare does not know; subtract it from the target, or use tare_calibrate() around a model with it",
      "tare_invalid_argument", option = "formula")
  }
  crossed <- attr(terms, "term.labels")[attr(terms, "order") > 1]
  if (length(crossed) > 0) {
    raise(sprintf(
      "the formula has the interaction '%s'; list the variables alone, as the models find interactions by themselves, or write a product as I(a * b)",
      crossed[[1]]
    ), "tare_invalid_argument", option = "formula")
  }
  if (length(attr(terms, "term.labels")) == 0) {
    raise("the formula has no variable on the right; write for example y ~ .", "tare_invalid_argument", option = "formula")
  }
}

tare_fit.default <- function(x, y, weights = NULL, na.action = "omit", group = NULL, method = NULL, guarantee = NULL, seed = NULL,
                             threads = NULL, progress = interactive(), ...) {
  action <- read_na_action(na.action)
  if (missing(y)) {
    raise("'y', the target, is missing; give it as the second argument, or use a formula: tare_fit(y ~ ., data)",
      "tare_invalid_argument", option = "y")
  }
  x <- as_frame(x, "x")
  if (!is.numeric(y) || NROW(y) != nrow(x) || NCOL(y) != 1) {
    raise(sprintf("'y' must be numeric with one value for each of the %d rows of 'x'", nrow(x)), "tare_shape_mismatch", option = "y")
  }
  columns <- as_table(x)
  if (".target" %in% names(columns) || ".weights" %in% names(columns)) {
    raise("columns of 'x' must not be named '.target' or '.weights'; rename them", "tare_bad_data")
  }
  columns[[".target"]] <- as.double(y)
  options <- list(...)
  if (!is.null(weights)) {
    columns[[".weights"]] <- as.double(weights)
    options$weight <- ".weights"
  }
  options$group <- group
  if (!is.null(options$calibrate_on)) options$calibrate_on <- names_as_text(options$calibrate_on, "calibrate_on")
  opened <- fit_table(columns, ".target", action, seed, threads, progress, method, guarantee, options = options)
  call <- match.call()
  call[[1]] <- quote(tare_fit)
  new_tare(opened, call = call, target = ".target", na.action = action, names = names(x), rows = nrow(x))
}

# A matrix gets the names that data frames give.
as_frame <- function(x, argument) {
  if (is.data.frame(x)) return(x)
  if (is.matrix(x) && (is.numeric(x) || is.character(x) || is.logical(x))) {
    if (is.null(colnames(x))) colnames(x) <- paste0("V", seq_len(ncol(x)))
    return(as.data.frame(x, stringsAsFactors = FALSE, check.names = FALSE))
  }
  if (is.numeric(x) && is.null(dim(x))) return(data.frame(V1 = x))
  raise(sprintf("'%s' must be a data frame or a matrix", argument), "tare_invalid_argument", option = argument)
}
