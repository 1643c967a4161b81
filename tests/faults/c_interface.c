/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
/*
 * The C interface without memory: each allocation of each function fails in turn. The function must
 * then give a status and leave its output as it was, or give the right result. The shim is linked
 * in. Prints rows of the table of outcomes. Fits with XGBoost are left out: its OpenMP library ends
 * the process for lack of memory.
 *
 *     tare_c_faults DATA.csv MOST       MOST calls of each function at most
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim.h"
#include "tare/c.h"

static struct fault_control control;
static int wrong_in_all;

/* What the functions work on, made without faults. */
static const char* csv;
static tare_table* table;
static tare_model* model;
static tare_answers* answers;
static void* bytes;
static size_t size;

static const char* const kFit[] = {"target=y", "prediction=p", "method=nrc", "bandwidth=1"};
static const char* const kPredict[] = {"levels=0.1,0.5,0.9"};

/* A function under test: 0 where the result is right. `*status` is what the interface said, `*kept`
 * whether its output was left as it was. */
struct step {
  const char* name;
  int has_json; /* the destructor of a JSON value allocates, and without memory ends the process */
  int (*run)(tare_status* status, int* kept);
};

static char kUntouched;
#define UNTOUCHED ((void*)&kUntouched)

static int read_csv(tare_status* status, int* kept) {
  tare_table* out = UNTOUCHED;
  *status = tare_table_read_csv(csv, &out);
  *kept = (void*)out == UNTOUCHED;
  if (*status != TARE_OK) return 0;
  const int wrong = tare_table_rows(out) != tare_table_rows(table);
  tare_table_free(out);
  return wrong;
}

static int make_table(tare_status* status, int* kept) {
  static const double numbers[] = {1, 2, 3};
  static const char* const texts[] = {"a text that does not fit into a short string", "b", NULL};
  tare_table* out = UNTOUCHED;
  *status = tare_table_new(&out);
  *kept = (void*)out == UNTOUCHED;
  if (*status != TARE_OK) return 0;
  *kept = 1;
  *status = tare_table_add_numbers(out, "numbers", numbers, 3);
  if (*status == TARE_OK) *status = tare_table_add_texts(out, "texts", texts, 3);
  const int wrong = *status == TARE_OK && tare_table_rows(out) != 3;
  tare_table_free(out);
  return wrong;
}

/* Whether a model has the bytes of the first one. Faults end here. */
static int is_other(tare_model* found) {
  fault_use(NULL);
  void* text = NULL;
  size_t length = 0;
  const int failed = tare_model_save_memory(found, &text, &length) != TARE_OK;
  const int wrong = failed || length != size || memcmp(text, bytes, size) != 0;
  tare_free(text);
  tare_model_free(found);
  return wrong;
}

static int fit(tare_status* status, int* kept) {
  tare_model* out = UNTOUCHED;
  *status = tare_fit(table, kFit, sizeof kFit / sizeof *kFit, &out);
  *kept = (void*)out == UNTOUCHED;
  return *status == TARE_OK ? is_other(out) : 0;
}

static int open_memory(tare_status* status, int* kept) {
  tare_model* out = UNTOUCHED;
  *status = tare_model_open_memory(bytes, size, &out);
  *kept = (void*)out == UNTOUCHED;
  return *status == TARE_OK ? is_other(out) : 0;
}

static int save_memory(tare_status* status, int* kept) {
  void* out = UNTOUCHED;
  size_t length = 0;
  *status = tare_model_save_memory(model, &out, &length);
  *kept = out == UNTOUCHED;
  if (*status != TARE_OK) return 0;
  const int wrong = length != size || memcmp(out, bytes, size) != 0;
  tare_free(out);
  return wrong;
}

static int describe(tare_status* status, int* kept) {
  char* out = UNTOUCHED;
  *status = tare_model_describe(model, &out);
  *kept = (void*)out == UNTOUCHED;
  if (*status != TARE_OK) return 0;
  const int wrong = out[0] != '{';
  tare_free(out);
  return wrong;
}

static int predict(tare_status* status, int* kept) {
  tare_answers* out = UNTOUCHED;
  *status = tare_predict(model, table, kPredict, 1, &out);
  *kept = (void*)out == UNTOUCHED;
  if (*status != TARE_OK) return 0;
  const size_t count = tare_answers_rows(answers) * tare_answers_columns(answers);
  const int wrong =
      tare_answers_rows(out) * tare_answers_columns(out) != count ||
      memcmp(tare_answers_values(out), tare_answers_values(answers), count * sizeof(double)) != 0;
  tare_answers_free(out);
  return wrong;
}

static int answers_csv(tare_status* status, int* kept) {
  char* out = UNTOUCHED;
  *status = tare_answers_csv(answers, table, &out);
  *kept = (void*)out == UNTOUCHED;
  if (*status != TARE_OK) return 0;
  const int wrong = strncmp(out, "q0.1,", 5) != 0;
  tare_free(out);
  return wrong;
}

static void must(tare_status status) {
  if (status == TARE_OK) return;
  fprintf(stderr, "without a fault: %s\n", tare_last_error()->text);
  exit(1);
}

/* In memory that a child shares with its parent. */
struct outcomes {
  uint64_t at; /* the call that fails now */
  unsigned long right, clean, wrong, ended;
};

static void try_calls(const struct step* step, uint64_t count, uint64_t stride,
                      struct outcomes* found) {
  for (; found->at <= count; found->at += stride) {
    tare_status status = TARE_OK;
    int kept = 0;
    control = (struct fault_control){.kind = kAlloc, .at = found->at, .span = 1};
    fault_use(&control);
    const int other = step->run(&status, &kept);
    fault_use(NULL);
    if (status == TARE_OK && !other) {
      ++found->right;
    } else if (status == TARE_OTHER && kept && strstr(tare_last_error()->text, "memory") != NULL) {
      ++found->clean;
    } else {
      ++found->wrong;
      fprintf(stderr, "%s, call %lu of %lu: status %d, output %s, %s\n", step->name,
              (unsigned long)found->at, (unsigned long)count, (int)status,
              kept ? "kept" : "changed",
              status == TARE_OK ? "other result" : tare_last_error()->text);
    }
  }
}

/* Fails call after call; at most `most` of them, evenly over all. A child does it, so that a call
 * that ends the process is counted. */
static void sweep(const struct step* step, uint64_t most) {
  tare_status status = TARE_OK;
  int kept = 0;
  step->run(&status, &kept); /* what is made once is there then */
  control = (struct fault_control){0};
  fault_use(&control);
  step->run(&status, &kept);
  fault_use(NULL);
  const uint64_t count = control.counts[kAlloc];
  const uint64_t stride = count > most ? count / most : 1;
  struct outcomes* const found = mmap(NULL, sizeof(struct outcomes), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) exit(1);
  *found = (struct outcomes){.at = 1};
  while (found->at <= count) {
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) {
      try_calls(step, count, stride, found);
      _exit(0);
    }
    int end = 0;
    waitpid(child, &end, 0);
    if (end != 0) {
      ++found->ended;
      found->at += stride;
    }
  }
  printf("| allocation fails | %s | %lu | %lu | %lu | %lu |\n", step->name,
         found->right + found->clean + found->wrong + found->ended, found->right, found->clean,
         found->wrong + found->ended);
  if (found->wrong > 0 || (found->ended > 0 && !step->has_json)) wrong_in_all = 1;
  munmap(found, sizeof *found);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  csv = argv[1];
  const uint64_t most = strtoull(argv[2], NULL, 10);
  must(tare_table_read_csv(csv, &table));
  must(tare_fit(table, kFit, sizeof kFit / sizeof *kFit, &model));
  must(tare_model_save_memory(model, &bytes, &size));
  must(tare_predict(model, table, kPredict, 1, &answers));
  static const struct step steps[] = {{"tare_table_read_csv", 0, read_csv},
                                      {"tare_table_add_numbers, _texts", 0, make_table},
                                      {"tare_fit nrc", 0, fit},
                                      {"tare_model_open_memory", 1, open_memory},
                                      {"tare_model_save_memory", 1, save_memory},
                                      {"tare_model_describe", 1, describe},
                                      {"tare_predict", 0, predict},
                                      {"tare_answers_csv", 0, answers_csv}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i) sweep(&steps[i], most);
  tare_answers_free(answers);
  tare_model_free(model);
  tare_table_free(table);
  tare_free(bytes);
  return wrong_in_all;
}
