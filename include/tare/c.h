/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tare for C, and for every language that can call C.
 *
 * Handles are opaque; each has a function that frees it, which takes NULL as well. A function that
 * can fail returns a tare_status, TARE_OK where it did not, and then leaves its outputs as they
 * were; tare_last_error() says what was wrong. No exception crosses this interface, and a NULL
 * where a pointer is needed is TARE_INVALID_ARGUMENT.
 *
 * Texts are UTF-8 and end with a zero byte. Options are texts "name=value": those of tare_fit are
 * the fields of tare::FitOptions (target, method, prediction, features, missing, seed, ...) and the
 * options of the method, as 'tare methods -v' lists them; those of tare_predict are levels,
 * interval, set ("set=shortest"), cost ("cost=over=1,under=4", or the path of a table),
 * diagnostics, keep and missing. tare_fit, tare_predict, tare_track and tare_scores also take
 * threads ("threads=2"; 0, the default: as many as there are cores), which changes no number.
 *
 * Threads: different handles may be used from different threads at once. A model and the answers
 * are never changed by a call, so one of them may be used from several threads. A table may be
 * changed by one thread at a time, and not while another reads it. Errors belong to the thread in
 * which they occurred.
 */
#ifndef TARE_C_H
#define TARE_C_H

#include <stddef.h>
#include <stdint.h>

#include "tare/base/version_macros.h"

#if defined(__GNUC__)
#define TARE_C_API __attribute__((visibility("default")))
#else
#define TARE_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tare_status {
  TARE_OK = 0,
  TARE_OTHER = 1,            /* out of memory, or an error of the system's libraries */
  TARE_INVALID_ARGUMENT = 2, /* outside the documented range */
  TARE_NOT_FOUND = 3,        /* unknown method, column or file */
  TARE_BAD_DATA = 4,         /* a value, row or column of the user's */
  TARE_UNSUPPORTED = 5,      /* not built in */
  TARE_SHAPE_MISMATCH = 6,   /* two inputs disagree on rows or columns */
  TARE_CORRUPT_FILE = 7,     /* not a model file, truncated, a byte changed */
  TARE_IO = 8,               /* the system refused to read or write */
  TARE_STOPPED = 9           /* the function of tare_watch asked for it */
} tare_status;

/* What was wrong, and where. Texts are empty and numbers 0 where there is nothing to say. */
typedef struct tare_error {
  tare_status status;
  const char* text;   /* the whole sentence, with place and remedy */
  const char* source; /* a file's name */
  uint64_t line;      /* of the source, from 1; 0: none */
  const char* column;
  const char* option;
  const char* value;
} tare_error;

/* Of the last call in this thread that failed; valid until the next call in this thread. NULL where
 * none has failed yet. */
TARE_C_API const tare_error* tare_last_error(void);

/* The version of the library, such as "0.1.0"; TARE_VERSION is that of the header. */
TARE_C_API const char* tare_version(void);

/* --- Long calls ------------------------------------------------------------------------------- */

/* `stage` names what is being done and is valid during the call; `share` of it, from 0 to 1, is
 * done. A result other than 0 ends the work, which then returns TARE_STOPPED. */
typedef int (*tare_watcher)(void* data, const char* stage, double share);

/* From now on tare_fit, tare_predict, tare_scores, tare_track and tare_model_update of this thread
 * call `watcher`, in this thread and about 20 times a second, while their work is done by another
 * thread. Languages with signals and a console of their own look after them there. The work ends
 * at its next step, which mostly takes less than a second. NULL: no more. `watcher` must not call
 * a function of this header, nor leave by an exception or longjmp. */
TARE_C_API void tare_watch(tare_watcher watcher, void* data);

/* --- Tables: columns by name, all with the same number of rows ------------------------------- */

typedef struct tare_table tare_table;

TARE_C_API tare_status tare_table_new(tare_table** table);
/* NaN is a missing value. */
TARE_C_API tare_status tare_table_add_numbers(tare_table* table, const char* name,
                                              const double* values, size_t rows);
/* NULL, and what tare reads as "no value" in a file ("", "NA", ...), is a missing value. */
TARE_C_API tare_status tare_table_add_texts(tare_table* table, const char* name,
                                            const char* const* values, size_t rows);
/* A file with a header, as the tool reads it. */
TARE_C_API tare_status tare_table_read_csv(const char* path, tare_table** table);
TARE_C_API size_t tare_table_rows(const tare_table* table);
TARE_C_API void tare_table_free(tare_table* table);

/* --- Models ---------------------------------------------------------------------------------- */

typedef struct tare_model tare_model;

TARE_C_API tare_status tare_fit(const tare_table* table, const char* const* options, size_t count,
                                tare_model** model);
TARE_C_API tare_status tare_model_open(const char* path, tare_model** model);
/* A copy of the model that has learned the rows of a table with their targets, in their order; it
 * goes on learning with further calls. The model itself stays as it is. */
TARE_C_API tare_status tare_model_update(const tare_model* model, const tare_table* table,
                                         tare_model** updated);
/* The bytes are copied. */
TARE_C_API tare_status tare_model_open_memory(const void* bytes, size_t size, tare_model** model);
/* replace 0: a file that exists is TARE_INVALID_ARGUMENT. The file is written whole or not at all.
 */
TARE_C_API tare_status tare_model_save(const tare_model* model, const char* path, int replace);
/* The bytes of the model file; free them with tare_free. */
TARE_C_API tare_status tare_model_save_memory(const tare_model* model, void** bytes, size_t* size);
/* What the model is, as JSON; free it with tare_free. */
TARE_C_API tare_status tare_model_describe(const tare_model* model, char** json);
/* 1 where a finite-sample guarantee was built at fit, else 0. */
TARE_C_API int tare_model_has_guarantee(const tare_model* model);
/* What the tare_fit that made this model did with the rows of its table: rows left out, values
 * filled in. A model that was opened has none. */
TARE_C_API size_t tare_model_notices(const tare_model* model);
TARE_C_API const char* tare_model_notice_code(const tare_model* model, size_t notice);
TARE_C_API const char* tare_model_notice_text(const tare_model* model, size_t notice);
TARE_C_API size_t tare_model_notice_rows(const tare_model* model, size_t notice);
TARE_C_API void tare_model_free(tare_model* model);
/* The table of methods, their options and the regressors, as 'tare methods --json' writes it; free
 * it with tare_free. */
TARE_C_API tare_status tare_methods(char** json);

/* --- Answers --------------------------------------------------------------------------------- */

typedef struct tare_answers tare_answers;

/* Named columns of numbers for the rows of a table: quantiles, interval ends, diagnostics. */
TARE_C_API tare_status tare_predict(const tare_model* model, const tare_table* table,
                                    const char* const* options, size_t count,
                                    tare_answers** answers);
/* The scores of 'tare evaluate' for the rows of a table that has the target, as JSON: "rows", "pit"
 * and a number, or null, for each score. Options are missing, seed and threads. Free it with
 * tare_free. */
TARE_C_API tare_status tare_scores(const tare_model* model, const tare_table* table,
                                   const char* const* options, size_t count, char** json);
/* Follows the rows of a table in time order: each is answered before its target is seen, and then
 * learned. Options are those of `tare track`: "target=y", "prediction=f", "interval=0.9",
 * "start=300". `model` may be NULL. `followed` is the model after the last row, for
 * tare_model_update, tare_predict and tare_model_save. */
TARE_C_API tare_status tare_track(const tare_table* table, const char* const* options, size_t count,
                                  const tare_model* model, tare_answers** answers,
                                  tare_model** followed);
TARE_C_API size_t tare_answers_rows(const tare_answers* answers);
TARE_C_API size_t tare_answers_columns(const tare_answers* answers);
/* NULL for a column that is not there. */
TARE_C_API const char* tare_answers_name(const tare_answers* answers, size_t column);
/* Row by row; NaN is a number that the model does not know. Valid until the answers are freed. */
TARE_C_API const double* tare_answers_values(const tare_answers* answers);
/* The row of the table, from 0, that row i of the answers is about. */
TARE_C_API size_t tare_answers_table_row(const tare_answers* answers, size_t i);
/* As CSV with a header, behind the columns to keep of the table that was predicted; free it with
 * tare_free. */
TARE_C_API tare_status tare_answers_csv(const tare_answers* answers, const tare_table* table,
                                        char** text);

/* What there is to say about rows and answers. */
TARE_C_API size_t tare_answers_notices(const tare_answers* answers);
TARE_C_API const char* tare_answers_notice_code(const tare_answers* answers, size_t notice);
TARE_C_API const char* tare_answers_notice_text(const tare_answers* answers, size_t notice);
TARE_C_API size_t tare_answers_notice_rows(const tare_answers* answers, size_t notice);
TARE_C_API void tare_answers_free(tare_answers* answers);

/* Frees what the functions above say is freed with it. */
TARE_C_API void tare_free(void* memory);

#ifdef __cplusplus
}
#endif

#endif
