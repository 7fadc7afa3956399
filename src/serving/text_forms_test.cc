// SPDX-License-Identifier: Apache-2.0
// Paths, queries, forms of answers, documents, numbers: the small things that bytes from outside go through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "serving/gzip.h"
#include "serving/health.h"
#include "serving/media_type.h"
#include "serving/replies.h"
#include "serving/url_text.h"
#include "serving/yaml_document.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;

net::HttpRequest With(const std::string& name, const std::string& value, const std::string& query = "") {
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/x";
  request.query = query;
  request.headers.Add(name, value);
  return request;
}

TEST(UrlTextTest, PathsAreDecodedOnce) {
  EXPECT_EQ(DecodePath("/a%2Fb+c%20d"), "/a/b+c d");
  EXPECT_EQ(DecodePath("/%2500"), "/%00");
  for (const char* bad : {"/%", "/%4", "/%4g", "/%-1"}) EXPECT_EQ(DecodePath(bad), std::nullopt) << bad;
}

TEST(UrlTextTest, QueriesLeaveOutWhatCannotBeRead) {
  const Query query("verbose&exclude=a&exclude=b%20c&x;y=1&z=%zz&&p=1+2&=empty");
  EXPECT_TRUE(query.Has("verbose"));
  EXPECT_EQ(query.Get("verbose"), "");
  EXPECT_THAT(query.All("exclude"), ElementsAre("a", "b c"));
  EXPECT_EQ(query.Get("p"), "1 2");
  EXPECT_FALSE(query.Has("z"));
  EXPECT_FALSE(query.Has("x;y"));
  EXPECT_EQ(query.Get(""), "empty");
}

TEST(MediaTypeTest, ClausesAreSortedByLiking) {
  const auto clauses = ParseAccept("*/*;q=0.1, text/plain; q=0.5 ,application/json;as=Statusz;g=x,bad,a/b/c,*");
  ASSERT_EQ(clauses.size(), 4);
  EXPECT_EQ(clauses[0].subtype, "json");
  EXPECT_EQ(clauses[0].params.at("as"), "Statusz");
  EXPECT_EQ(clauses[1].type, "*");
  EXPECT_EQ(clauses[2].type, "text");
  EXPECT_EQ(clauses[3].quality, 0.1);
  EXPECT_TRUE(ParseAccept(",;,=;/").size() <= 4) << "whatever comes";
}

TEST(MediaTypeTest, AStatusIsJsonYamlOrWhatTheFirstClauseTakes) {
  const auto type = [](const std::string& accept) { return Unauthorized(With("Accept", accept)).content_type; };
  EXPECT_EQ(type("application/yaml"), "application/yaml");
  EXPECT_EQ(type("application/yaml;q=0.2, application/json"), "application/json");
  EXPECT_EQ(type("*/*"), "application/json");
  EXPECT_EQ(type("application/*"), "application/json");
  EXPECT_EQ(type("text/html"), "application/json") << "the error is not hidden behind another one";
  EXPECT_EQ(type("application/vnd.kubernetes.protobuf"), "application/json");
}

TEST(MediaTypeTest, PeopleGetLinesAndProgramsOne) {
  const auto lines = [](const net::HttpRequest& request) {
    const std::string& body = Unauthorized(request).body;
    return std::count(body.begin(), body.end(), '\n');
  };
  EXPECT_GT(lines(With("User-Agent", "curl/8.0")), 1);
  EXPECT_GT(lines(With("User-Agent", "Mozilla/5.0 (X11)")), 1);
  EXPECT_EQ(lines(With("User-Agent", "Prometheus/3.0")), 1);
  EXPECT_EQ(lines(With("User-Agent", "curl/8.0", "pretty=0")), 1);
  EXPECT_GT(lines(With("User-Agent", "x", "pretty=true")), 1);
  EXPECT_EQ(lines(With("User-Agent", "x", "pretty=yes")), 1);
}

TEST(MediaTypeTest, GzipIsAskedFor) {
  EXPECT_TRUE(TakesGzip(With("Accept-Encoding", "deflate, gzip;q=0.5")));
  EXPECT_TRUE(TakesGzip(With("accept-encoding", "*")));
  EXPECT_FALSE(TakesGzip(With("Accept-Encoding", "gzip;q=0, *")));
  EXPECT_FALSE(TakesGzip(With("Accept-Encoding", "identity")));
  EXPECT_FALSE(TakesGzip(With("X", "gzip")));
}

TEST(RepliesTest, WhatOthersSaidIsHarmless) {
  net::HttpRequest request = With("User-Agent", "x");
  request.path = "/<script>";
  EXPECT_EQ(InternalError(request, "a & b").body, "Internal Server Error: \"/&lt;script&gt;\": a &amp; b\n");
  const net::HttpResponse forbidden = Forbidden(request, "a\"b\xff", "get", "/<x>", "no <way>");
  EXPECT_THAT(forbidden.body, testing::HasSubstr(R"(User \"a\\\"b\\xff\" cannot get path \"/&lt;x&gt;\": no <way>)"));
  EXPECT_EQ(forbidden.status, 403);
}

TEST(YamlDocumentTest, IsWhatKubernetesPrints) {
  Value document = Value::Object();
  document.Set("kind", Value::String("Status")).Set("code", Value::Int(403)).Set("details", Value::Object());
  document.Set("message", Value::String("forbidden: User \"it's\" cannot get"));
  document.Set("none", Value::String("")).Set("yes", Value::String("yes")).Set("number", Value::String("1.36"));
  document.Set("version", Value::String("1.36.4")).Set("line", Value::String("a\nb"));
  document.Set("time", Value::String("2026-11-15T22:45:13Z")).Set("dash", Value::String("- x"));
  document.Set("list", Value::Array({Value::String("/a"), Value::String("*")}));
  EXPECT_EQ(ToSortedYaml(document),
            "code: 403\n"
            "dash: '- x'\n"
            "details: {}\n"
            "kind: Status\n"
            "line: \"a\\u000ab\"\n"
            "list:\n"
            "- /a\n"
            "- '*'\n"
            "message: 'forbidden: User \"it''s\" cannot get'\n"
            "none: \"\"\n"
            "number: \"1.36\"\n"
            "time: \"2026-11-15T22:45:13Z\"\n"
            "version: 1.36.4\n"
            "'yes': 'yes'\n");
}

TEST(GoFloatTest, HasTheFewestDigits) {
  EXPECT_EQ(GoFloat(0), "0");
  EXPECT_EQ(GoFloat(1), "1");
  EXPECT_EQ(GoFloat(0.5), "0.5");
  EXPECT_EQ(GoFloat(123456), "123456");
  EXPECT_EQ(GoFloat(1234567), "1.234567e+06");
  EXPECT_EQ(GoFloat(1e6), "1e+06");
  EXPECT_EQ(GoFloat(0.0001), "0.0001");
  EXPECT_EQ(GoFloat(0.00001), "1e-05");
  EXPECT_EQ(GoFloat(1794782713.49), "1.79478271349e+09");
  EXPECT_EQ(GoFloat(-2.5), "-2.5");
}

TEST(GzipTest, IsUndoneByZlib) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}}) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>(i * i % 251);
    const std::string small = Gzip(text);
    ASSERT_FALSE(small.empty());
    std::string out(size + 1, '\0');
    z_stream stream = {};
    ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(small.data()));
    stream.avail_in = static_cast<uInt>(small.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    inflateEnd(&stream);
    EXPECT_EQ(out, text);
  }
}

}  // namespace
}  // namespace berth::serving
