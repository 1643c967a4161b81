# SPDX-License-Identifier: BSD-3-Clause
# Methods of other packages' generics are registered when, and only if, those packages are loaded.

late_methods <- list(
  c("ggplot2", "autoplot", "tare_report"),
  c("generics", "augment", "tare"),
  c("generics", "glance", "tare"),
  c("generics", "tidy", "tare_report")
)

.onLoad <- function(libname, pkgname) {
  for (method in late_methods) register_late(method[[1]], method[[2]], method[[3]])
}

register_late <- function(package, generic, class) {
  implementation <- get(paste0(generic, ".", class), envir = parent.env(environment()))
  register <- function(...) registerS3method(generic, class, implementation, envir = asNamespace(package))
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), register)
}
