/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What libtare and libtare_cuda know of each other. Plain C, so that the two may come from
 * different compilers; libtare loads the other library where it is there (device/cuda_library.h).
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both sides must have the same number: it changes with any line below. */
#define TARE_CUDA_ABI 2

/* The most features of a calibration row. */
#define TARE_CUDA_MOST_DIMS 64

enum TareCudaKernel {
  kTareCudaNaive,
  kTareCudaEpanechnikov,
  kTareCudaTriangular,
  kTareCudaTricube,
  kTareCudaGaussian,
  kTareCudaLaplace,
  kTareCudaKnn /* the bandwidth is a number of rows */
};

enum TareCudaStatus {
  kTareCudaDone,
  kTareCudaStopped,     /* go_on said so */
  kTareCudaNoMemory,    /* not even for the smallest batch */
  kTareCudaDeviceFailed /* the text says why */
};

/* How a query was answered. */
enum TareCudaQuality {
  kTareCudaAnswered,
  kTareCudaNotAnswered /* single precision is not good enough here, or no row is within the
                          bandwidth */
};

typedef struct TareCudaText {
  char text[512];
} TareCudaText;

/* Calibration rows in the order of their residuals. Values lie column by column. */
typedef struct TareCudaSample {
  const double* columns;
  const double* residuals;
  const double* weights; /* positive; NULL: all 1 */
  size_t rows;
  size_t dims;
} TareCudaSample;

/* The rule for ranks (RankRule). */
typedef struct TareCudaRanks {
  int expected; /* 0: the paper's */
  unsigned tail_ranks;
  unsigned few_rows;
  double tie_slack;
} TareCudaRanks;

/* Whether to go on, when `share` of the work is done. */
typedef int (*TareCudaGoOn)(void* context, double share);

typedef struct TareCudaQuestion {
  const void* queries; /* row by row, on the host or on the device */
  int single_precision;
  size_t count;
  int kernel; /* TareCudaKernel */
  double bandwidth;
  double tie_tolerance; /* of knn: rows are as far as the last one where squared distances differ by
                           no more than this share */
  const double* levels; /* ascend */
  size_t level_count;
  TareCudaRanks ranks;
  int nearest; /* whether TareCudaAnswer.nearest is wanted */
  TareCudaGoOn go_on;
  void* context;
} TareCudaQuestion;

/* On the host. */
typedef struct TareCudaAnswer {
  double* quantiles; /* row by row: (query, level) */
  double* window_n;
  double* nearest;  /* NULL where it is not wanted */
  uint8_t* quality; /* TareCudaQuality */
} TareCudaAnswer;

/* Losses of rows that are left out one by one, at several bandwidths. */
typedef struct TareCudaLosses {
  const uint32_t* places; /* of the rows that are left out, ascending */
  size_t count;
  int kernel;
  const double* bandwidths;
  size_t bandwidth_count;
  const double* levels; /* ascend; a loss is the mean of theirs, by the paper's ranks */
  size_t level_count;
  double tie_slack;
  TareCudaGoOn go_on;
  void* context;
  double* losses; /* (place, bandwidth); NaN where single precision is not good enough */
} TareCudaLosses;

typedef struct TareCudaRows TareCudaRows;

typedef struct TareCudaFunctions {
  int abi;
  /* How many devices can be used; where none, `why` says why not. */
  int (*devices)(TareCudaText* why);
  int (*upload)(int device, const TareCudaSample* sample, TareCudaRows** out, TareCudaText* why);
  void (*release)(TareCudaRows* rows);
  int (*answer)(TareCudaRows* rows, const TareCudaQuestion* question, const TareCudaAnswer* answer,
                TareCudaText* why);
  int (*losses)(TareCudaRows* rows, const TareCudaLosses* losses, TareCudaText* why);
} TareCudaFunctions;

/* The one function that the library exports. */
const TareCudaFunctions* tare_cuda_functions(void);

#ifdef __cplusplus
}
#endif
