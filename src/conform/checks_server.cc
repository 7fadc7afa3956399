// SPDX-License-Identifier: Apache-2.0
// What kube-scheduler never sends, and other clients may; and what becomes of connections.
#include <memory>
#include <utility>

#include "conform/checks.h"
#include "net/http_parser.h"

namespace berth::conform {
namespace {

constexpr size_t kMaxHeaderBytes = size_t{64} << 10;

struct BadBody {
  std::string what, body;
  bool readable;  // some decoder could make something of it
};

std::vector<BadBody> BadBodies(const std::string& good) {
  return {
      {"an empty body", "", false},
      {"text", "this is not JSON", false},
      {"half of a request", good.substr(0, good.size() / 2), false},
      {"bytes that are no text", std::string("\xff\xfe\x00\x01{}", 6), false},
      {"100,000 open brackets", std::string(100'000, '['), false},
      {"null", "null", true},
      {"an array", "[]", true},
      {"fields of the wrong type",
       R"({"Pod":"x","Nodes":7,"NodeNames":{"a":1},"NodeNameToVictims":[],)"
       R"("NodeNameToMetaVictims":[1]})",
       true},
      {"a request of nulls",
       R"({"Pod":null,"Nodes":null,"NodeNames":null,"NodeNameToVictims":null,)"
       R"("NodeNameToMetaVictims":null})",
       true},
      {"an empty object", "{}", true},
  };
}

net::ClientRequest Request(const Session& session, Target target, const std::string& body) {
  net::ClientRequest request;
  request.method = "POST";
  request.path = "/" + session.path(target.verb);
  request.headers.Add("Content-Type", "application/json");
  request.body = body;
  return request;
}

// The plain question must still work. False: it does not, which is recorded.
bool StillWorks(Trial& trial, Target target, const std::string& after) {
  const Asked asked = trial.session.Ask(trial.session.PlainQuestion(target));
  if (asked.problem.empty()) return true;
  trial.Fail(std::string(ToString(target.verb)) + ": the request after " + after + ": " + asked.problem, asked);
  return false;
}

// False: the server does not come back.
bool JudgeBadBody(Trial& trial, Target target, const BadBody& bad) {
  const std::string verb(ToString(target.verb));
  const Exchange exchange = trial.session.caller().Send(Request(trial.session, target, bad.body));
  if (exchange.timed_out) {
    trial.Fail(verb + ": " + bad.what + " gets no answer at all", &exchange);
  } else if (exchange.status == 0) {
    trial.Warn(verb + ": " + bad.what + " breaks the connection, as a crash does", &exchange);
  } else if (exchange.status == 200 && !bad.readable) {
    const Asked asked = trial.session.Judge(target, exchange);
    if (asked.problem.empty()) trial.Warn(verb + ": " + bad.what + " is taken for a request", &exchange);
  }
  return StillWorks(trial, target, bad.what);
}

// Reads one answer. False: it says that there will be no other on this connection, and may not have been read to its
// end.
Result<bool> ReadAnswer(net::RawConnection& connection, net::Deadline deadline) {
  using Progress = net::MessageParser::Progress;
  net::MessageParser parser(net::MessageParser::Kind::kResponse, kMaxHeaderBytes);
  std::string input;
  const auto more = [&] {
    const Result<std::string> piece = connection.Receive(deadline);
    if (!piece.ok()) return piece.error();
    input += *piece;
    return piece->empty() ? Error("the server closed the connection") : Error::Ok();
  };
  // Calls step(&used) until it has enough.
  const auto read = [&](const auto& step) {
    for (;;) {
      size_t used = 0;
      const Progress progress = input.empty() ? Progress::kMore : step(&used);
      input.erase(0, used);
      if (progress == Progress::kDone) return Error::Ok();
      if (progress != Progress::kMore) return Error(parser.problem());
      if (Error error = more(); !error.ok()) return error;
    }
  };
  if (const Error error = read([&](size_t* used) { return parser.ReadHead(input, used); }); !error.ok()) return error;
  const net::MessageHead& head = parser.head();
  if (!head.keep_alive) return false;
  if (head.chunked) {
    const auto drop = [](std::string_view) { return true; };
    const Error error = read([&](size_t* used) { return parser.ReadChunks(input, used, drop); });
    return error.ok() ? Result<bool>(true) : error;
  }
  while (input.size() < head.content_length.value_or(0)) {
    if (const Error error = more(); !error.ok()) return error;
  }
  return true;
}

// Asks twice over one connection. False: it is not kept, which is recorded.
bool KeepsConnection(Trial& trial, Target target) {
  Caller& caller = trial.session.caller();
  const std::string verb(ToString(target.verb));
  const Exchange& exchange = trial.session.base(target)->exchange;
  const std::string bytes =
      caller.Bytes(trial.session.path(target.verb), WriteQuestion(trial.session.PlainQuestion(target)));
  const Result<std::unique_ptr<net::RawConnection>> connection = caller.Connect();
  if (!connection.ok()) return trial.Warn("takes no further connection: " + connection.error().text()), false;
  for (const bool again : {false, true}) {
    const net::Deadline deadline = caller.Deadline();
    const Error sent = (*connection)->Send(bytes, deadline);
    const Result<bool> kept = sent.ok() ? ReadAnswer(**connection, deadline) : Result<bool>(sent);
    if (kept.ok() && (*kept || again)) continue;
    trial.Warn(!kept.ok() && !again
                   ? verb + ": a connection besides others gets no answer: " + kept.error().text()
                   : "gives one answer on a connection and no more: each call of kube-scheduler needs a new one",
               &exchange);
    return false;
  }
  return true;
}

}  // namespace

void CheckMalformedJson(Trial& trial) {
  for (const Target target : trial.session.ServedVerbs()) {
    for (const BadBody& bad : BadBodies(WriteQuestion(trial.session.PlainQuestion(target)))) {
      if (!JudgeBadBody(trial, target, bad)) return;
    }
  }
}

void CheckWrongMethod(Trial& trial) {
  for (const Target target : trial.session.ServedVerbs()) {
    const std::string verb(ToString(target.verb));
    for (const char* method : {"GET", "DELETE"}) {
      net::ClientRequest request = Request(trial.session, target, "");
      request.method = method;
      const Exchange exchange = trial.session.caller().Send(std::move(request));
      const std::string what = verb + ": " + method + " ";
      if (exchange.status == 0) {
        trial.Warn(what + (exchange.timed_out ? "gets no answer" : "breaks the connection"), &exchange);
      } else if (exchange.status < 400) {
        trial.Warn(what + "is answered " + std::to_string(exchange.status) + "; 405 would be right", &exchange);
      } else if (exchange.status >= 500) {
        trial.Warn(what + "makes it fail with " + std::to_string(exchange.status) + "; 405 would be right", &exchange);
      }
    }
    if (!StillWorks(trial, target, "another method")) return;
  }
}

void CheckWrongPath(Trial& trial) {
  const Target target = trial.session.ServedVerbs().front();
  net::ClientRequest request = Request(trial.session, target, WriteQuestion(trial.session.PlainQuestion(target)));
  request.path = "/berth-conform-no-such-verb";
  const Exchange exchange = trial.session.caller().Send(std::move(request));
  if (exchange.status == 0) {
    trial.Warn(
        exchange.timed_out ? "a path that is no verb gets no answer" : "a path that is no verb breaks the connection",
        &exchange);
  } else if (exchange.status < 400) {
    trial.Warn("a path that is no verb is answered " + std::to_string(exchange.status) +
                   ": a misspelt verb in kube-scheduler's configuration goes unnoticed",
               &exchange);
  }
  StillWorks(trial, target, "another path");
}

void CheckContentType(Trial& trial) {
  const Target target = trial.session.ServedVerbs().front();
  for (const char* type : {"application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded"}) {
    net::ClientRequest request;
    request.method = "POST";
    request.path = "/" + trial.session.path(target.verb);
    request.headers.Add("Content-Type", type);
    request.body = WriteQuestion(trial.session.PlainQuestion(target));
    const Exchange exchange = trial.session.caller().Send(std::move(request));
    const std::string what = std::string("a body of type ") + type;
    if (exchange.status == 0) {
      trial.Warn(what + (exchange.timed_out ? " gets no answer" : " breaks the connection"), &exchange);
    } else if (exchange.status >= 500) {
      trial.Warn(what + " makes it fail with " + std::to_string(exchange.status), &exchange);
    }
  }
  StillWorks(trial, target, "another content type");
}

void CheckKeepAlive(Trial& trial) {
  for (const Target target : trial.session.ServedVerbs()) {
    if (!KeepsConnection(trial, target)) return;
  }
  if (const size_t lost = trial.session.caller().lost_connections(); lost > 0) {
    trial.Warn("closed a kept connection under " + Count(lost, "request") + ", which then had to be sent again");
  }
}

}  // namespace berth::conform
