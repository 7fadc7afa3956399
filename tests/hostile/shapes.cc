// SPDX-License-Identifier: Apache-2.0
#include "shapes.h"

#include <utility>

namespace berth::hostile {
namespace {

using Want = Shape::Want;

// Bytes of which some are zero.
template <size_t N>
std::string Bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

class Table {
 public:
  explicit Table(std::string path) : path_(std::move(path)) {}

  void Add(std::string name, std::string text, Want want = Want::kRefused, int status = 0) {
    shapes.push_back({std::move(name), std::move(text), want, status});
  }
  void Status(int status, std::string name, std::string text) {
    Add(std::move(name), std::move(text), Want::kStatus, status);
  }
  // A POST with these lines of the head, and a body.
  std::string With(const std::string& lines, const std::string& body = "") const {
    return "POST " + path_ + " HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n" + body;
  }
  std::string Chunked(const std::string& body) const { return With("Transfer-Encoding: chunked\r\n", body); }

  std::vector<Shape> shapes;

 private:
  const std::string path_;
};

void AddRequestLines(Table& table, const std::string& path) {
  const std::string rest = "\r\nHost: x\r\n\r\n";
  table.Status(400, "no words", "\x01\x02\x03" + rest);
  table.Status(400, "one word", "GET" + rest);
  table.Status(400, "two words", "GET /" + rest);
  table.Status(400, "four words", "GET / HTTP/1.1 more" + rest);
  table.Status(400, "no method", " / HTTP/1.1" + rest);
  table.Status(400, "a method with a colon", "G:T / HTTP/1.1" + rest);
  table.Status(400, "a method with a zero", std::string("G\0T / HTTP/1.1", 14) + rest);
  table.Status(400, "a method in UTF-8", "G\xc3\x89T / HTTP/1.1" + rest);
  table.Add("a long method", std::string(5'000, 'G') + " / HTTP/1.1" + rest);
  table.Add("a method in small letters", "get / HTTP/1.1" + rest);
  table.Status(400, "no target", "GET  HTTP/1.1" + rest);
  table.Status(400, "a target without a slash", "GET a HTTP/1.1" + rest);
  table.Status(400, "a target with a zero", std::string("GET /\0 HTTP/1.1", 15) + rest);
  table.Status(400, "a target with a control character", "GET /\x01 HTTP/1.1" + rest);
  table.Status(400, "a tab for a blank", "GET\t/\tHTTP/1.1" + rest);
  table.Status(431, "a target that does not end", "GET /" + std::string(100'000, 'a'));
  table.Add("a path with dots", "GET /../../../../etc/passwd HTTP/1.1" + rest);
  table.Add("a path with encoded dots", "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1" + rest);
  table.Add("a path with a bad percent sign", "GET /%zz HTTP/1.1" + rest);
  table.Add("the target of CONNECT", "CONNECT x:443 HTTP/1.1" + rest);
  table.Add("the target of OPTIONS", "OPTIONS * HTTP/1.1" + rest);
  table.Add("TRACE", "TRACE / HTTP/1.1" + rest);
  table.Add("a target for proxies", "GET http://x/healthz HTTP/1.1" + rest, Want::kStatus, 200);
  table.Add("a target for proxies of another scheme", "GET gopher://x/nothing HTTP/1.1" + rest);
  table.Status(400, "HTTP/2", "GET / HTTP/2.0" + rest);
  table.Status(400, "HTTP/0.9", "GET /\r\n\r\n");
  table.Status(400, "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  table.Status(400, "a version without a number", "GET / HTTP/x.y" + rest);
  table.Status(400, "a version in small letters", "GET / http/1.1" + rest);
  table.Status(400, "a version of many digits", "GET / HTTP/11111111111.1" + rest);
  table.Status(400, "line ends without a return", "GET / HTTP/1.1\nHost: x\n\n\r\n\r\n");
  table.Status(400, "line ends without a new line", "GET / HTTP/1.1\rHost: x\r\r\r\n\r\n");
  table.Add("empty lines first", "\r\n\r\n\r\nGET /healthz HTTP/1.1" + rest, Want::kStatus, 200);
  table.Add("the greeting of TLS", Bytes("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"));
  table.Add("the greeting of SSH", "SSH-2.0-OpenSSH_9.6\r\n\r\n");
  table.Add("the greeting of SMTP", "EHLO x\r\n\r\n");
  table.Add("the greeting of Redis", "*1\r\n$4\r\nPING\r\n\r\n");
  table.Add("an HTTP answer", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  table.Add("zeros", std::string(100'000, '\0'));
  table.Add("0xff", std::string(100'000, '\xff'));
  table.Add("a verb of ours by GET", "GET " + path + " HTTP/1.1" + rest);
}

void AddHeaders(Table& table) {
  table.Status(400, "no Host", "GET / HTTP/1.1\r\n\r\n");
  table.Status(400, "two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n");
  table.Status(400, "a header without a colon", table.With("Nothing\r\n"));
  table.Status(400, "a header without a name", table.With(": x\r\n"));
  table.Status(400, "a blank before the colon", table.With("Name : x\r\n"));
  table.Status(400, "a name with a zero", table.With(std::string("Na\0me: x\r\n", 10)));
  table.Status(400, "a name with a blank", table.With("Na me: x\r\n"));
  table.Status(400, "a value with a zero", table.With(std::string("Name: x\0y\r\n", 11)));
  table.Add("a folded header", table.With("Name: x\r\n y\r\n"));
  table.Status(400, "a return within a value", table.With("Name: x\ry\r\n"));
  table.Add("a new line within a value", table.With("Name: x\ny\r\n"));
  table.Status(431, "a header that does not end", "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(200'000, 'a'));
  table.Status(431, "a name that does not end", "GET / HTTP/1.1\r\nHost: x\r\n" + std::string(200'000, 'a'));
  std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 20'000; ++i) many += "A: b\r\n";
  table.Status(431, "headers without end", many);
  table.Status(415, "a body that is packed", table.With("Content-Encoding: gzip\r\nContent-Length: 2\r\n", "{}"));
  table.Status(417, "an expectation", table.With("Expect: tea\r\nContent-Length: 2\r\n", "{}"));
  table.Add("an upgrade", "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  table.Add(
      "an upgrade to HTTP/2",
      "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: "
      "AAMAAABkAAQAAP__\r\n\r\n");
  table.Add("a range", "GET /nothing HTTP/1.1\r\nHost: x\r\nRange: bytes=0-,0-,0-,0-\r\n\r\n");
}

void AddLengths(Table& table) {
  table.Status(400, "two lengths", table.With("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"));
  table.Status(400, "the same length twice", table.With("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"));
  table.Status(400, "a list of lengths", table.With("Content-Length: 2, 2\r\n", "{}"));
  table.Status(400, "a negative length", table.With("Content-Length: -1\r\n"));
  table.Status(400, "a length with a sign", table.With("Content-Length: +2\r\n", "{}"));
  table.Status(400, "a length in hexadecimal", table.With("Content-Length: 0x2\r\n", "{}"));
  table.Status(400, "a length with a blank", table.With("Content-Length: 1 2\r\n", "{}"));
  table.Add("no length at all", table.With("Content-Length: \r\n", "{}"));
  table.Status(400, "a length beyond 64 bits", table.With("Content-Length: 99999999999999999999\r\n"));
  table.Status(413, "a length beyond the limit", table.With("Content-Length: 999999999999999\r\n"));
  table.Status(400, "length and chunks",
               table.With("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"));
  table.Status(400, "chunks and length",
               table.With("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "0\r\n\r\n"));
  table.Status(400, "another coding", table.With("Transfer-Encoding: gzip\r\n", "x"));
  table.Status(400, "two codings", table.With("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"));
  table.Status(400, "chunks twice",
               table.With("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"));
  table.Status(400, "a coding with a form feed",
               table.With("Transfer-Encoding: \x0c"
                          "chunked\r\n",
                          "0\r\n\r\n"));
  table.Status(400, "chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  table.Status(400, "a chunk without a size", table.Chunked("\r\nabc\r\n0\r\n\r\n"));
  table.Status(400, "a chunk of a negative size", table.Chunked("-3\r\nabc\r\n0\r\n\r\n"));
  table.Status(400, "a chunk of no number", table.Chunked("zz\r\nabc\r\n0\r\n\r\n"));
  table.Status(400, "a chunk of a size beyond 64 bits", table.Chunked("FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n"));
  table.Add("a chunk of a huge size", table.Chunked("FFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n"), Want::kNothing);
  table.Status(400, "a chunk larger than it says", table.Chunked("3\r\nabcdef\r\n0\r\n\r\n"));
  table.Status(400, "an extension without end", table.Chunked("3;" + std::string(100'000, 'e')));
  table.Add("a trailer without end", table.Chunked("0\r\nA: " + std::string(200'000, 'a')));
  std::string crumbs;
  for (int i = 0; i < 20'000; ++i) crumbs += "1\r\n \r\n";
  table.Add("a body in crumbs", table.Chunked(crumbs + "2\r\n{}\r\n0\r\n\r\n"), Want::kAnswer);
  table.Add("a body that does not come", table.With("Content-Length: 100\r\n", "{"), Want::kNothing);
  table.Add("a chunk that does not come", table.Chunked("5\r\nab"), Want::kNothing);
  table.Add("a head that does not come", "POST / HTTP/1.1\r\nHost:", Want::kNothing);
  table.Add("a claim of much", table.With("Content-Length: 200000000\r\n", "{"), Want::kNothing);
  table.Add("a request behind a body",
            table.With("Content-Length: 2\r\n", "{}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), Want::kAnswer);
}

void AddBodies(Table& table) {
  const auto post = [&](const std::string& body) {
    return table.With("Content-Length: " + std::to_string(body.size()) + "\r\n", body);
  };
  table.Add("no body", post(""));
  table.Add("no JSON", post("hello"));
  table.Add("half a value", post("{\"Pod\":"));
  table.Add("a list", post("[]"));
  table.Add("bytes that are no text", post("{\"\xff\xfe\":1}"));
  table.Add("brackets", post(std::string(1'000'000, '[')));
  table.Add("braces", post([] {
              std::string text;
              for (int i = 0; i < 100'000; ++i) text += "{\"a\":";
              return text;
            }()));
  table.Add("a number of many digits", post("{\"NodeNames\":" + std::string(1'000'000, '9') + "}"));
  table.Add("a zero within", post(std::string("{\"Pod\":\0}", 9)));
}

}  // namespace

std::vector<Shape> MalformedShapes(const std::string& path) {
  Table table(path);
  AddRequestLines(table, path);
  AddHeaders(table);
  AddLengths(table);
  AddBodies(table);
  return std::move(table.shapes);
}

std::vector<Shape> BrokenHandshakes() {
  // A greeting that a server of TLS 1.2 answers: one cipher, one curve, two signatures.
  const std::string extensions = Bytes(
      "\x00\x0a\x00\x04\x00\x02\x00\x17"
      "\x00\x0b\x00\x02\x01\x00"
      "\x00\x0d\x00\x06\x00\x04\x04\x01\x04\x03");
  std::string hello = Bytes("\x03\x03") + std::string(32, 'r') + Bytes("\x00\x00\x04\xc0\x2f\xc0\x2b\x01\x00\x00");
  hello += static_cast<char>(extensions.size());
  hello += extensions;
  const std::string message = Bytes("\x01\x00\x00") + static_cast<char>(hello.size()) + hello;
  const std::string greeting = Bytes("\x16\x03\x01\x00") + static_cast<char>(message.size()) + message;

  Table table("/");
  const auto add = [&](std::string name, std::string text) {
    table.Add(std::move(name), std::move(text), Want::kNothing);
  };
  add("a greeting and no more", greeting);
  for (const size_t size : {1, 4, 5, 6, 9, 20, 43, 60}) {
    add("the first " + std::to_string(size) + " bytes of a greeting", greeting.substr(0, size));
  }
  add("a greeting and garbage", greeting + std::string(1'000, 'x'));
  add("a greeting twice", greeting + greeting);
  add("a greeting and data", greeting + Bytes("\x17\x03\x03\x00\x05hello"));
  add("a greeting and an alert", greeting + Bytes("\x15\x03\x03\x00\x02\x02\x28"));
  add("an alert first", Bytes("\x15\x03\x01\x00\x02\x02\x28"));
  add("data first", Bytes("\x17\x03\x03\x00\x05hello"));
  add("a record of the greatest length", Bytes("\x16\x03\x01\xff\xff") + std::string(70'000, 'x'));
  add("a message longer than its record", Bytes("\x16\x03\x01\x00\x04\x01\xff\xff\xff"));
  add("empty records", [] {
    std::string text;
    for (int i = 0; i < 5'000; ++i) text += Bytes("\x16\x03\x01\x00\x00");
    return text;
  }());
  add("the greeting of SSL 2", Bytes("\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10") + std::string(40, 'c'));
  add("plain HTTP", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  add("noise", std::string(100'000, '\x5a'));
  return std::move(table.shapes);
}

}  // namespace berth::hostile
