# SPDX-License-Identifier: BSD-3-Clause

tare_save <- function(object, file, overwrite = FALSE) {
  if (!inherits(object, "tare")) raise("'object' must be a model of tare_fit(), tare_calibrate() or tare_load()", "tare_invalid_argument")
  checked(.Call(tare_r_save_file, model_pointer(object), enc2utf8(path.expand(check_path(file))), isTRUE(overwrite)))
  invisible(file)
}

tare_load <- function(file) {
  opened <- checked(.Call(tare_r_open_file, enc2utf8(path.expand(check_path(file)))))
  made <- new_tare(opened, target = NULL)
  made$target <- made$description$target
  made$na.action <- if (identical(made$description$missing, "impute")) "impute" else "omit"
  made
}

check_path <- function(file) {
  if (is.character(file) && length(file) == 1 && !is.na(file) && nzchar(file)) return(file)
  raise("'file' must be one path", "tare_invalid_argument", option = "file")
}

tare_version <- function() .Call(tare_r_version)

tare_methods <- function(method = NULL) {
  all <- checked(.Call(tare_r_methods))
  if (is.null(method)) {
    columns <- c("name", "summary", "guarantee", "citation")
    parts <- lapply(columns, function(column) vapply(all$methods, function(m) m[[column]], ""))
    return(as.data.frame(setNames(parts, columns)))
  }
  known <- vapply(all$methods, function(m) m$name, "")
  if (!is.character(method) || length(method) != 1 || !method %in% known) {
    raise(sprintf("'method' must be one of %s", paste(known, collapse = ", ")), "tare_not_found", option = "method")
  }
  options <- c(all$methods[[match(method, known)]]$options, all$common_options)
  columns <- c("name", "default", "help")
  as.data.frame(setNames(lapply(columns, function(column) vapply(options, function(o) o[[column]], "")), columns))
}
