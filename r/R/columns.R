# SPDX-License-Identifier: BSD-3-Clause
# R's columns as the library takes them: doubles, where NaN is missing, and UTF-8 texts, where NA is missing.

# What the library reads as a missing value when it stands in a text.
missing_texts <- c("", "na", "nan", "null", "?")

as_texts <- function(values, name) {
  texts <- enc2utf8(as.character(values))
  odd <- !is.na(texts) & tolower(trimws(texts)) %in% missing_texts
  if (any(odd)) {
    raise(sprintf(
      "column '%s' holds the text '%s' (row %d), which tare reads as a missing value; give this value another name, or make it NA",
      name, texts[odd][[1]], which(odd)[[1]]
    ), "tare_bad_data", column = name)
  }
  texts
}

# One column of a data frame as a named list of columns: a matrix has several.
as_columns <- function(values, name) {
  if (is.matrix(values) || is.data.frame(values)) {
    parts <- colnames(values)
    if (is.null(parts)) parts <- seq_len(ncol(values))
    parts <- if (is.matrix(values) && is.null(dim(name))) paste0(name, parts) else paste0(name, ".", parts)
    columns <- lapply(seq_len(ncol(values)), function(j) as_columns(values[, j, drop = TRUE], parts[[j]]))
    return(do.call(c, columns))
  }
  if (inherits(values, "integer64")) {
    raise(sprintf("column '%s' holds integer64 values; convert them with as.numeric()", name), "tare_bad_data", column = name)
  }
  if (inherits(values, "POSIXlt")) values <- as.POSIXct(values)
  column <- if (is.factor(values) || is.character(values) || is.logical(values)) {
    # A column that is NA throughout is logical in R, and may be numbers or texts for the model.
    if (is.logical(values) && all(is.na(values))) rep(NA_character_, length(values)) else as_texts(values, name)
  } else if (is.numeric(values) || inherits(values, c("Date", "POSIXct", "difftime"))) {
    as.double(values)
  } else {
    raise(sprintf(
      "column '%s' has the class '%s', which is neither numbers nor categories; make it numeric or a factor, or leave it out",
      name, class(values)[[1]]
    ), "tare_bad_data", column = name)
  }
  setNames(list(column), name)
}

# A data frame or a list of columns as the library's columns.
as_table <- function(frame) {
  columns <- do.call(c, unname(Map(as_columns, frame, names(frame))))
  if (is.null(columns)) columns <- list()
  names(columns) <- enc2utf8(names(columns))
  repeated <- names(columns)[duplicated(names(columns))]
  if (length(repeated) > 0) {
    raise(sprintf("two columns are named '%s'; rename one of them", repeated[[1]]), "tare_bad_data", column = repeated[[1]])
  }
  columns
}

# Categories that look like numbers ("1", "2", "3") would be read as numbers unless they are named.
number_like <- function(column) {
  is.character(column) && any(grepl("^[[:space:]]*[-+]?([0-9]|\\.[0-9])", unique(column)))
}

# Lists of names are separated by commas.
names_as_text <- function(names, argument) {
  odd <- grepl(",", names, fixed = TRUE)
  if (any(odd)) {
    raise(sprintf("the name of column '%s' contains a comma and cannot be part of '%s'; rename it", names[odd][[1]], argument),
      "tare_invalid_argument", option = argument)
  }
  paste(names, collapse = ",")
}

# list(trees = 300, bands = FALSE) as c("trees=300", "bands=no").
as_options <- function(values) {
  if (length(values) == 0) return(character())
  if (is.null(names(values)) || any(names(values) == "")) {
    raise("every further argument is an option of the method and needs its name, for example trees = 300; see tare_methods()",
      "tare_invalid_argument")
  }
  texts <- vapply(names(values), function(name) {
    value <- values[[name]]
    if (is.null(value)) return(NA_character_)
    if (!is.atomic(value) || anyNA(value)) {
      raise(sprintf("the option '%s' must be a text, a number, TRUE or FALSE", name), "tare_invalid_argument", option = name)
    }
    if (is.logical(value)) value <- ifelse(value, "yes", "no")
    if (is.numeric(value)) value <- vapply(value, number_text, "")
    paste(enc2utf8(as.character(value)), collapse = ",")
  }, "")
  texts <- texts[!is.na(texts)]
  if (length(texts) == 0) character() else paste0(names(texts), "=", texts)
}

# The shortest text that reads back as the same number.
number_text <- function(value) {
  for (digits in c(15, 17)) {
    text <- formatC(value, digits = digits, format = "g", width = 1)
    if (as.numeric(text) == value) return(text)
  }
  text
}
