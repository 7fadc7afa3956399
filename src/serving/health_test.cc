// SPDX-License-Identifier: Apache-2.0
#include "serving/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::serving {
namespace {

HealthCheck Passing(const std::string& name) {
  return {name, [] { return Error::Ok(); }};
}
HealthCheck Failing(const std::string& name, const std::string& why) {
  return {name, [why] { return Error(why); }};
}

std::string Ask(const HealthEndpoint& endpoint, const std::string& path, const std::string& query = "") {
  const auto response = endpoint.Handle(path, query);
  if (!response) return "not ours";
  const std::string* nosniff = response->headers.Find("X-Content-Type-Options");
  return std::to_string(response->status) + (nosniff != nullptr ? " nosniff " : " ") + response->body;
}

TEST(HealthEndpointTest, PassesAndTellsMoreWhenAsked) {
  HealthRecord record(Time{});
  const HealthEndpoint ready("readyz", {Passing("leaderElection"), Passing("shutdown"), Passing("sched-handler-sync")},
                             record);
  EXPECT_EQ(Ask(ready, "/readyz"), "200 nosniff ok");
  EXPECT_EQ(Ask(ready, "/readyz", "verbose"),
            "200 nosniff [+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n");
  EXPECT_EQ(
      Ask(ready, "/readyz", "verbose=0&exclude=shutdown"),
      "200 nosniff [+]leaderElection ok\n[+]shutdown excluded: ok\n[+]sched-handler-sync ok\nreadyz check passed\n");
  EXPECT_EQ(Ask(ready, "/readyz", "verbose&exclude=x&exclude=a%22"),
            "200 nosniff [+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\n"
            "warn: some health checks cannot be excluded: no matches for \"a\\\"\",\"x\"\nreadyz check passed\n");
  EXPECT_EQ(Ask(ready, "/readyz/shutdown"), "200 ok");
  for (const char* other : {"/readyz/", "/readyz/none", "/readyzz", "/ready", "", "/", "readyz"})
    EXPECT_EQ(Ask(ready, other), "not ours") << other;
}

TEST(HealthEndpointTest, AFailureIsNamedAndItsReasonWithheld) {
  HealthRecord record(Time{});
  std::string told;
  const HealthEndpoint ready(
      "readyz", {Failing("a", "secret"), Passing("b"), Failing("c", "other")}, record,
      [&](const std::string& checks, const std::string& reasons) { told = checks + ": " + reasons; });
  EXPECT_EQ(Ask(ready, "/readyz"),
            "500 nosniff [-]a failed: reason withheld\n[+]b ok\n[-]c failed: reason withheld\nreadyz check failed\n");
  EXPECT_EQ(told, "a,c: [-]a failed: secret\n[-]c failed: other\n");
  EXPECT_EQ(Ask(ready, "/readyz", "exclude=a&exclude=c"), "200 nosniff ok");
  EXPECT_EQ(Ask(ready, "/readyz/a"), "500 nosniff internal server error: secret\n");
}

TEST(HealthEndpointTest, WithoutChecksItPings) {
  HealthRecord record(Time{});
  const HealthEndpoint live("livez", {}, record);
  EXPECT_EQ(Ask(live, "/livez", "verbose"), "200 nosniff [+]ping ok\nlivez check passed\n");
  EXPECT_EQ(Ask(live, "/livez/ping"), "200 ok");
}

TEST(HealthRecordTest, CountsWhatWasAsked) {
  HealthRecord record(Time{1'794'782'713'490'000'000});
  const std::string start =
      "# HELP process_start_time_seconds [ALPHA] Start time of the process since unix epoch in seconds.\n"
      "# TYPE process_start_time_seconds gauge\n"
      "process_start_time_seconds 1.79478271349e+09\n";
  EXPECT_EQ(record.Text(), start);
  bool good = true;
  const HealthEndpoint ready("readyz", {{"x", [&] { return good ? Error::Ok() : Error("no"); }}}, record);
  Ask(ready, "/readyz");
  Ask(ready, "/readyz");
  good = false;
  Ask(ready, "/readyz");
  Ask(ready, "/readyz", "exclude=x");
  Ask(ready, "/readyz/x");
  EXPECT_EQ(record.Text(),
            "# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.\n"
            "# TYPE kubernetes_healthcheck gauge\n"
            "kubernetes_healthcheck{name=\"x\",type=\"readyz\"} 0\n"
            "# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.\n"
            "# TYPE kubernetes_healthchecks_total counter\n"
            "kubernetes_healthchecks_total{name=\"x\",status=\"error\",type=\"readyz\"} 1\n"
            "kubernetes_healthchecks_total{name=\"x\",status=\"success\",type=\"readyz\"} 2\n" +
                start);
  record.Reset();
  EXPECT_EQ(record.Text(), start);
}

TEST(HealthTest, NotesChangeNothingButAVerboseAnswer) {
  HealthRecord record(Time{});
  const HealthEndpoint ready("readyz", {Passing("a")}, record, nullptr, [] { return "[~]x failing\n"; });
  EXPECT_EQ(Ask(ready, "/readyz"), "200 nosniff ok");
  EXPECT_EQ(Ask(ready, "/readyz", "verbose"), "200 nosniff [+]a ok\n[~]x failing\nreadyz check passed\n");
}

}  // namespace
}  // namespace berth::serving
