/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests/consumer does, in C. usage: consumer_c DATA.csv MODEL.tare */
#include <stdio.h>
#include <string.h>
#include <tare/c.h>

static int complain(const char* what) {
  const tare_error* error = tare_last_error();
  fprintf(stderr, "%s: %s\n", what, error != NULL ? error->text : "no error is known");
  return 1;
}

static int print_answers(const tare_answers* answers) {
  size_t i, j;
  const size_t columns = tare_answers_columns(answers);
  const double* values = tare_answers_values(answers);
  for (i = 0; i < tare_answers_rows(answers); ++i) {
    for (j = 0; j < columns; ++j)
      printf("%s=%.17g ", tare_answers_name(answers, j), values[i * columns + j]);
    printf("\n");
  }
  for (i = 0; i < tare_answers_notices(answers); ++i) {
    printf("%s: %s\n", tare_answers_notice_code(answers, i), tare_answers_notice_text(answers, i));
  }
  return 0;
}

/* Mistakes come back as a status and a text, and leave the outputs as they were. */
static int check_errors(const tare_model* model, const tare_table* table) {
  tare_answers* answers = NULL;
  const char* wrong[] = {"levels=1.5"};
  if (tare_predict(model, table, wrong, 1, &answers) != TARE_INVALID_ARGUMENT || answers != NULL)
    return 1;
  if (strcmp(tare_last_error()->option, "levels") != 0) return 1;
  if (tare_predict(NULL, table, NULL, 0, &answers) != TARE_INVALID_ARGUMENT) return 1;
  if (tare_model_open("/no/such/file", NULL) != TARE_INVALID_ARGUMENT) return 1;
  return 0;
}

int main(int argc, char** argv) {
  static const char* const fit_options[] = {"target=y",        "method=nrc_rf", "trees=30",
                                            "guarantee=split", "bands=off",     "missing=impute"};
  static const char* const predict_options[] = {"levels=0.5", "interval=0.9"};
  static const char* const colours[] = {"red", "blue"};
  static const double sizes[] = {0.25, 0.75};
  tare_table *table = NULL, *fresh = NULL;
  tare_model *model = NULL, *loaded = NULL;
  tare_answers* answers = NULL;
  void* bytes = NULL;
  char* json = NULL;
  size_t size = 0;
  int result = 0;
  if (argc != 3) return 2;
  if (strcmp(tare_version(), TARE_VERSION) != 0) return 1;
  if (tare_table_read_csv(argv[1], &table) != TARE_OK) return complain("read");
  if (tare_fit(table, fit_options, sizeof fit_options / sizeof *fit_options, &model) != TARE_OK)
    return complain("fit");
  if (tare_model_save(model, argv[2], 1) != TARE_OK) return complain("save");
  if (tare_model_save_memory(model, &bytes, &size) != TARE_OK) return complain("save to memory");
  if (tare_model_open_memory(bytes, size, &loaded) != TARE_OK) return complain("open from memory");
  if (tare_model_describe(loaded, &json) != TARE_OK) return complain("describe");
  printf("guarantee: %d\n", tare_model_has_guarantee(loaded));
  if (strstr(json, "\"guarantee\"") == NULL) return 1;

  if (tare_table_new(&fresh) != TARE_OK) return complain("new table");
  if (tare_table_add_texts(fresh, "colour", colours, 2) != TARE_OK) return complain("texts");
  if (tare_table_add_numbers(fresh, "size", sizes, 2) != TARE_OK) return complain("numbers");
  if (tare_predict(loaded, fresh, predict_options, 2, &answers) != TARE_OK)
    return complain("predict");
  result = print_answers(answers) || check_errors(loaded, fresh);

  tare_answers_free(answers);
  tare_free(json);
  tare_free(bytes);
  tare_model_free(loaded);
  tare_model_free(model);
  tare_table_free(fresh);
  tare_table_free(table);
  tare_table_free(NULL);
  return result;
}
