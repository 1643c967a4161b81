// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>

#include "apply/level_columns.h"
#include "apply/model_journal.h"
#include "base/fail.h"
#include "io/files/whole_file.h"
#include "io/safetensors.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/help.h"
#include "support/terminal.h"
#include "tare/apply/track.h"
#include "tare/calibrate/description.h"

namespace tare::cli {
namespace {

struct UpdateArguments {
  std::string model;
  std::string data;
  std::string output;
  std::string levels;
  std::string journal;
  bool force = false;
};

void save_updated(const UpdateArguments& arguments, const FittedModel& model) {
  const bool in_place = arguments.output.empty();
  save_model(in_place ? arguments.model : arguments.output, model,
             in_place || arguments.force ? Replace::kReplace : Replace::kKeep);
}

/// Teaches the model the rows of a service's journal that it has not learned.
void fold_journal(const UpdateArguments& arguments, const Common& common) {
  std::vector<std::byte> bytes = read_whole_file(arguments.model);
  const std::string version = stated_checksum(bytes);
  FittedModel model = load_model_from_memory(std::move(bytes), arguments.model);
  JournalReplay replay(arguments.journal, model, version);
  replay.read();
  model.rows = online_in(model)->stream().time();
  save_updated(arguments, model);
  note(common,
       fmt::format("{} rows of the journal learned, {} were known; the model has followed {}",
                   replay.replayed(), replay.skipped(), model.rows));
}

void run_update(const UpdateArguments& arguments, const Common& common) {
  if (arguments.data.empty() == arguments.journal.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "the rows to learn come either from a data file or from --journal FILE (name one of "
         "them)");
  }
  if (!arguments.journal.empty()) {
    if (!arguments.levels.empty()) {
      fail(ErrorCode::kInvalidArgument,
           "--levels is for a model that becomes online, and a journal is of one that is");
    }
    fold_journal(arguments, common);
    return;
  }
  const std::vector<double> levels = arguments.levels.empty()
                                         ? std::vector<double>{}
                                         : parse_level_list(arguments.levels, "levels");
  const FittedModel model = load_model(arguments.model);
  const Table table = read_csv(arguments.data);
  Bar bar(common);
  const Updated updated = update(model, table, levels, bar.execution());
  bar.show_text("");
  save_updated(arguments, updated.model);
  warn_about(updated.notices, table.source, common);
  note(common, fmt::format("{} rows learned; the model has followed {}", updated.learned,
                           updated.model.rows));
}

}  // namespace

void add_update(CLI::App& app, Common& common) {
  auto options = std::make_shared<UpdateArguments>();
  CLI::App* command =
      app.add_subcommand("update", "Teach a model new rows with their targets, in time order");
  command->footer(
      "Examples:\n"
      "  tare update load.tare yesterday.csv\n"
      "  tare update load.tare --journal load.journal     what 'tare serve' has learned\n"
      "  tare update cars.tare new.csv -o online.tare --levels 0.05,0.5,0.95\n"
      "The file is replaced as a whole or not at all. A model of 'tare fit' becomes an online "
      "one:\n"
      "its errors are calibrated from here on, and its own guarantee and bands end. Rows without "
      "a\n"
      "target are passed over.");
  command->add_option("model", options->model, "Model file of 'tare fit' or 'tare track --save'")
      ->required();
  command->add_option("data", options->data,
                      "CSV or TSV file, plain or .gz; - reads standard input");
  command->add_option("--journal", options->journal,
                      "Journal of 'tare serve' with the rows to learn, in place of a data file; "
                      "rows that the model has learned already are left out");
  command->add_option("-o,--output", options->output,
                      "File to write instead of replacing the model");
  command->add_option("--levels", options->levels,
                      "Levels that a new online model keeps [0.025,0.05,0.1,0.25,0.5,0.75,0.9,0.95,"
                      "0.975]; others are interpolated");
  command->add_flag("--force", options->force, "Replace the output file if it exists");
  put_in_group(*command, kAnswers, {"--levels"});
  put_in_group(*command, kOutput, {"--output", "--force"});
  add_common(*command, common);
  command->callback([options, &common] { run_update(*options, common); });
}

}  // namespace tare::cli
