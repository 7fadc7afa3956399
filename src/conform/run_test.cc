// SPDX-License-Identifier: Apache-2.0
// Every fault is found by the check that is named after it; an extender without fault is found without one.
#include "conform/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "conform/checks.h"
#include "conform/faulty_extender_test_util.h"
#include "net/tls_test_util.h"

namespace berth::conform {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Options OptionsFor(const std::string& url) {
  Options options;
  options.url = url;
  options.preempt_verb = "preempt";
  options.bind_verb = "bind";
  options.shapes = Shapes::kBoth;
  options.big_nodes = 200;
  options.timeout = Duration::Seconds(60);  // the latency check warns at half of it: no busy machine is that slow
  return options;
}

Report RunOn(const Options& options) {
  Result<Report> report = conform::Run(options);
  EXPECT_TRUE(report.ok()) << report.error().text();
  return report.ok() ? std::move(report).value() : Report();
}

const CheckResult* Find(const Report& report, const std::string& name) {
  const auto found = std::ranges::find(report.checks, name, &CheckResult::name);
  return found == report.checks.end() ? nullptr : &*found;
}

// "check: sentence" for every finding.
std::vector<std::string> Findings(const Report& report) {
  std::vector<std::string> all;
  for (const CheckResult& check : report.checks) {
    for (const Finding& finding : check.findings) all.push_back(check.name + ": " + finding.sentence);
  }
  return all;
}

TEST(ConformTest, AnExtenderWithoutFaultPassesEveryCheckInBothShapes) {
  const FaultyExtender extender(Fault::kNone);
  const Report report = RunOn(OptionsFor(extender.url()));
  EXPECT_THAT(report.unreachable, IsEmpty());
  EXPECT_THAT(Findings(report), IsEmpty());
  EXPECT_EQ(report.checks.size(), AllChecks().size());
  EXPECT_EQ(report.skipped(), 0U);
  EXPECT_TRUE(report.ok(/*strict=*/true));
  // Filter and prioritize small and big, preempt small, in both shapes.
  EXPECT_EQ(report.latencies.size(), 10U);
  const CheckResult* answers = Find(report, "filter.names.answers");
  ASSERT_NE(answers, nullptr);
  EXPECT_EQ(answers->verdict, "12 nodes: 11 pass, 1 fail");
  EXPECT_EQ(Find(report, "bind.answers")->verdict, "refuses a pod that does not exist: no such pod");
}

struct FaultCase {
  Fault fault;
  const char* check;
  Level level;
  const char* sentence;
  const char* path = "";
};

void PrintTo(const FaultCase& c, std::ostream* out) { *out << c.check << ": " << c.sentence; }

class FaultTest : public ::testing::TestWithParam<FaultCase> {};

TEST_P(FaultTest, IsFoundAndNamedByItsCheck) {
  const FaultCase& param = GetParam();
  const FaultyExtender extender(param.fault, param.path);
  Options options = OptionsFor(extender.url());
  for (const Check& other : AllChecks()) {
    if (other.name != param.check && !other.name.ends_with(".answers")) options.skip.push_back(other.name);
  }
  const Report report = RunOn(options);
  const CheckResult* check = Find(report, param.check);
  ASSERT_NE(check, nullptr);
  EXPECT_FALSE(check->skipped) << check->verdict;
  EXPECT_THAT(Findings(report), Contains(AllOf(HasSubstr(param.check), HasSubstr(param.sentence))));
  EXPECT_EQ(check->failed(), param.level == Level::kError);
  for (const Finding& finding : check->findings) {
    if (finding.received.empty()) continue;
    EXPECT_THAT(finding.sent, HasSubstr("/")) << "a finding shows what was sent";
  }
  EXPECT_FALSE(report.ok(/*strict=*/true));
}

constexpr Level kE = Level::kError, kW = Level::kWarning;

INSTANTIATE_TEST_SUITE_P(
    Answers, FaultTest,
    ::testing::Values(
        FaultCase{Fault::kNotFound, "filter.nodes.answers", kE, "answers 404", "filter"},
        FaultCase{Fault::kFails, "prioritize.names.answers", kE, "answers 500", "prioritize"},
        FaultCase{Fault::kFails, "preempt.nodes.answers", kE, "answers 500", "preempt"},
        FaultCase{Fault::kFails, "bind.answers", kW, "the place for it is Error", "bind"},
        FaultCase{Fault::kNotJson, "filter.names.answers", kE, "malformed JSON at line 1, column 1", "filter"},
        FaultCase{Fault::kNotJson, "bind.answers", kE, "cannot read", "bind"},
        FaultCase{Fault::kWrongTop, "prioritize.nodes.answers", kE, "not an array of {Host, Score}", "prioritize"},
        FaultCase{Fault::kWrongTop, "preempt.names.answers", kE, "not a JSON object", "preempt"},
        FaultCase{Fault::kSaysNothing, "filter.nodes.answers", kE, "says nothing about any of the 12 nodes", "filter"},
        FaultCase{Fault::kSaysNothing, "prioritize.names.answers", kE, "no node gets points", "prioritize"},
        FaultCase{Fault::kError, "filter.nodes.answers", kE, "Error \"not today\""},
        FaultCase{Fault::kTextScore, "prioritize.nodes.answers", kE, "Score"},
        FaultCase{Fault::kFractionalScore, "prioritize.names.answers", kE, "7.5: must be an integer"},
        FaultCase{Fault::kBrokenGzip, "prioritize.nodes.answers", kE, "gzip: it ends too early"},
        FaultCase{Fault::kLatin1, "filter.nodes.answers", kW, "kube-scheduler reads U+FFFD"},
        FaultCase{Fault::kHalfCharacter, "filter.names.answers", kW, "kube-scheduler reads U+FFFD"},
        FaultCase{Fault::kClaimsToBind, "bind.answers", kW, "bound a pod that does not exist"}));

INSTANTIATE_TEST_SUITE_P(
    Filter, FaultTest,
    ::testing::Values(
        FaultCase{Fault::kInventsNode, "filter.names.subset", kE, "passes \"a-node-of-mine\", which it was not asked"},
        FaultCase{Fault::kInventsNode, "filter.nodes.subset", kE, "does not notice and may choose it"},
        FaultCase{Fault::kRepeatsNode, "filter.names.subset", kW, "\"berth-conform-00000\" more than once"},
        FaultCase{Fault::kOtherKind, "filter.nodes.kind", kE, "no node passes"},
        FaultCase{Fault::kOtherKind, "filter.names.kind", kW, "as if they were empty of pods"},
        FaultCase{Fault::kForgetsNode, "filter.nodes.complete", kW, "neither passes nor fails \"berth-conform-00003\""},
        FaultCase{Fault::kPassesAndFails, "filter.names.complete", kW, "passes and fails"},
        FaultCase{Fault::kGivesNoReason, "filter.nodes.complete", kW, "without saying why"},
        FaultCase{Fault::kFailsStranger, "filter.nodes.complete", kW, "fails \"a-node-of-mine\""},
        FaultCase{Fault::kStripsNode, "filter.nodes.intact", kW, "(metadata.uid)"}));

INSTANTIATE_TEST_SUITE_P(
    Prioritize, FaultTest,
    ::testing::Values(
        FaultCase{Fault::kForgetsHost, "prioritize.nodes.hosts", kW, "gives \"berth-conform-00011\" no score"},
        FaultCase{Fault::kRepeatsHost, "prioritize.names.hosts", kW, "adds them up"},
        FaultCase{Fault::kInventsHost, "prioritize.names.hosts", kW, "which it was not asked about"},
        FaultCase{Fault::kHighScore, "prioritize.nodes.range", kW, "12 scores outside 0 to 10, for example 100"},
        FaultCase{Fault::kHugeScore, "prioritize.names.range", kE, "beyond what 64 bits hold"}));

INSTANTIATE_TEST_SUITE_P(
    Preempt, FaultTest,
    ::testing::Values(FaultCase{Fault::kInventsCandidate, "preempt.names.candidates", kE, "which was no candidate"},
                      FaultCase{Fault::kNullCandidate, "preempt.nodes.candidates", kE, "to null, which crashes"},
                      FaultCase{Fault::kOtherMap, "preempt.nodes.candidates", kE, "answers NodeNameToVictims"},
                      FaultCase{Fault::kNullVictim, "preempt.names.victims", kE, "null among the victims"},
                      FaultCase{Fault::kNoVictims, "preempt.nodes.victims", kE, "expected at least one victim pod"},
                      FaultCase{Fault::kInventsVictim, "preempt.names.victims", kE, "names the victim \"mine\""},
                      FaultCase{Fault::kRepeatsVictim, "preempt.nodes.victims", kE, "names a victim twice"},
                      FaultCase{Fault::kReordersVictims, "preempt.nodes.victims", kE, "reorders the victims"},
                      FaultCase{Fault::kForgetsBudgets, "preempt.names.victims", kW, "violated disruption budget"},
                      FaultCase{Fault::kGetsWorse, "preempt.names.victims", kE, "expected at least one victim pod"}));

INSTANTIATE_TEST_SUITE_P(
    Requests, FaultTest,
    ::testing::Values(
        FaultCase{Fault::kDice, "filter.nodes.determinism", kW, "asked again, it decides otherwise"},
        FaultCase{Fault::kFailsForOneNode, "filter.names.one-node", kE, "asked about one node alone, it answers 500"},
        FaultCase{Fault::kFailsForNoNode, "prioritize.nodes.empty-list", kW, "asked about no node, it answers 500"},
        FaultCase{Fault::kInventsForNoNode, "filter.names.empty-list", kE, "speaks of \"a-node-of-mine\""},
        FaultCase{Fault::kFailsForNull, "filter.nodes.nulls", kW, "kube-scheduler leaves them out"},
        FaultCase{Fault::kFailsForUnsetTime, "filter.names.nulls", kE, "null for the lastProbeTime of a condition, as"},
        FaultCase{Fault::kFailsForUnsetTime, "preempt.nodes.nulls", kE, "answers 500"},
        FaultCase{Fault::kFailsForNamelessImage, "prioritize.nodes.nulls", kE, "and the names of an image"},
        FaultCase{Fault::kLooksAtConditions, "filter.nodes.nulls", kW, "decides otherwise, no longer \"passes"},
        FaultCase{Fault::kExactKeys, "filter.names.key-case", kW, "nodeNames for NodeNames"},
        FaultCase{Fault::kExactKeys, "preempt.names.key-case", kW, "decides otherwise"},
        FaultCase{Fault::kStrictFields, "prioritize.names.unknown-fields", kE, "as a newer cluster sends them"},
        FaultCase{Fault::kFailsForUnknownNode, "filter.names.unknown-node", kW, "one node that it does not know"},
        FaultCase{Fault::kSmallBodies, "filter.nodes.big", kE, "asked about 200 nodes (1.6 MB), it answers 500"},
        FaultCase{Fault::kTires, "filter.nodes.latency", kE, "good answers it answers 503"}));

INSTANTIATE_TEST_SUITE_P(
    Server, FaultTest,
    ::testing::Values(
        FaultCase{Fault::kNoWayBack, "server.malformed-json", kE, "the request after an empty body: answers 500"},
        FaultCase{Fault::kTakesAnything, "server.malformed-json", kW, "text is taken for a request"},
        FaultCase{Fault::kAnyMethod, "server.wrong-method", kW, "GET is answered 200"},
        FaultCase{Fault::kAnyPath, "server.wrong-path", kW, "a misspelt verb"},
        FaultCase{Fault::kFussyAboutTypes, "server.content-type", kW, "text/plain makes it fail with 500"},
        FaultCase{Fault::kOldHttp, "server.keep-alive", kW, "gives one answer on a connection and no more"},
        FaultCase{Fault::kShouts, "server.keep-alive", kW, "gives one answer on a connection and no more"},
        FaultCase{Fault::kHangsUp, "server.keep-alive", kW, "gives one answer on a connection and no more"},
        FaultCase{Fault::kMixesUp, "server.concurrency", kE, "which another request asked about"}));

TEST(ConformTest, GzipIsAskedForAndReadAndNoOtherCoding) {
  for (const Fault fault : {Fault::kGzip, Fault::kOddCoding}) {
    const FaultyExtender extender(fault);
    Options options = OptionsFor(extender.url());
    options.skip = {"big", "latency", "server"};
    const Report report = RunOn(options);
    EXPECT_THAT(Findings(report), IsEmpty());
    EXPECT_FALSE(Find(report, "filter.nodes.subset")->skipped);
  }
}

TEST(ConformTest, NothingCheckedIsNotAPass) {
  const FaultyExtender extender(Fault::kNone);
  for (const std::vector<std::string>& skip :
       {std::vector<std::string>{"answers"}, {"filter", "prioritize", "preempt", "bind", "server"}}) {
    Options options = OptionsFor(extender.url());
    options.skip = skip;
    const Report report = RunOn(options);
    EXPECT_THAT(Findings(report), IsEmpty());
    EXPECT_EQ(report.skipped(), report.checks.size());
    EXPECT_FALSE(report.ok(/*strict=*/false));
    EXPECT_THAT(ToText(report, false, false), HasSubstr("FAIL  nothing was checked: "));
    EXPECT_THAT(ToJunit(report, false), HasSubstr("<failure message=\"nothing was checked\""));
    EXPECT_THAT(ToValue(report, false).ToJson(), HasSubstr("\"ok\":false"));
  }
}

TEST(ConformTest, WhoRefusesNodesThatAreMadeUpIsExplained) {
  const FaultyExtender extender(Fault::kError);
  Options options = OptionsFor(extender.url());
  options.skip = {"big", "latency", "server"};
  Report report = RunOn(options);
  EXPECT_FALSE(report.ok(false));
  EXPECT_THAT(report.hint, HasSubstr("--node-label KEY=VALUE"));
  EXPECT_THAT(ToText(report, false, false), HasSubstr(report.hint));
  EXPECT_THAT(ToValue(report, false).ToJson(), HasSubstr("--node-label KEY=VALUE"));
  options.node_labels = {{"wanted", "1"}};
  report = RunOn(options);
  EXPECT_FALSE(report.ok(false));
  EXPECT_EQ(report.hint, "") << "somebody knows that already";
}

TEST(ConformTest, AFaultOfEveryCandidateIsToldOnce) {
  const FaultyExtender extender(Fault::kForgetsBudgets);
  Options options = OptionsFor(extender.url());
  options.skip = {"filter", "prioritize", "server", "latency"};
  const Report report = RunOn(options);
  EXPECT_EQ(Find(report, "preempt.nodes.victims")->findings.size(), 1U);
}

TEST(ConformTest, AServerThatReadsOneRequestAfterTheOtherIsHeldUpByASlowClient) {
  const FaultyExtender extender(Fault::kOneAtATime);
  Options options = OptionsFor(extender.url());
  options.timeout = Duration::Seconds(2);
  options.skip = {"big", "latency", "preempt", "concurrency", "vanishing-client"};
  const Report report = RunOn(options);
  EXPECT_THAT(Findings(report),
              Contains(AllOf(HasSubstr("server.slow-client"),
                             HasSubstr("while one client is slow to send its request, it does not"))));
  EXPECT_THAT(Findings(report), Contains(HasSubstr("server.keep-alive: gives one answer on a connection")));
}

TEST(ConformTest, AServerThatDiesWithItsClientIsFound) {
  const FaultyExtender extender(Fault::kDiesWithItsClient);
  Options options = OptionsFor(extender.url());
  options.skip = {"big", "latency", "preempt", "concurrency", "slow-client"};
  const Report report = RunOn(options);
  EXPECT_THAT(Findings(report), Contains(AllOf(HasSubstr("server.vanishing-client"),
                                               HasSubstr("after clients have gone in mid-request, it does not"))));
}

TEST(ConformTest, OneShapeIsEnoughUnlessBothAreAskedFor) {
  const FaultyExtender extender(Fault::kNodesOnly);
  Options options = OptionsFor(extender.url());
  options.skip = {"server", "latency", "big"};
  options.shapes = Shapes::kAuto;
  const Report any = RunOn(options);
  EXPECT_TRUE(any.ok(/*strict=*/false));
  EXPECT_THAT(Findings(any),
              Contains(HasSubstr("filter.names.answers: serves whole nodes only (nodeCacheCapable: false)")));
  EXPECT_TRUE(Find(any, "filter.names.subset")->skipped);
  options.shapes = Shapes::kBoth;
  EXPECT_TRUE(Find(RunOn(options), "filter.names.answers")->failed());
  options.shapes = Shapes::kNodes;
  const Report nodes = RunOn(options);
  EXPECT_EQ(Find(nodes, "filter.names.answers"), nullptr);
  EXPECT_TRUE(nodes.ok(/*strict=*/true));
}

TEST(ConformTest, NamesOfAFileAreNotJoinedByNamesThatNoClusterHas) {
  const FaultyExtender extender(Fault::kFailsForMadeUpNames);
  Options options = OptionsFor(extender.url());
  options.skip = {"latency", "server.slow-client"};
  for (const char* name : {"own-0", "own-1", "own-2", "own-3"}) {
    options.nodes.push_back({name, R"({"metadata":{"name":")" + std::string(name) + "\"}}"});
  }
  const Report report = RunOn(options);
  EXPECT_TRUE(report.ok(/*strict=*/false)) << ::testing::PrintToString(Findings(report));
  EXPECT_THAT(Find(report, "filter.names.big")->verdict, HasSubstr("4 nodes, "));
  EXPECT_THAT(Find(report, "prioritize.nodes.big")->verdict, HasSubstr("200 nodes, "));
  EXPECT_TRUE(Find(report, "filter.names.unknown-node")->warned()) << "that is where such names belong";
}

TEST(ConformTest, AVerbThatIsNotNamedIsNotAsked) {
  const FaultyExtender extender(Fault::kFails, "bind");
  Options options;
  options.url = extender.url();
  options.skip = {"server", "latency", "big"};
  const Report report = RunOn(options);
  EXPECT_EQ(Find(report, "bind.answers"), nullptr);
  EXPECT_EQ(Find(report, "preempt.nodes.answers"), nullptr);
  EXPECT_TRUE(report.ok(true));
}

TEST(ConformTest, WhatIsSkippedIsNotAsked) {
  const FaultyExtender extender(Fault::kFails, "filter");
  Options options = OptionsFor(extender.url());
  options.skip = {"filter", "big", "latency", "server.slow-client", "prioritize.names"};
  const Report report = RunOn(options);
  EXPECT_THAT(Findings(report), IsEmpty());
  for (const char* name : {"filter.nodes.answers", "filter.names.subset", "prioritize.nodes.big", "server.slow-client",
                           "prioritize.names.hosts"}) {
    ASSERT_NE(Find(report, name), nullptr) << name;
    EXPECT_TRUE(Find(report, name)->skipped) << name;
  }
  EXPECT_FALSE(Find(report, "prioritize.nodes.hosts")->skipped);
}

TEST(ConformTest, AWordThatNamesNoCheckIsRefused) {
  Options options = OptionsFor("http://127.0.0.1:1");
  options.skip = {"latencies"};
  const Result<Report> report = conform::Run(options);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().text(), HasSubstr("\"latencies\""));
}

TEST(ConformTest, WithoutAVerbThereIsNothingToCheck) {
  Options options;
  options.url = "http://127.0.0.1:1";
  options.filter_verb = options.prioritize_verb = "";
  EXPECT_FALSE(conform::Run(options).ok());
}

TEST(ConformTest, AnExtenderThatNobodyStartedIsUnreachable) {
  const Report report = RunOn(OptionsFor("http://127.0.0.1:1"));
  EXPECT_THAT(report.unreachable, HasSubstr("refused"));
  EXPECT_THAT(report.checks, IsEmpty());
  EXPECT_FALSE(report.ok(false));
}

TEST(ConformTest, AServerThatIsNoExtenderFailsEveryVerb) {
  auto server = net::HttpServer::Start({}, [](const net::HttpRequest&, const net::Respond& respond) {
    respond({404, "text/html", "<h1>welcome</h1>", {}});
  });
  ASSERT_TRUE(server.ok());
  const Report report = RunOn(OptionsFor("http://127.0.0.1:" + std::to_string((*server)->port())));
  EXPECT_THAT(report.unreachable, IsEmpty());
  EXPECT_EQ(report.failed(), 6U);
  EXPECT_EQ(report.warned(), 1U) << "bind";
  EXPECT_TRUE(Find(report, "server.malformed-json")->skipped);
}

TEST(ConformTest, CertificatesOfBothSidesAreUsed) {
  const net::TestFolder folder;
  const net::TestIdentity authority = net::MakeIdentity("authority");
  const net::TestIdentity server = net::MakeIdentity("server", "IP:127.0.0.1", &authority);
  const net::TestIdentity client = net::MakeIdentity("client", "", &authority);
  net::TlsOptions tls;
  tls.certificate_file = folder.Write("server.pem", server.certificate_pem);
  tls.key_file = folder.Write("server.key", server.key_pem);
  tls.client_ca_file = folder.Write("ca.pem", authority.certificate_pem);
  const FaultyExtender extender(Fault::kNone, "", &tls);
  Options options = OptionsFor(extender.url());
  options.skip = {"big", "latency", "malformed-json"};
  EXPECT_THAT(RunOn(options).unreachable, HasSubstr("certificate"));
  options.tls.ca_file = tls.client_ca_file;
  options.tls.certificate_file = folder.Write("client.pem", client.certificate_pem);
  options.tls.key_file = folder.Write("client.key", client.key_pem);
  const Report report = RunOn(options);
  EXPECT_THAT(report.unreachable, IsEmpty());
  EXPECT_THAT(Findings(report), IsEmpty());
}

}  // namespace
}  // namespace berth::conform
