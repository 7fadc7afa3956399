// SPDX-License-Identifier: Apache-2.0
// kube-scheduler's command line. Texts of errors are those of kube-scheduler v1.36.4.
#include "cli/scheduler_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/run_scheduler.h"
#include "config/feature_gates.h"

namespace berth::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string ErrorOf(const std::vector<std::string>& args) {
  const Result<SchedulerFlags> flags = ParseSchedulerFlags(args);
  return flags.ok() ? "" : flags.error().text();
}

SchedulerFlags Parse(const std::vector<std::string>& args) {
  Result<SchedulerFlags> flags = ParseSchedulerFlags(args);
  EXPECT_TRUE(flags.ok()) << flags.error().text();
  return flags.ok() ? std::move(flags).value() : SchedulerFlags();
}

std::string Shown(const SchedulerFlags& flags, const std::string& name) {
  for (const FlagValue& value : flags.values)
    if (value.name == name) return value.value;
  return "there is none";
}

struct Observed {
  std::string name, type, standard, note;
};
std::vector<Observed> ReadObserved() {
  std::vector<Observed> flags;
  std::ifstream in(BERTH_OBSERVED "/flags.txt");
  std::string line;
  std::getline(in, line);  // the head
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Observed flag;
    fields >> flag.name >> flag.type >> flag.standard >> flag.note;
    flags.push_back(flag);
  }
  return flags;
}

TEST(SchedulerFlagsTest, TheHelpHasKubeSchedulersFlagsInItsOrderWithItsTypesAndDefaults) {
  std::vector<std::string> lines;
  std::istringstream help(SchedulerUsage("kube-scheduler"));
  for (std::string line; std::getline(help, line);)
    if (line.starts_with("      --") || line.starts_with("  -")) lines.push_back(line);
  const std::vector<Observed> observed = ReadObserved();
  ASSERT_EQ(observed.size(), 62u);
  ASSERT_EQ(lines.size(), observed.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const Observed& flag = observed[i];
    std::string head = flag.name == "v" ? "  -v, --v" : flag.name == "help" ? "  -h, --help" : "      --" + flag.name;
    if (flag.type != "bool") head += " " + flag.type;
    EXPECT_THAT(lines[i], StartsWith(head + "  ")) << flag.name;
    const size_t at = lines[i].find(" (default ");
    EXPECT_EQ(at == std::string::npos ? "-" : lines[i].substr(at + 10, lines[i].size() - at - 11), flag.standard)
        << flag.name;
    EXPECT_EQ(lines[i].find("DEPRECATED: ") != std::string::npos, flag.note == "DEPRECATED") << flag.name;
  }
}

TEST(SchedulerFlagsTest, TheHelpHasKubeSchedulersSections) {
  const std::string help = SchedulerHelp("kube-scheduler");
  EXPECT_THAT(help, HasSubstr("\n\nUsage:\n  kube-scheduler [flags]\n\nMisc flags:\n\n      --config string  "));
  size_t at = 0;
  for (const char* section : {"Misc", "Secure serving", "Authentication", "Authorization", "Deprecated",
                              "Leader election", "Feature gate", "Metrics", "Logs", "Global"}) {
    at = help.find("\n\n" + std::string(section) + " flags:\n\n", at);
    EXPECT_NE(at, std::string::npos) << section;
  }
  size_t gates = 0;
  for (size_t from = help.find("kube:"); from != std::string::npos; from = help.find("kube:", from + 1)) ++gates;
  EXPECT_EQ(gates, 149u);
  EXPECT_THAT(help, HasSubstr("kube:SchedulerAsyncAPICalls=true|false (BETA - default=false)\n"));
}

TEST(SchedulerFlagsTest, DefaultsAreKubeSchedulers) {
  const SchedulerFlags flags = Parse({});
  EXPECT_EQ(flags.serving.bind_address, "0.0.0.0");
  EXPECT_EQ(flags.serving.secure_port, 10259);
  EXPECT_TRUE(flags.serving.authentication_tolerate_lookup_failure);
  EXPECT_THAT(flags.serving.authorization_always_allow_paths, ElementsAre("/healthz", "/readyz", "/livez"));
  EXPECT_EQ(flags.deprecated.pod_max_in_unschedulable_pods, Duration::Seconds(300));
  EXPECT_EQ(flags.reported_version, "v1.36.4");
  EXPECT_EQ(flags.values.size(), 62u);
  for (const FlagValue& flag : flags.values) EXPECT_FALSE(flags.Given(flag.name)) << flag.name;
  // As FLAG lines of a running one show them, where they are not plain.
  EXPECT_EQ(Shown(flags, "allow-metric-labels"), "[]");
  EXPECT_EQ(Shown(flags, "emulated-version"), "[]");
  EXPECT_EQ(Shown(flags, "feature-gates"), "");
  EXPECT_EQ(Shown(flags, "kube-api-qps"), "50");
  EXPECT_EQ(Shown(flags, "log-json-info-buffer-size"), "0");
  EXPECT_EQ(Shown(flags, "pod-max-in-unschedulable-pods-duration"), "5m0s");
  EXPECT_EQ(Shown(flags, "requestheader-extra-headers-prefix"), "[x-remote-extra-]");
  EXPECT_EQ(Shown(flags, "tls-sni-cert-key"), "[]");
  EXPECT_EQ(Shown(flags, "version"), "false");
}

TEST(SchedulerFlagsTest, EverySpellingOfAFlagIsRead) {
  const SchedulerFlags flags =
      Parse({"--secure_port", "0b11", "--leader-elect=F", "-v2", "--leader-elect-retry-period", "1m30s", "--profiling",
             "--kube-api-qps=1e3", "--kube-api-burst=0x10", "", "--", ""});
  EXPECT_EQ(flags.serving.secure_port, 3);
  EXPECT_FALSE(flags.leader_election.leader_elect);
  EXPECT_EQ(flags.logs.verbosity, 2u);
  EXPECT_EQ(flags.leader_election.retry_period, Duration::Seconds(90));
  EXPECT_EQ(flags.deprecated.qps, 1000.0F);
  EXPECT_EQ(flags.deprecated.burst, 16);
  EXPECT_TRUE(flags.Given("secure-port"));
  EXPECT_TRUE(flags.Given("profiling"));
  EXPECT_FALSE(flags.Given("contention-profiling"));
  EXPECT_THAT(flags.arguments, ElementsAre("", ""));
  EXPECT_EQ(Shown(flags, "kube-api-burst"), "16");
  EXPECT_EQ(Shown(flags, "leader-elect-retry-period"), "1m30s");
  EXPECT_EQ(Parse({"-v", "4"}).logs.verbosity, 4u);
  EXPECT_EQ(Parse({"-v=5", "-v", "6"}).logs.verbosity, 6u);
  EXPECT_TRUE(Parse({"-hv3"}).help);
  EXPECT_THAT(Parse({"a", "--help", "--", "--nope"}).arguments, ElementsAre("a", "--nope"));
  EXPECT_THAT(Parse({"-"}).arguments, ElementsAre("-"));
}

TEST(SchedulerFlagsTest, ListsAndMapsTakeThePlaceOfTheirDefaultAndGrow) {
  const SchedulerFlags flags =
      Parse({"--requestheader-username-headers=", "--authorization-always-allow-paths=/a,/b",
             "--authorization-always-allow-paths", "\"/c,d\"", "--tls-curve-preferences=29,23",
             "--tls-curve-preferences=24", "--allow-metric-labels=m,l=a,b", "--allow-metric-labels",
             "\"n,l=c\",\"o,l=d\"", "--tls-sni-cert-key=a,b:foo,*.bar", "--tls-sni-cert-key= c , d "});
  EXPECT_THAT(flags.serving.requestheader.user, IsEmpty());
  EXPECT_THAT(flags.serving.authorization_always_allow_paths, ElementsAre("/a", "/b", "/c,d"));
  EXPECT_EQ(Shown(flags, "authorization-always-allow-paths"), "[/a,/b,\"/c,d\"]");
  EXPECT_THAT(flags.serving.tls_curve_preferences, ElementsAre(29, 23, 24));
  EXPECT_EQ(Shown(flags, "tls-curve-preferences"), "[29,23,24]");
  EXPECT_EQ(flags.metrics.allow_labels.at("m,l"), "a,b");
  EXPECT_EQ(Shown(flags, "allow-metric-labels"), "[\"m,l=a,b\",\"n,l=c\",\"o,l=d\"]");
  ASSERT_EQ(flags.serving.tls_sni_cert_keys.size(), 2u);
  EXPECT_THAT(flags.serving.tls_sni_cert_keys[0].names, ElementsAre("foo", "*.bar"));
  EXPECT_EQ(flags.serving.tls_sni_cert_keys[1].key_file, "d");
  EXPECT_EQ(Shown(flags, "tls-sni-cert-key"), "[a,b:foo,*.bar;c,d]");
}

TEST(SchedulerFlagsTest, AddressesAreMadeNormal) {
  EXPECT_EQ(Parse({"--bind-address= 127.0.0.1 "}).serving.bind_address, "127.0.0.1");
  EXPECT_EQ(Parse({"--bind-address="}).serving.bind_address, "0.0.0.0");
  EXPECT_EQ(Parse({"--bind-address=::ffff:1.2.3.4"}).serving.bind_address, "1.2.3.4");
  EXPECT_EQ(Parse({"--bind-address=0:0::1"}).serving.bind_address, "::1");
}

TEST(SchedulerFlagsTest, TheVersionIsAskedForOrGiven) {
  EXPECT_EQ(Parse({"--version"}).version, VersionWish::kShort);
  EXPECT_EQ(Parse({"--version=raw"}).version, VersionWish::kRaw);
  EXPECT_EQ(Parse({"--version", "--version=false"}).version, VersionWish::kNone);
  const SchedulerFlags flags = Parse({"--version=v1.36.4-foo"});
  EXPECT_EQ(flags.version, VersionWish::kNone);
  EXPECT_EQ(flags.reported_version, "v1.36.4-foo");
  EXPECT_EQ(Shown(flags, "version"), "v1.36.4-foo");
}

TEST(SchedulerFlagsTest, FilesMayHaveAVerbosityOfTheirOwn) {
  const SchedulerFlags flags = Parse({"--vmodule=a*=2,,b/c=3", "--vmodule=d=4"});
  ASSERT_EQ(flags.logs.vmodule.size(), 3u);
  EXPECT_EQ(flags.logs.vmodule[0].pattern, "a*");
  EXPECT_EQ(flags.logs.vmodule[2].verbosity, 4);
  EXPECT_EQ(Shown(flags, "vmodule"), "a*=2,b/c=3,d=4");
}

TEST(SchedulerFlagsTest, WhatIsWrongIsSaidInPflagsWords) {
  const struct {
    std::vector<std::string> args;
    const char* want;
  } cases[] = {
      {{"--nope"}, "unknown flag: --nope"},
      {{"--nope=1"}, "unknown flag: --nope"},
      {{"--foo_bar"}, "unknown flag: --foo_bar"},
      {{"--versio"}, "unknown flag: --versio"},
      {{"-x"}, "unknown shorthand flag: 'x' in -x"},
      {{"-xyz"}, "unknown shorthand flag: 'x' in -xyz"},
      {{"-v"}, "flag needs an argument: 'v' in -v"},
      {{"-hv"}, "flag needs an argument: 'v' in -v"},
      {{"--config"}, "flag needs an argument: --config"},
      {{"--=x"}, "bad flag syntax: --=x"},
      {{"---x"}, "bad flag syntax: ---x"},
      {{"--secure_port=x"},
       "invalid argument \"x\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"x\": invalid syntax"},
      {{"--secure-port=99999999999999999999"},
       "invalid argument \"99999999999999999999\" for \"--secure-port\" flag: strconv.ParseInt: parsing "
       "\"99999999999999999999\": value out of range"},
      {{"--leader-elect=maybe"},
       "invalid argument \"maybe\" for \"--leader-elect\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax"},
      {{"--help=maybe"},
       "invalid argument \"maybe\" for \"-h, --help\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax"},
      {{"--leader-elect-lease-duration=5"},
       "invalid argument \"5\" for \"--leader-elect-lease-duration\" flag: time: missing unit in duration \"5\""},
      {{"--bind-address=foo"}, "invalid argument \"foo\" for \"--bind-address\" flag: failed to parse IP: \"foo\""},
      {{"--bind-address=127.0.0.01"},
       "invalid argument \"127.0.0.01\" for \"--bind-address\" flag: failed to parse IP: \"127.0.0.01\""},
      {{"--kube-api-burst=3000000000"},
       "invalid argument \"3000000000\" for \"--kube-api-burst\" flag: strconv.ParseInt: parsing \"3000000000\": value "
       "out of range"},
      {{"--kube-api-qps=1e50"},
       "invalid argument \"1e50\" for \"--kube-api-qps\" flag: strconv.ParseFloat: parsing \"1e50\": value out of "
       "range"},
      {{"--tls-curve-preferences=x"},
       "invalid argument \"x\" for \"--tls-curve-preferences\" flag: strconv.ParseInt: parsing \"x\": invalid syntax"},
      {{"--tls-sni-cert-key=a"},
       "invalid argument \"a\" for \"--tls-sni-cert-key\" flag: expected comma separated certificate and key file "
       "paths"},
      {{"--tls-sni-cert-key=a,b:"},
       "invalid argument \"a,b:\" for \"--tls-sni-cert-key\" flag: empty names list is not allowed"},
      {{"--allow-metric-labels=foo"},
       "invalid argument \"foo\" for \"--allow-metric-labels\" flag: foo must be formatted as key=value"},
      {{"--allow-metric-labels=a,b=c,=d"},
       "invalid argument \"a,b=c,=d\" for \"--allow-metric-labels\" flag: a must be formatted as key=value"},
      {{"--disabled-metrics=a\"b"},
       "invalid argument \"a\\\"b\" for \"--disabled-metrics\" flag: parse error on line 1, column 2: bare \" in "
       "non-quoted-field"},
      {{"-vx"}, "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"x\": invalid syntax"},
      {{"--v=-1"}, "invalid argument \"-1\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"-1\": invalid syntax"},
      {{"-v=3000000000"},
       "invalid argument \"3000000000\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"3000000000\": value out of "
       "range"},
      {{"--vmodule=a"}, "invalid argument \"a\" for \"--vmodule\" flag: \"a\" does not have the pattern=N format"},
      {{"--vmodule=a=-1"},
       "invalid argument \"a=-1\" for \"--vmodule\" flag: parsing verbosity in \"a=-1\": strconv.ParseUint: parsing "
       "\"-1\": invalid syntax"},
      {{"--log-text-info-buffer-size=abc"},
       "invalid argument \"abc\" for \"--log-text-info-buffer-size\" flag: quantities must match the regular "
       "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {{"--version=foo"},
       "invalid argument \"foo\" for \"--version\" flag: strconv.ParseBool: parsing \"foo\": invalid syntax"},
      {{"--version=v1.36.5"},
       "invalid argument \"v1.36.5\" for \"--version\" flag: version \"v1.36.5\" must match major/minor/patch of "
       "default version \"v1.36.4\""},
  };
  for (const auto& c : cases) EXPECT_EQ(ErrorOf(c.args), c.want) << c.args[0];
}

TEST(SchedulerFlagsTest, NoFlagThatIsThereForSecurityIsWithoutEffect) {
  const SchedulerFlags flags = Parse({});
  for (const std::string_view name : FlagsWithoutEffect()) {
    EXPECT_FALSE(flags.Given(name)) << "and there is one of that name";
    for (const char* part : {"tls", "cert", "auth", "client-ca", "requestheader", "bind-address", "port", "kubeconfig"})
      EXPECT_EQ(name.find(part), std::string_view::npos) << name;
  }
}

TEST(SchedulerFlagsTest, WhatHasNoEffectIsInCompatibility) {
  std::ifstream in(BERTH_OBSERVED "/../../COMPATIBILITY.md");
  std::ostringstream text;
  text << in.rdbuf();
  for (const std::string_view flag : FlagsWithoutEffect())
    EXPECT_THAT(text.str(), HasSubstr("`--" + std::string(flag) + "`"));
  for (const config::FeatureGate& gate : config::AllFeatureGates()) {
    const config::GateSupport support = config::SupportOf(gate);
    const bool own = gate.effect == config::GateEffect::kProcess || gate.effect == config::GateEffect::kClient;
    if (own && support != config::GateSupport::kNotOurs) {
      EXPECT_THAT(text.str(), HasSubstr("`" + std::string(gate.name) + "`"));
    }
  }
}

TEST(SchedulerFlagsTest, CallsOfExtendersAtATimeAreOurOwnFlag) {
  EXPECT_THAT(Parse({}).own.extender_calls, IsEmpty());
  const SchedulerFlags flags = Parse({"--extender-calls-at-a-time=0=4,2=64", "--extender-calls-at-a-time", "1=1"});
  EXPECT_THAT(flags.own.extender_calls,
              ElementsAre(::testing::Pair(0, 4), ::testing::Pair(1, 1), ::testing::Pair(2, 64)));
  EXPECT_EQ(Shown(flags, "extender-calls-at-a-time"), "0=4,1=1,2=64");
  EXPECT_TRUE(flags.Given("extender-calls-at-a-time"));
  EXPECT_THAT(flags.old.given, IsEmpty());
  EXPECT_EQ(Shown(Parse({}), "extender-calls-at-a-time"), "there is none") << "where kube-scheduler lists its own";
  EXPECT_THAT(SchedulerHelp("berth scheduler"),
              HasSubstr("\n\nBerth flags:\n\n      --extender-calls-at-a-time INDEX=N,...  "));
  EXPECT_THAT(SchedulerHelp("kube-scheduler"), ::testing::Not(HasSubstr("extender-calls")));
}

TEST(SchedulerFlagsTest, HowLongPodsOfAStreamWaitIsOurOwnFlag) {
  EXPECT_EQ(Parse({}).own.gather_pods.ns, Duration::Millis(100).ns);
  const SchedulerFlags flags = Parse({"--gather-pods=0"});
  EXPECT_EQ(flags.own.gather_pods.ns, 0);
  EXPECT_EQ(Shown(flags, "gather-pods"), "0s");
  EXPECT_THAT(flags.old.given, IsEmpty());
  EXPECT_EQ(Parse({"--gather-pods", "500ms"}).own.gather_pods.ns, Duration::Millis(500).ns);
  EXPECT_THAT(SchedulerHelp("berth scheduler"), HasSubstr("--gather-pods duration"));
  EXPECT_THAT(SchedulerHelp("kube-scheduler"), ::testing::Not(HasSubstr("gather-pods")));
  for (const std::string value : {"501ms", "-1ms", "2h"}) {
    const auto parsed = ParseSchedulerFlags({"--gather-pods=" + value});
    ASSERT_FALSE(parsed.ok()) << value;
    EXPECT_THAT(parsed.error().text(), HasSubstr("\"" + value + "\": must be from 0 to 500ms"));
  }
  EXPECT_FALSE(ParseSchedulerFlags({"--gather-pods=soon"}).ok());
  LoadedScheduler loaded;
  loaded.flags = Parse({"--gather-pods=50ms"});
  EXPECT_EQ(ProcessOptionsOf(loaded, Registry()).gather.ns, Duration::Millis(50).ns);
}

TEST(SchedulerFlagsTest, WhatIsWrongWithCallsOfExtendersIsNamed) {
  const std::string form = ": must be INDEX=N, the place of an extender in the configuration, from 0, and a number";
  const struct {
    const char* value;
    std::string error;
  } cases[] = {
      {"4", "\"4\"" + form},
      {"", "\"\"" + form},
      {"0=", "\"0=\"" + form},
      {"=4", "\"=4\"" + form},
      {"-1=4", "\"-1=4\"" + form},
      {"0=x", "\"0=x\"" + form},
      {"0=1=2", "\"0=1=2\"" + form},
      {"0=2,", "\"\"" + form},
      {"99999999999=1", "\"99999999999=1\"" + form},
      {"0=0", "\"0=0\": must be from 1 to 64"},
      {"0=65", "\"0=65\": must be from 1 to 64"},
      {"0=1,0=2", "\"0=2\": this extender was given before"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ErrorOf({std::string("--extender-calls-at-a-time=") + c.value}),
              "invalid argument \"" + std::string(c.value) + "\" for \"--extender-calls-at-a-time\" flag: " + c.error);
  }
}

}  // namespace
}  // namespace berth::cli
