// SPDX-License-Identifier: BSD-3-Clause
#include "serve/service.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "base/strings.h"
#include "io/json_text.h"
#include "serve/http/deadline.h"
#include "serve/http/embedded.h"
#include "serve/http/refusal.h"
#include "serve/model/online_card.h"
#include "serve/model/predict_rows.h"
#include "serve/observe_online.h"
#include "serve/rows_request.h"

namespace tare::serve {
namespace {

constexpr std::size_t kSmallBody = std::size_t{16} << 10;
constexpr std::ptrdiff_t kFewRows = 64;
/// Small requests that take longer than this are worked on beside the network's threads.
constexpr double kQuickSeconds = 0.005;

/// Takes the same time wherever the texts differ, so that a token cannot be guessed byte by byte.
bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = wanted.empty() ? '\0' : wanted[i % wanted.size()];
    difference |= static_cast<unsigned>(given[i] ^ other) & 0xFFU;
  }
  return difference == 0;
}

/// The token of "Bearer TOKEN"; empty for anything else. The scheme is a name without case (RFC
/// 9110, 11.1).
std::string_view bearer_token(std::string_view authorization) {
  const std::size_t end = std::min(authorization.find(' '), authorization.size());
  if (canonical_name(authorization.substr(0, end)) != "bearer") return {};
  return trim(authorization.substr(end));
}

/// A path that exists with another method.
struct MethodNotAllowed {
  std::string detail;
  std::string_view allowed;
};

/// Few rows, as far as a glance can tell: lines, or objects.
bool is_small(const std::string& body) {
  return body.size() <= kSmallBody && std::ranges::count(body, '\n') <= kFewRows &&
         std::ranges::count(body, '{') <= kFewRows;
}

Reply text_reply(std::string text, std::string_view content_type) {
  Reply reply;
  reply.content_type = content_type;
  reply.body = std::move(text);
  return reply;
}

Reply file_reply(const Route& route) {
  for (const EmbeddedFile& file : page_files()) {
    if (file.name != route.file) continue;
    Reply reply = text_reply(std::string(file.text), route.content_type);
    reply.headers.emplace_back("Cache-Control", "no-cache");
    reply.headers.emplace_back("Content-Security-Policy",
                               "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
                               "'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                               "frame-ancestors 'none'; require-trusted-types-for 'script'; "
                               "trusted-types 'none'");
    reply.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
    return reply;
  }
  refuse(404, "the page was not built in");
}

Reply reply_to(const Refusal& refusal, const Request& request) {
  // A row is known only where the body's format was.
  const bool in_json =
      refusal.cell().row && parse_body_format(request.content_type) == BodyFormat::kJson;
  return problem_reply(refusal.status(), refusal.detail(), request.id, {refusal.cell(), in_json});
}

std::string outcome_json(const Observations::Outcome& outcome, const CoverageWatch& coverage,
                         std::optional<std::size_t> learned) {
  return fmt::format(
      "{{{}\"counted\":{},\"unknown_ids\":{},\"repeated_ids\":{},\"of_earlier_models\":{},"
      "\"coverage\":{}}}\n",
      learned ? fmt::format("\"learned\":{},", *learned) : "", outcome.counted, outcome.unknown,
      outcome.repeated, outcome.earlier, coverage.to_json(CoverageWatch::History::kWithout));
}

void append_online(std::string& out, const OnlineModel& model, const OnlineTeacher* teacher) {
  const OnlineStatus status = online_status(model);
  append_metric(out, "tare_online_rows", "gauge", "Rows that the model has learned.",
                static_cast<double>(status.rows));
  append_metric(out, "tare_online_answered", "gauge",
                "Of these, rows after the warm-up: tare_online_coverage is of them.",
                static_cast<double>(status.answered));
  const auto list = [&](const char* name, const char* help, double OnlineInterval::*member) {
    out += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
    for (const OnlineInterval& interval : status.intervals) {
      out +=
          fmt::format("{}{{interval=\"{:.6g}\"}} {}\n", name, interval.confidence,
                      std::isnan(interval.*member) ? "NaN" : fmt::format("{}", interval.*member));
    }
  };
  list("tare_online_coverage", "Share of targets inside the interval, since the warm-up.",
       &OnlineInterval::coverage);
  list("tare_online_bound", "Proven bound of |coverage - confidence|; 1: nothing is proven.",
       &OnlineInterval::bound);
  append_metric(out, "tare_drift_log_e", "gauge",
                "Evidence of drift; an alarm from tare_drift_threshold on.", status.drift_log_e);
  append_metric(out, "tare_drift_threshold", "gauge",
                "Minus the logarithm of the false alarm rate.", status.drift_threshold);
  append_metric(out, "tare_drift_alarm", "gauge", "1 after an alarm of drift, else 0.",
                status.alarm ? 1.0 : 0.0);
  if (teacher == nullptr || teacher->options().journal.empty()) return;
  append_metric(out, "tare_journal_bytes", "gauge", "Size of the journal.",
                static_cast<double>(teacher->journal_bytes()));
}

/// A model that learns answers only once it knows targets.
void check_ready(const ServedModel& model) {
  if (!model.online()) return;
  bool is_ready = true;
  model.online()->look([&](const OnlineStream& stream) { is_ready = stream.is_ready(); });
  if (is_ready) return;
  refuse(422,
         "the model cannot answer yet: of its stream fewer than {} targets are known (send rows "
         "with their targets to /v1/observe first)",
         kFewestKnownTargets);
}

}  // namespace

Reply problem_reply(unsigned status, const std::string& detail, const std::string& request_id,
                    const RefusalMembers& members) {
  Reply reply;
  reply.status = status;
  reply.content_type = "application/problem+json";
  reply.body = problem_json(status, detail, request_id, members);
  reply.problem = detail;
  if (status == 429 || status == 503) reply.headers.emplace_back("Retry-After", "1");
  if (status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

Service::Service(const ModelHolder& models, Observations& observations, Metrics& metrics,
                 const Limits& limits, std::string token, OnlineTeacher* teacher)
    : models_(models),
      observations_(observations),
      metrics_(metrics),
      limits_(limits),
      token_(std::move(token)),
      teacher_(teacher) {}

/// The reply of `work`, or to what it throws.
template <class Work>
Reply Service::reply_of(const Request& request, Work&& work) noexcept {
  std::size_t route = kNoPath;
  Reply reply;
  try {
    try {
      reply = work(route);
    } catch (const Refusal& refusal) {
      reply = reply_to(refusal, request);
    } catch (const MethodNotAllowed& wrong) {
      reply = problem_reply(405, wrong.detail, request.id);
      reply.headers.emplace_back("Allow", std::string(wrong.allowed));
    } catch (const Error& error) {
      reply = reply_to(refusal_of(error), request);
    } catch (const std::bad_alloc&) {
      reply = problem_reply(503, "there is not enough memory for this request (send fewer rows)",
                            request.id);
    } catch (const std::exception& error) {
      reply = problem_reply(500, error.what(), request.id);
    }
  } catch (...) {  // not even memory for saying so
    reply = Reply{};
    reply.status = 503;
  }
  reply.route = route;
  return reply;
}

Reply Service::handle(const Request& request) noexcept {
  return reply_of(request, [&](std::size_t& route) { return route_request(request, route); });
}

std::optional<Reply> Service::refuse_early(const Request& request) noexcept {
  Reply reply = reply_of(request, [&](std::size_t& route) {
    find(request, route);
    return Reply{};
  });
  if (reply.status == 200) return std::nullopt;
  return reply;
}

bool Service::takes_body(const Request& request) noexcept { return request.method == "POST"; }

bool Service::may_take_long(const Request& request) const noexcept {
  if (request.method != "POST") return false;
  if (teacher_ != nullptr && teacher_->may_take_long() &&
      request.target.starts_with("/v1/observe")) {
    return true;
  }
  return !is_small(request.body) || small_seconds_.load() > kQuickSeconds;
}

const Route& Service::find(const Request& request, std::size_t& route) const {
  const std::string_view target(request.target);
  const std::string_view path = target.substr(0, target.find('?'));
  const Target full =
      path.starts_with('/') ? Target{std::string(path), {}} : parse_target(path, {});
  std::string_view allowed;
  const std::size_t found = find_route(request.method, full.path, allowed);
  if (found == kNoPath) {
    refuse(404, "there is no path '{}' (GET /openapi.json lists the paths)",
           full.path.substr(0, 100));
  }
  if (found == kOtherMethod) {
    throw MethodNotAllowed{
        fmt::format("{} accepts {}, not {}", full.path, allowed, request.method.substr(0, 20)),
        allowed};
  }
  route = found;
  const Route& row = routes()[found];
  if (row.needs_token) check_token(request);
  return row;
}

Reply Service::route_request(const Request& request, std::size_t& route) {
  const Route& row = find(request, route);
  return act(row, request, parse_target(request.target, row.parameters));
}

void Service::check_token(const Request& request) const {
  if (token_.empty() || same_secret(bearer_token(request.authorization), token_)) return;
  refuse(401, "this service requires a token (send the header 'Authorization: Bearer TOKEN')");
}

Reply Service::act(const Route& route, const Request& request, const Target& target) {
  switch (route.action) {
    case Action::kFile:
      return file_reply(route);
    case Action::kLive:
      return text_reply("{\"status\":\"live\"}\n", "application/json");
    case Action::kReady:
      return ready();
    case Action::kMetrics:
      return metrics_text();
    case Action::kModel:
      return text_reply(models_.now()->model->card(), "application/json");
    case Action::kCoverage:
      return text_reply(observations_.coverage().to_json(CoverageWatch::History::kWith) + "\n",
                        "application/json");
    case Action::kPredict:
      return predict(request, target);
    case Action::kObserve:
      return observe(request, target);
  }
  refuse(404, "there is no content at this path");
}

Reply Service::ready() const {
  if (stopping_) refuse(503, "the service is stopping");
  if (teacher_ != nullptr) teacher_->check_whole();
  return text_reply("{\"status\":\"ready\"}\n", "application/json");
}

/// 0: nothing is learned.
std::uint32_t Service::lineage() const {
  if (teacher_ == nullptr) return 0;
  teacher_->check_whole();
  return teacher_->lineage();
}

Reply Service::predict(const Request& request, const Target& target) {
  const auto start = Clock::now();
  const std::uint32_t lineage = this->lineage();
  const std::shared_ptr<const NumberedModel> now = models_.now();
  PredictRequest asked =
      parse_predict(request, target, *now->model, limits_, observations_.options().level);
  check_ready(*now->model);
  RowEncoder encoder(now->model->schema(), Need::kFeatures);
  Answers answers;
  if (lineage > 0) {
    encode_rows(*now->model, encoder, asked.table);
    answers = answer_encoded(asked.predictor, encoder, request.time);
  } else {
    answers = answer_rows(*now->model, asked.predictor, asked.table, request.time);
  }
  const std::uint64_t first = observations_.remember(answers.unnamed, now->number);
  if (lineage > 0) teacher_->waiting().add(first, encoder.rows(), lineage);
  std::vector<Notice> warnings = encoder.notices();
  std::ranges::move(asked.predictor.notices(), std::back_inserter(warnings));
  const std::size_t count = answers.values.rows();
  Reply reply;
  reply.content_type = content_type_of(asked.format);
  if (asked.format == BodyFormat::kJson) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(observations_.id(first + i));
    reply.body = answer_json(asked.predictor, answers, warnings, now->model->version(), ids);
  } else if (asked.format == BodyFormat::kNdjson) {
    reply.body = answer_ndjson(asked.predictor, answers);
  } else {
    reply.body = answer_csv(asked.predictor, answers, asked.table);
  }
  reply.headers.emplace_back("Tare-Model", now->model->version());
  reply.headers.emplace_back("Tare-First-Id", observations_.id(first));
  if (!warnings.empty()) {
    reply.headers.emplace_back("Tare-Warnings", warnings_header(warnings));
  }
  reply.rows = count;
  if (is_small(request.body)) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    small_seconds_ = 0.9 * small_seconds_.load() + 0.1 * seconds;
  }
  return reply;
}

Reply Service::observe(const Request& request, const Target& target) {
  const std::uint32_t lineage = this->lineage();
  const std::shared_ptr<const NumberedModel> now = models_.now();
  const ObserveRequest asked = parse_observe(request, target, *now->model, limits_);
  Observations::Outcome outcome;
  std::optional<std::size_t> learned;
  if (lineage > 0 && now->model->online()) {
    const OnlineOutcome taught =
        observe_online(asked, *now, lineage, *teacher_, observations_, request.time);
    learned = taught.learned;
    outcome = taught.watched;
  } else if (asked.by_id) {
    outcome = observations_.observe(asked.ids, asked.targets);
  } else {
    const Answers answers =
        answer_observed(*now->model, asked.table, observations_.options().level, request.time);
    outcome = observations_.observe(answers.unnamed, answers.targets, now->number);
  }
  Reply reply =
      text_reply(outcome_json(outcome, observations_.coverage(), learned), "application/json");
  reply.rows = learned.value_or(outcome.counted);
  return reply;
}

Reply Service::metrics_text() const {
  const CoverageWatch coverage = observations_.coverage();
  const std::shared_ptr<const NumberedModel> now = models_.now();
  std::string more;
  append_metric(more, "tare_coverage_level", "gauge", "Confidence of the monitored interval.",
                coverage.level());
  append_metric(more, "tare_coverage", "gauge", "Share of the last observations inside it.",
                coverage.coverage());
  append_metric(more, "tare_coverage_observations", "gauge",
                "Number of observations in tare_coverage.",
                static_cast<double>(coverage.observations()));
  append_metric(more, "tare_coverage_low", "gauge", "Lower end of the band of tare_coverage.",
                coverage.band().low);
  append_metric(more, "tare_coverage_high", "gauge", "Upper end of the band of tare_coverage.",
                coverage.band().high);
  append_metric(more, "tare_coverage_alarm", "gauge", "-1 below the band, 1 above it, 0 within.",
                coverage.alarm());
  if (now->model->online()) append_online(more, *now->model->online(), teacher_);
  more += fmt::format(
      "# HELP tare_model_info The model in use.\n"
      "# TYPE tare_model_info gauge\n"
      "tare_model_info{{version=\"{}\",method=\"{}\",number=\"{}\"}} 1\n",
      now->model->version(), now->model->fitted().method, now->number);
  return text_reply(metrics_.text(more), "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace tare::serve
