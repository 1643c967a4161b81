// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/result_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/fail.h"
#include "base/strings.h"
#include "io/csv.h"
#include "io/files/atomic_file.h"
#include "io/files/whole_file.h"
#include "tare/base/version.h"

namespace tare {
namespace {

constexpr std::string_view kHeader =
    "experiment,case,method,options,repeat,seed,version,seconds,metrics,metric,value\n";
constexpr std::size_t kColumns = 11;

/// The rows of a trial. Each says how many there are, so that a trial cut short is noticed.
std::string lines_of(const TrialKey& key, const TrialResult& result) {
  std::string text;
  for (const MetricValue& one : result.values) {
    for (const std::string& cell : {key.experiment, key.case_name, key.method, key.options}) {
      append_csv_cell(text, cell, ',');
      text += ',';
    }
    text += fmt::format("{},{},{},{:.3f},{},", key.repeat, key.seed, kVersion, result.seconds,
                        result.values.size());
    append_csv_cell(text, one.metric, ',');
    text += fmt::format(",{}\n", one.value);
  }
  return text;
}

/// Our own lines only: cells may be quoted, and none holds a line break.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

struct Line {
  TrialKey key;
  double seconds = 0.0;
  std::size_t metrics = 0;
  MetricValue value;
};

/// False where the line is of another version or is damaged.
bool parse_line(const std::string& text, Line& line) {
  const std::vector<std::string> cells = cells_of(text);
  if (cells.size() != kColumns || cells[6] != kVersion) return false;
  line.key = {cells[0], cells[1], cells[2], cells[3], 0, 0};
  const auto repeat = parse_number(cells[4]);
  const auto seconds = parse_number(cells[7]);
  const auto metrics = parse_number(cells[8]);
  if (!repeat || !seconds || !metrics || cells[5].empty() || cells[10].empty()) return false;
  line.key.repeat = static_cast<std::size_t>(*repeat);
  line.key.seed = std::strtoull(cells[5].c_str(), nullptr, 10);
  line.seconds = *seconds;
  line.metrics = static_cast<std::size_t>(*metrics);
  line.value = {cells[9], std::strtod(cells[10].c_str(), nullptr)};
  return true;
}

}  // namespace

ResultFile::ResultFile(std::string path) : path_(std::move(path)) {
  if (!std::filesystem::exists(path_)) {
    rewrite({});
    return;
  }
  const std::vector<std::byte> bytes = read_whole_file(path_);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kHeader)) {
    fail(ErrorCode::kBadData,
         "{}: is not a result file of this version of tare (name another file)", path_);
  }
  std::map<TrialKey, std::size_t> expected;
  for (std::size_t start = kHeader.size(); start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (end == text.npos) break;  // the writer was killed here
    Line line;
    if (parse_line(std::string(text.substr(start, end - start)), line)) {
      TrialResult& result = results_[line.key];
      result.seconds = line.seconds;
      result.values.push_back(line.value);
      expected[line.key] = line.metrics;
    }
    start = end + 1;
  }
  std::erase_if(results_, [&](const auto& entry) {
    return entry.second.values.size() != expected[entry.first];
  });
  std::vector<TrialKey> keys;
  for (const auto& [key, result] : results_) keys.push_back(key);
  rewrite(keys);
}

void ResultFile::add(const TrialKey& key, const TrialResult& result) {
  results_[key] = result;
  if (path_.empty()) return;
  const std::string text = lines_of(key, result);
  const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) fail(ErrorCode::kIo, "{}: {}", path_, std::strerror(errno));
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = errno;
      ::close(file);
      fail(ErrorCode::kIo, "{}: {}", path_, std::strerror(error));
    }
    done += static_cast<std::size_t>(written);
  }
  // A full disk may be noticed only here.
  if (::close(file) != 0) fail(ErrorCode::kIo, "{}: {}", path_, std::strerror(errno));
}

void ResultFile::finish(const std::vector<TrialKey>& keys) {
  std::vector<TrialKey> all;
  std::set<TrialKey> placed;
  for (const TrialKey& key : keys) {
    if (results_.contains(key) && placed.insert(key).second) all.push_back(key);
  }
  for (const auto& [key, result] : results_) {
    if (placed.insert(key).second) all.push_back(key);
  }
  rewrite(all);
}

void ResultFile::rewrite(const std::vector<TrialKey>& keys) const {
  if (path_.empty()) return;
  AtomicFile file(path_, Overwrite::kAllow);
  file.write(kHeader);
  for (const TrialKey& key : keys) file.write(lines_of(key, results_.at(key)));
  file.commit();
}

}  // namespace tare
