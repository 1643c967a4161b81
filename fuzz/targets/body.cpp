// SPDX-License-Identifier: BSD-3-Clause
// A request as the service gets it from its network part: the first line has method, target and
// content type, the rest is the body. Whatever it is, the reply is an answer or a refusal.
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "calibrate/online/online_model.h"
#include "data/schema.h"
#include "input.h"
#include "service_setup.h"

namespace tare::fuzz {
namespace {

std::vector<std::unique_ptr<ServiceSetup>>& services() {
  static auto* all = [] {
    auto* made = new std::vector<std::unique_ptr<ServiceSetup>>;
    for (const FittedModel& model : small_models()) {
      made->push_back(std::make_unique<ServiceSetup>(model));
    }
    made->push_back(std::make_unique<ServiceSetup>(small_online_model()));
    return made;
  }();
  return *all;
}

/// What a model has learned must not be there for the next input.
void forget(std::unique_ptr<ServiceSetup>& setup) {
  static const FittedModel start = small_online_model();
  const auto online = online_in(setup->models.now()->model->fitted());
  if (online && online->stream().time() != start.rows) {
    setup = std::make_unique<ServiceSetup>(start);
  }
}

std::string_view next_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

/// The rows of an accepted body by another parser.
std::size_t rows_by_oracle(bool lines, const std::string& body) {
  if (!lines) return nlohmann::json::parse(body).at("rows").size();
  std::size_t rows = 0;
  for (const std::string& line : split_text(body, '\n')) {
    if (trim(line).empty()) continue;
    require(nlohmann::json::parse(line).is_object(), "a line of an accepted body is an object");
    ++rows;
  }
  return rows;
}

void check_refusal(const serve::Reply& reply) {
  static const std::set<unsigned> kKnown = {400, 404, 405, 413, 415, 422};
  require(kKnown.contains(reply.status), "a refusal has a status for clients' mistakes",
          std::to_string(reply.status) + " " + reply.body);
  const auto problem = nlohmann::json::parse(reply.body);
  require(problem.at("status") == reply.status, "the body states the status");
  require(!problem.at("detail").get<std::string>().empty(), "and says what is wrong");
}

void check_answer(const serve::Request& request, const serve::Reply& reply, bool series) {
  const bool json = reply.content_type.starts_with("application/json");
  const bool lines = reply.content_type.starts_with("application/x-ndjson");
  if (json) require(nlohmann::json::accept(reply.body), "an answer is JSON", reply.body);
  if (!request.target.starts_with("/v1/predict") || (!json && !lines)) return;
  const std::size_t rows = rows_by_oracle(lines, request.body);
  // The first rows of a series have no window.
  require(series ? reply.rows <= rows : reply.rows == rows, "all rows are answered", reply.body);
}

}  // namespace
}  // namespace tare::fuzz

/// Models are fitted before the time of the first input begins.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  tare::fuzz::services();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  fuzz::Input input(data, size);
  auto& chosen = fuzz::services()[input.choose(fuzz::services().size())];
  fuzz::ServiceSetup& setup = *chosen;
  std::string_view line = input.line();
  serve::Request request;
  request.method = fuzz::next_word(line);
  request.target = fuzz::next_word(line);
  request.content_type = line;
  request.id = "fuzz";
  request.body = input.text();
  setup.service.may_take_long(request);
  const serve::Reply reply = setup.service.handle(request);
  if (reply.status == 200) {
    fuzz::check_answer(request, reply, setup.models.now()->model->fitted().schema->window() > 1);
  } else {
    fuzz::check_refusal(reply);
  }
  fuzz::forget(chosen);
  return 0;
}
