// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/extender.go (v1.36.4).
#include "extender_client/http_extender.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>

#include "api/source_text.h"
#include "berth/resources.h"
#include "berth/version.h"
#include "extender_client/extender_reply.h"
#include "extender_client/extender_request.h"
#include "framework/names_in_step.h"
#include "net/http_client.h"
#include "net/proxy.h"
#include "net/url.h"
#include "util/text.h"

namespace berth::extender_client {
namespace {

constexpr Duration kDefaultTimeout = Duration::Seconds(5);
constexpr size_t kBindConnections = 80;  // bindings come 64 at a time
constexpr size_t kMaxErrorText = 4096;   // of what an extender says is wrong

// As upstream's makeTransport and client-go's TLSConfigFor understand it.
Result<net::TlsClientOptions> TlsOf(const config::Extender& config) {
  net::TlsClientOptions tls;
  if (config.tls) {
    const config::ExtenderTls& from = *config.tls;
    tls.insecure = from.insecure;
    tls.server_name = from.server_name;
    tls.ca_file = from.ca_file;
    tls.ca_data = from.ca_data;
    // A certificate without a key, or a key without a certificate, is not used.
    if ((!from.cert_file.empty() || !from.cert_data.empty()) && (!from.key_file.empty() || !from.key_data.empty())) {
      tls.certificate_file = from.cert_file;
      tls.certificate_data = from.cert_data;
      tls.key_file = from.key_file;
      tls.key_data = from.key_data;
    }
  }
  const bool has_ca = !tls.ca_file.empty() || !tls.ca_data.empty();
  if (config.enable_https && !has_ca) tls.insecure = true;
  if (has_ca && tls.insecure) return Error("specifying a root certificates file with the insecure flag is not allowed");
  return tls;
}

std::string WithoutSlashes(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

struct HttpExtender::Impl : std::enable_shared_from_this<HttpExtender::Impl> {
  // One call of a verb.
  struct Call {
    const char* verb;
    const std::string& action;  // as the configuration has it
    std::function<std::string()> body;
    std::function<Error(std::string& reply)> take;  // reads the answer
    std::function<void(const Error&)> end;
    framework::Turn turn = nullptr;

    uint64_t number() const { return turn ? turn->load() : framework::kWithdrawn - 1; }
  };

  config::Extender config;
  HttpExtenderOptions options;
  std::string url;  // without slashes at its end
  net::Url parsed;
  std::unique_ptr<net::HttpClient> owned;
  net::HttpClient* client = nullptr;  // what is owned; the same while that is being destroyed
  std::mutex mutex;
  std::deque<std::shared_ptr<Call>> waiting;  // in the order in which they came; under mutex
  size_t running = 0;                         // under mutex
  bool closed = false;                        // under mutex

  // With its JSON, if somebody has it.
  std::shared_ptr<const Pod> Sourced(const std::shared_ptr<const Pod>& pod) const {
    std::string text = options.pod_json && !SourceOf(pod) ? options.pod_json(*pod) : std::string();
    return text.empty() ? pod : WithSource(Pod(*pod), std::move(text));
  }
  std::string ArgsJson(const std::shared_ptr<const Pod>& pod, const Nodes& nodes) const {
    if (config.node_cache_capable || !options.node_json)
      return ExtenderArgsJson(JsonOf(Sourced(pod)), nodes, config.node_cache_capable);
    std::vector<std::shared_ptr<const Node>> sourced;
    for (const auto& node : nodes) {
      std::string text = SourceOf(node) ? std::string() : options.node_json(*node);
      sourced.push_back(text.empty() ? node : WithSource(Node(*node), std::move(text)));
    }
    return ExtenderArgsJson(JsonOf(Sourced(pod)), std::move(sourced), false);
  }
  std::string VictimsJson(const std::shared_ptr<const Pod>& pod, std::vector<PreemptionCandidate> candidates) const {
    for (PreemptionCandidate& candidate : candidates)
      for (auto& victim : candidate.victims) victim = Sourced(victim);
    return PreemptionArgsJson(JsonOf(Sourced(pod)), candidates, config.node_cache_capable);
  }

  // In turn.
  void Enqueue(Call call) {
    {
      const std::lock_guard lock(mutex);
      if (closed) return;
      waiting.push_back(std::make_shared<Call>(std::move(call)));
    }
    Next();
  }
  void Next() {
    std::shared_ptr<Call> call;
    std::deque<std::shared_ptr<Call>> unwanted;  // let go without the lock: others may be told of it
    {
      const std::lock_guard lock(mutex);
      const auto wanted = std::stable_partition(waiting.begin(), waiting.end(),
                                                [](const auto& one) { return one->number() != framework::kWithdrawn; });
      std::move(wanted, waiting.end(), std::back_inserter(unwanted));
      waiting.erase(wanted, waiting.end());
      if (closed || waiting.empty() || running >= std::max<size_t>(options.calls_at_a_time, 1)) return;
      ++running;
      // They are few, and their numbers may have changed since they came.
      const auto next = std::min_element(waiting.begin(), waiting.end(),
                                         [](const auto& a, const auto& b) { return a->number() < b->number(); });
      call = std::move(*next);
      waiting.erase(next);
    }
    Start(std::move(call), /*in_turn=*/true);
  }
  // Written on the client's thread: whole nodes may be many megabytes.
  void Start(std::shared_ptr<Call> call, bool in_turn) {
    client->Post([self = shared_from_this(), call = std::move(call), in_turn] {
      {
        const std::lock_guard lock(self->mutex);
        if (self->closed) return;
      }
      self->Send(call, in_turn);
    });
  }
  void Send(const std::shared_ptr<Call>& call, bool in_turn) {
    net::ClientRequest request;
    request.method = "POST";
    request.path = "/" + call->action;
    request.headers.Add("Content-Type", "application/json");
    request.headers.Add("User-Agent", std::string("berth/") + kVersion);
    request.body = call->body();
    request.timeout = config.http_timeout;
    const auto facts = std::make_shared<net::SendFacts>();
    request.facts = facts;
    const auto began = std::chrono::steady_clock::now();
    client->Send(std::move(request), [weak = weak_from_this(), call, in_turn, began,
                                      facts](Result<net::HttpResponse> answer) {
      const std::shared_ptr<Impl> self = weak.lock();
      if (!self) return;
      {
        const std::lock_guard lock(self->mutex);
        if (self->closed) return;
        if (in_turn) --self->running;
      }
      const Error error = self->Judge(*call, *facts, answer);
      const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began);
      if (self->options.on_call)
        self->options.on_call({self->config.url_prefix, call->verb, error, Duration{took.count()}});
      if (in_turn) self->Next();
      call->end(error);
    });
  }

  // What is wrong with the answer, in kube-scheduler's words.
  Error Judge(const Call& call, const net::SendFacts& facts, Result<net::HttpResponse>& answer) const {
    const std::string asked = url + "/" + call.action;
    if (facts.status != 0 && facts.status != 200)
      return Error("failed " + call.action + " with extender at URL " + asked + ", code " +
                   std::to_string(facts.status));
    if (answer.ok()) {
      std::string body = std::move(answer.value().body);
      return call.take(body);
    }
    const std::string post = "Post \"" + asked + "\": ";
    const ErrorKind kind = answer.error().kind();
    if (kind == ErrorKind::kTimedOut || kind == ErrorKind::kUnsent) {
      return facts.status != 0
                 ? Error("context deadline exceeded (Client.Timeout or context cancellation while reading body)", kind)
                 : Error(post + "context deadline exceeded (Client.Timeout exceeded while awaiting headers)", kind);
    }
    if (facts.connect_errno == ECONNREFUSED)
      return Error(post + "dial tcp " + parsed.host + ":" + parsed.port + ": connect: connection refused");
    if (facts.closed) return Error(facts.status != 0 ? "unexpected EOF" : post + "EOF");
    return answer.error();
  }
};

HttpExtender::HttpExtender(const config::Extender& config, HttpExtenderOptions options)
    : impl_(std::make_shared<Impl>()) {
  traits_ = {config.url_prefix,
             config.weight,
             !config.filter_verb.empty(),
             !config.prioritize_verb.empty(),
             !config.preempt_verb.empty(),
             !config.bind_verb.empty(),
             config.ignorable};
  for (const config::ManagedResource& resource : config.managed_resources)
    managed_.insert(static_cast<uint32_t>(InternResource(resource.name)));
  impl_->config = config;
  if (impl_->config.http_timeout.ns <= 0) impl_->config.http_timeout = kDefaultTimeout;
  impl_->options = std::move(options);
  impl_->url = WithoutSlashes(config.url_prefix);
}

Result<std::unique_ptr<HttpExtender>> HttpExtender::Make(const config::Extender& config, HttpExtenderOptions options) {
  std::unique_ptr<HttpExtender> extender(new HttpExtender(config, std::move(options)));
  Impl& impl = *extender->impl_;
  net::ClientOptions how;
  how.url = impl.url;
  Result<net::TlsClientOptions> tls = TlsOf(config);
  if (!tls.ok()) return tls.error();
  how.tls = std::move(tls).value();
  if (impl.options.warning)
    how.tls.on_warning = [warn = impl.options.warning](const Error& error) { warn(error.text()); };
  Result<net::Url> url = net::ParseUrl(impl.url);
  if (!url.ok()) return url.error();
  impl.parsed = std::move(url).value();
  how.proxy = net::ProxyEnvironment::Read().For(impl.parsed);
  how.max_connections = kBindConnections + impl.options.calls_at_a_time;
  how.connect_timeout = impl.config.http_timeout;
  how.max_response_bytes = impl.options.max_reply_bytes;
  if (impl.parsed.tls) {
    const net::IdentityErrors errors = net::CheckIdentity(how.tls);
    if (!errors.certificate.ok()) return errors.certificate.Wrap("certificate");
    if (!errors.key.ok()) return errors.key.Wrap("key");
  }
  Result<std::unique_ptr<net::HttpClient>> client = net::HttpClient::Create(how);
  if (!client.ok()) return client.error();
  impl.owned = std::move(client).value();
  impl.client = impl.owned.get();
  return extender;
}

HttpExtender::~HttpExtender() {
  std::deque<std::shared_ptr<Impl::Call>> dropped;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->closed = true;
    dropped.swap(impl_->waiting);
  }
  impl_->owned.reset();  // waits for what is being called
}

bool HttpExtender::IsInterested(const Pod& pod) const {
  if (managed_.empty()) return true;
  const auto has = [&](const ResourceList& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& entry) { return managed_.contains(static_cast<uint32_t>(entry.first)); });
  };
  const auto any = [&](const auto& containers) {
    return std::any_of(containers.begin(), containers.end(),
                       [&](const Container& container) { return has(container.requests) || has(container.limits); });
  };
  return any(pod.containers) || any(pod.init_containers);
}

void HttpExtender::Filter(framework::PodInTurn asked, Nodes nodes, std::function<void(Result<Filtered>)> done) {
  struct Question {
    std::shared_ptr<const Pod> pod;
    Nodes nodes;
    Filtered answer;
  };
  auto question = std::make_shared<Question>(Question{std::move(asked.pod), std::move(nodes), {}});
  Impl* impl = impl_.get();  // calls end before it does
  Impl::Call call{"filter", impl_->config.filter_verb, nullptr, nullptr, nullptr, std::move(asked.turn)};
  call.body = [impl, question] { return impl->ArgsJson(question->pod, question->nodes); };
  call.take = [impl, question](std::string& body) {
    Result<FilterReply> read = ReadFilterReply(body);
    if (!read.ok()) return read.error();
    FilterReply& reply = read.value();
    if (!reply.error.empty()) return Error(util::Shortened(reply.error, kMaxErrorText));
    const Nodes& nodes = question->nodes;
    framework::NamesInStep known(nodes.size(), [&](size_t i) { return std::string_view(nodes[i]->name()); });
    std::vector<uint8_t> seen(nodes.size(), 0);
    const std::vector<std::string_view>* passed = nullptr;
    if (impl->config.node_cache_capable && reply.node_names) {
      passed = &*reply.node_names;
    } else if (reply.nodes) {
      passed = &*reply.nodes;
    }
    if (passed) question->answer.passed.reserve(std::min(passed->size(), nodes.size()));
    for (size_t i = 0; passed && i < passed->size(); ++i) {
      const std::string_view name = (*passed)[i];
      const size_t place = known.Find(name);
      if (place == known.kNone)
        return Error("extender " + util::Quoted(impl->config.url_prefix) + " claims a filtered node " +
                     util::Quoted(util::Shortened(name, 253)) + " which is not found in the input node list");
      if (!std::exchange(seen[place], 1)) question->answer.passed.push_back(place);
    }
    question->answer.failed = std::move(reply.failed);
    question->answer.unresolvable = std::move(reply.unresolvable);
    return Error::Ok();
  };
  call.end = [question, done = std::move(done)](const Error& error) {
    if (!error.ok()) return done(error);
    done(std::move(question->answer));
  };
  impl_->Enqueue(std::move(call));
}

void HttpExtender::Prioritize(framework::PodInTurn asked, Nodes nodes, std::function<void(Result<Scores>)> done) {
  auto scores = std::make_shared<Scores>();
  Impl* impl = impl_.get();
  Impl::Call call{"prioritize", impl_->config.prioritize_verb, nullptr, nullptr, nullptr, std::move(asked.turn)};
  call.body = [impl, pod = std::move(asked.pod), nodes] { return impl->ArgsJson(pod, nodes); };
  call.take = [scores, nodes](std::string& body) {
    const Result<ScoreReply> read = ReadPrioritizeReply(body);
    if (!read.ok()) return read.error();
    framework::NamesInStep known(nodes.size(), [&](size_t i) { return std::string_view(nodes[i]->name()); });
    scores->reserve(std::min(read->scores.size(), nodes.size()));
    for (const auto& [node, score] : read->scores)
      if (const size_t place = known.Find(node); place != known.kNone) scores->emplace_back(place, score);
    return Error::Ok();
  };
  call.end = [scores, done = std::move(done)](const Error& error) {
    if (!error.ok()) return done(error);
    done(std::move(*scores));
  };
  impl_->Enqueue(std::move(call));
}

void HttpExtender::Preempt(framework::PodInTurn asked, std::vector<PreemptionCandidate> candidates,
                           std::function<void(Result<VictimMap>)> done) {
  auto victims = std::make_shared<VictimMap>();
  Impl* impl = impl_.get();
  Impl::Call call{"preempt", impl_->config.preempt_verb, nullptr, nullptr, nullptr, std::move(asked.turn)};
  call.body = [impl, pod = std::move(asked.pod), candidates = std::move(candidates)] {
    return impl->VictimsJson(pod, candidates);
  };
  call.take = [victims](std::string& body) {
    Result<VictimMap> read = ReadPreemptReply(body);
    if (!read.ok()) return read.error();
    *victims = std::move(read).value();
    return Error::Ok();
  };
  call.end = [victims, done = std::move(done)](const Error& error) {
    if (!error.ok()) return done(error);
    done(std::move(*victims));
  };
  impl_->Enqueue(std::move(call));
}

void HttpExtender::Bind(std::shared_ptr<const Pod> pod, const std::string& node, std::function<void(Error)> done) {
  Impl::Call call{"bind", impl_->config.bind_verb, nullptr, nullptr, nullptr, nullptr};
  call.body = [pod = std::move(pod), node] { return BindingArgsJson(*pod, node); };
  call.take = [](std::string& body) {
    const Result<std::string> said = ReadBindReply(body);
    if (!said.ok()) return said.error();
    return said->empty() ? Error::Ok() : Error(util::Shortened(*said, kMaxErrorText));
  };
  call.end = std::move(done);
  impl_->Start(std::make_shared<Impl::Call>(std::move(call)), /*in_turn=*/false);
}

Result<std::vector<std::shared_ptr<framework::Extender>>> MakeExtenders(const std::vector<config::Extender>& configs,
                                                                        const HttpExtenderOptions& options) {
  std::vector<std::shared_ptr<framework::Extender>> extenders;
  for (const config::Extender& config : configs) {
    Result<std::unique_ptr<HttpExtender>> made = HttpExtender::Make(config, options);
    if (!made.ok()) return made.error().Wrap("couldn't build extenders");
    extenders.push_back(std::move(made).value());
  }
  return extenders;
}

}  // namespace berth::extender_client
