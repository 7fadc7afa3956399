// SPDX-License-Identifier: Apache-2.0
// `berth scheduler` up to the start of the process. Texts are those of kube-scheduler v1.36.4 unless a comment says
// otherwise.
#include "cli/scheduler_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

struct Ran {
  int code = 0;
  std::string out, err;
};

class SchedulerCommandTest : public ::testing::Test {
 protected:
  SchedulerCommandTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    folder_ =
        (std::filesystem::temp_directory_path() / "berth_scheduler_command_test").string() + std::to_string(::getpid());
    std::filesystem::create_directory(folder_);
    kubeconfig_ = Write("scheduler.conf",
                        "apiVersion: v1\nkind: Config\n"
                        "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:1\"}}]\n"
                        "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                        "users: [{name: u, user: {}}]\ncurrent-context: c\n");
    ::unsetenv("KUBERNETES_SERVICE_HOST");
  }
  ~SchedulerCommandTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  static std::string Read(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  Ran Run(const std::vector<std::string>& args) {
    std::ostringstream out, err;
    Ran ran;
    started_ = false;
    ran.code = SchedulerCommand(args, "kube-scheduler", registry_, out, err, -1,
                                [&](const LoadedScheduler& loaded, const Registry&, util::Log&) {
                                  loaded_ = loaded;
                                  started_ = true;
                                  return 7;
                                });
    ran.out = out.str();
    ran.err = err.str();
    return ran;
  }
  // With an API server named, and further flags. What it failed with; empty: the process was started.
  std::string Failure(std::vector<std::string> args) {
    args.push_back("--kubeconfig=" + kubeconfig_);
    const Ran ran = Run(args);
    EXPECT_EQ(ran.code, started_ ? 7 : 1) << ran.err;
    if (started_) return "";
    const std::string head = "] \"command failed\" err=\"";
    const size_t at = ran.err.find(head);
    if (at == std::string::npos) return ran.err;
    EXPECT_THAT(ran.err, MatchesRegex("([IW][^\n]*\n)*E[^\n]*\n"));
    return ran.err.substr(at + head.size(), ran.err.size() - at - head.size() - 2);
  }

  Registry registry_;
  std::string folder_, kubeconfig_;
  LoadedScheduler loaded_;
  bool started_ = false;
};

TEST_F(SchedulerCommandTest, HelpGoesToStandardOutput) {
  const Ran ran = Run({"surplus", "--help"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("Usage:\n  kube-scheduler [flags]\n"));
  EXPECT_EQ(ran.err, "");
}

TEST_F(SchedulerCommandTest, AWrongFlagGetsTheUsageAndTheError) {
  const Ran ran = Run({"--nope"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, AllOf(StartsWith("Usage:\n  kube-scheduler [flags]\n\nMisc flags:\n"),
                             EndsWith("\n\nError: unknown flag: --nope\n")));
}

TEST_F(SchedulerCommandTest, ArgumentsAreRefused) {
  const Ran ran = Run({"--leader-elect", "extra", "", "b\"c"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "Error: \"kube-scheduler\" does not take any arguments, got [\"extra\" \"\" \"b\\\"c\"]\n");
}

TEST_F(SchedulerCommandTest, TheVersionIsThatOfTheReleaseThatIsMatched) {
  EXPECT_EQ(Run({"--version"}).out, "Kubernetes v1.36.4\n");
  EXPECT_THAT(Run({"--version=raw"}).out,
              AllOf(StartsWith("version.Info{Major:\"1\", Minor:\"36\", EmulationMajor:\"\""),
                    HasSubstr("GitVersion:\"v1.36.4\""), EndsWith("\"}\n")));
  EXPECT_EQ(Run({"--version=v1.36.4-foo", "--version"}).out, "Kubernetes v1.36.4-foo\n");
  EXPECT_EQ(Failure({"--version=v1.36.4-foo"}), "");
  EXPECT_EQ(loaded_.flags.reported_version, "v1.36.4-foo");
  // Gates are read before.
  EXPECT_EQ(Failure({"--version", "--feature-gates=Foo=true"}), "unrecognized feature gate: Foo");
}

TEST_F(SchedulerCommandTest, GatesAreReadBeforeTheLogAndKeptForTheProcess) {
  EXPECT_EQ(Failure({"--feature-gates=Foo=true", "--logging-format=json"}), "unrecognized feature gate: Foo");
  // Ours.
  EXPECT_THAT(Failure({"--feature-gates=SchedulerAsyncAPICalls=true"}),
              HasSubstr("feature gate SchedulerAsyncAPICalls=true is not supported"));
  EXPECT_EQ(Failure({"--feature-gates=ComponentFlagz=false"}), "");
  EXPECT_FALSE(loaded_.gates.enabled("ComponentFlagz"));
  const Ran ran = Run({"--kubeconfig=" + kubeconfig_, "--feature-gates=SchedulerQueueingHints=true,KMSv1=false",
                       "--feature-gates=ClientsAllowCARotation=false,PodsAPI=true"});
  EXPECT_EQ(ran.code, 7);
  EXPECT_THAT(ran.err, HasSubstr("] \"Warning: setting GA feature gate. It will be removed in a future release.\" "
                                 "featureGate=\"SchedulerQueueingHints\" value=true\n"));
  EXPECT_THAT(ran.err, HasSubstr("] \"Warning: setting deprecated feature gate. It will be removed in a future "
                                 "release.\" featureGate=\"KMSv1\" value=false\n"));
  EXPECT_THAT(ran.err, HasSubstr("] component has alpha features enabled in emulated version, this is unsupported: "
                                 "features=[PodsAPI]\n"));
  // Ours.
  EXPECT_THAT(ran.err, HasSubstr("] \"Feature gate has no effect in Berth\" featureGate=\"ClientsAllowCARotation\" "
                                 "value=false\n"));
}

TEST_F(SchedulerCommandTest, FlagsOfTheLogAreCheckedAllAtOnce) {
  const struct {
    std::vector<std::string> args;
    const char* want;
  } cases[] = {
      {{"--logging-format=xml"}, "format: Invalid value: \"xml\": Unsupported log format\n"},
      {{"--logging-format=json", "--vmodule=a=1"}, "vmodule: Forbidden: Only supported for text log format\n"},
      {{"--log-text-split-stream"}, "options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled\n"},
      {{"--log-json-info-buffer-size=64Ki"},
       "options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled\n"},
      {{"--log-flush-frequency=0s"}, "flushFrequency: Invalid value: \"0s\": Must be greater than zero\n"},
      {{"--log-flush-frequency=-5s", "--logging-format=xml", "--vmodule=a=1", "--log-text-split-stream",
        "--log-text-info-buffer-size=1"},
       "[flushFrequency: Invalid value: \"-5s\": Must be greater than zero, format: Invalid value: \"xml\": "
       "Unsupported "
       "log format, vmodule: Forbidden: Only supported for text log format, options.text.splitStream: Forbidden: "
       "Feature LoggingAlphaOptions is disabled, options.text.infoBufferSize: Forbidden: Feature LoggingAlphaOptions "
       "is disabled]\n"},
      {{"--feature-gates=LoggingBetaOptions=false", "--logging-format=json"},
       "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature\n"},
      // Ours.
      {{"--feature-gates=LoggingAlphaOptions=true", "--log-json-split-stream"},
       "options.json.splitStream: Forbidden: Berth writes one stream, and every line at once\n"},
  };
  for (const auto& c : cases) EXPECT_EQ(Failure(c.args), c.want) << c.args.back();
}

TEST_F(SchedulerCommandTest, FlagsAreLoggedFromVerbosityOneOn) {
  const Ran quiet = Run({"--kubeconfig=" + kubeconfig_});
  EXPECT_THAT(quiet.err, Not(HasSubstr("FLAG")));
  const Ran ran = Run({"--kubeconfig=" + kubeconfig_, "-v=1", "--feature-gates=AllAlpha=false"});
  EXPECT_THAT(ran.err, HasSubstr("] FLAG: --allow-metric-labels=\"[]\"\n"));
  EXPECT_THAT(ran.err, HasSubstr("] FLAG: --feature-gates=\":AllAlpha=false\"\n"));
  EXPECT_THAT(ran.err, HasSubstr("] FLAG: --kubeconfig=\"" + kubeconfig_ + "\"\n"));
  size_t lines = 0;
  for (size_t at = ran.err.find("FLAG"); at != std::string::npos; at = ran.err.find("FLAG", at + 1)) ++lines;
  EXPECT_EQ(lines, 62u);
  const Ran json = Run({"--kubeconfig=" + kubeconfig_, "-v=1", "--logging-format=json"});
  EXPECT_THAT(json.err, HasSubstr("\"msg\":\"FLAG: --allow-metric-labels=\\\"[]\\\"\",\"v\":1}\n"));
  const Ran module = Run({"--kubeconfig=" + kubeconfig_, "--vmodule=scheduler_comm*=1"});
  EXPECT_THAT(module.err, HasSubstr("] FLAG: --v=\"0\"\n"));
}

TEST_F(SchedulerCommandTest, WhatIsWrongWithFlagsIsSaidAtOnce) {
  const struct {
    std::vector<std::string> args;
    const char* want;
  } cases[] = {
      {{"--secure-port=70000"},
       "--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0"},
      {{"--secure-port=-1", "--show-hidden-metrics-for-version=1"},
       "[--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port, "
       "metrics.showHiddenMetricsForVersion: Invalid value: \\\"1\\\": must be omitted or have the value '1.35'; only "
       "the previous minor version is allowed]"},
      {{"--emulated-version=x"}, "could not parse \\\"x\\\" as version"},
      {{"--emulated-version=1.37"}, "emulation version 1.37 is not between [1.33, 1.36.0]"},
      {{"--min-compatibility-version=1.30"}, "minCompatibilityVersion version 1.30 is not between [1.33, 1.36]"},
      {{"--requestheader-uid-headers=x"},
       "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will "
       "not work"},
      {{"--requestheader-username-headers=,a"}, "empty value in \\\"requestheader-username-headers\\\""},
      {{"--disabled-metrics=a b"},
       "metrics.disabledMetrics: Invalid value: [\\\"a b\\\"]: must be fully qualified metric names matching "
       "\\\"^[a-zA-Z_:][a-zA-Z0-9_:]*$\\\", got \\\"a b\\\""},
      {{"--allow-metric-labels=foo=bar"},
       "metrics.allowListMapping: Invalid value: {\\\"foo\\\":\\\"bar\\\"}: must have keys with format "
       "`metricName,labelName` where metricName matches \\\"[a-zA-Z_:][a-zA-Z0-9_:]*\\\" and labelName matches "
       "\\\"[a-zA-Z_][a-zA-Z0-9_]*\\\""},
      {{"--allow-metric-labels-manifest=nonexist"},
       "metrics.allowListMappingManifest: Invalid value: \\\"nonexist\\\": failed to read allow list manifest: open "
       "nonexist: no such file or directory"},
      {{"--tls-cert-file=x"}, "missing filename for serving cert"},
      {{"--tls-min-version=foo"}, "unknown tls version \\\"foo\\\""},
      {{"--tls-cipher-suites=TLS_AES_128_GCM_SHA256,X"}, "Cipher suite X not supported or doesn't exist"},
      {{"--tls-curve-preferences=5"}, "curve preference 5 is not supported by the current Go version"},
      {{"--authorization-always-allow-paths=/a*b"}, "only trailing * allowed in \\\"a*b\\\""},
      {{"--authorization-always-allow-paths=/,metr*,*"}, ""},
      {{"--secure-port=0", "--tls-min-version=foo", "--tls-cipher-suites=XX"}, ""},
      {{"--leader-elect-resource-lock=endpoints"},
       "couldn't create resource lock: endpoints lock is removed, migrate to leases"},
      {{"--leader-elect-resource-lock=foo"}, "couldn't create resource lock: Invalid lock-type foo"},
      {{"--leader-elect-resource-lock=foo", "--leader-elect=false"}, ""},
      {{"--kube-api-burst=-4"},
       "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0"},
      {{"--kube-api-burst=-4", "--kube-api-qps=-1"}, ""},
      {{"--leader-elect-lease-duration=1s"},
       "couldn't create leader elector: leaseDuration must be greater than renewDeadline"},
      {{"--leader-elect-retry-period=9s"},
       "couldn't create leader elector: renewDeadline must be greater than retryPeriod*JitterFactor"},
      {{"--leader-elect-retry-period=-1s"}, "couldn't create leader elector: retryPeriod must be greater than zero"},
      {{"--kubeconfig=nonexist"}, ""},  // the later one counts
  };
  for (const auto& c : cases) EXPECT_EQ(Failure(c.args), c.want) << c.args[0];
}

TEST_F(SchedulerCommandTest, AManifestOfLabelsIsRead) {
  const std::string right = Write("right.yaml", "\"m,l\": \"a,b\"\n"), wrong = Write("wrong.yaml", "ml: a\n");
  EXPECT_EQ(Failure({"--allow-metric-labels-manifest=" + right}), "");
  EXPECT_THAT(loaded_.metric_rules.allowed["m"]["l"], ::testing::ElementsAre("a", "b"));
  EXPECT_EQ(Failure({"--allow-metric-labels=m,l=c", "--disabled-metrics=x,y"}), "");
  EXPECT_THAT(loaded_.metric_rules.allowed["m"]["l"], ::testing::ElementsAre("c"));
  EXPECT_THAT(loaded_.metric_rules.disabled, ::testing::ElementsAre("x", "y"));
  EXPECT_THAT(Failure({"--allow-metric-labels-manifest=" + wrong}),
              HasSubstr("invalid allow list mapping in manifest: [metrics.allowListMappingManifest: Invalid value: "
                        "{\\\"ml\\\":\\\"a\\\"}: must have keys with format"));
  EXPECT_EQ(
      Failure({"--allow-metric-labels=m,l=a", "--allow-metric-labels-manifest=" + right}),
      "metrics: Invalid value: {\\\"allowListMapping\\\":{\\\"m,l\\\":\\\"a\\\"},\\\"allowListMappingManifest\\\":"
      "\\\"" +
          right + "\\\"}: cannot specify both allowListMapping and allowListMappingManifest");
}

TEST_F(SchedulerCommandTest, WithoutAConfigurationFileFlagsMakeTheConfiguration) {
  ASSERT_EQ(Failure({"--profiling=false", "--contention-profiling=false", "--kube-api-qps=7.5", "--kube-api-burst=9",
                     "--kube-api-content-type=application/json", "--leader-elect=false",
                     "--leader-elect-resource-name=berth", "--leader-elect-lease-duration=1m",
                     "--leader-elect-retry-period=5s", "--pod-max-in-unschedulable-pods-duration=90s"}),
            "");
  const config::SchedulerConfiguration& config = loaded_.config;
  EXPECT_FALSE(config.enable_profiling);
  EXPECT_FALSE(config.enable_contention_profiling);
  EXPECT_EQ(config.client_connection.qps, 7.5);
  EXPECT_EQ(config.client_connection.burst, 9);
  EXPECT_EQ(config.client_connection.content_type, "application/json");
  EXPECT_EQ(config.client_connection.kubeconfig, kubeconfig_);
  EXPECT_FALSE(config.leader_election.leader_elect);
  EXPECT_EQ(config.leader_election.resource_name, "berth");
  EXPECT_EQ(config.leader_election.lease_duration, Duration::Seconds(60));
  EXPECT_EQ(config.leader_election.renew_deadline, Duration::Seconds(10));
  EXPECT_EQ(loaded_.pod_max_in_unschedulable_pods, Duration::Seconds(90));
  ASSERT_EQ(config.profiles.size(), 1u);
  EXPECT_EQ(loaded_.api_server.server, "http://127.0.0.1:1");
}

TEST_F(SchedulerCommandTest, WithAConfigurationFileOnlyFlagsOfTheElectionCount) {
  const std::string config = Write("config.yaml",
                                   "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                   "kind: KubeSchedulerConfiguration\n"
                                   "clientConnection: {kubeconfig: " +
                                       kubeconfig_ +
                                       ", qps: 5}\n"
                                       "leaderElection: {leaseDuration: 30s}\n");
  const Ran ran = Run({"--config=" + config, "--kubeconfig=nonexist", "--kube-api-qps=99", "--profiling=false",
                       "--leader-elect-renew-deadline=20s", "--pod-max-in-unschedulable-pods-duration=90s"});
  EXPECT_EQ(ran.code, 7) << ran.err;
  EXPECT_EQ(loaded_.config.client_connection.qps, 5);
  EXPECT_TRUE(loaded_.config.enable_profiling);
  EXPECT_EQ(loaded_.config.leader_election.lease_duration, Duration::Seconds(30));
  EXPECT_EQ(loaded_.config.leader_election.renew_deadline, Duration::Seconds(20));
  EXPECT_EQ(loaded_.pod_max_in_unschedulable_pods, Duration::Seconds(90));
  // Ours; upstream ignores them in silence.
  for (const char* flag : {"kube-api-qps", "kubeconfig", "profiling"})
    EXPECT_THAT(ran.err, HasSubstr("] --" + std::string(flag) + " is ignored, because there is --config\n"));
}

TEST_F(SchedulerCommandTest, AFileIsValidatedWithTheFlagsInIt) {
  const std::string config = Write("config.yaml",
                                   "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                   "kind: KubeSchedulerConfiguration\nparallelism: -3\n"
                                   "leaderElection: {leaseDuration: 5s}\n");
  EXPECT_EQ(Failure({"--config=" + config, "--leader-elect-resource-lock=foo"}),
            "[leaderElection.leaseDuration: Invalid value: \\\"10s\\\": must be greater than `RenewDeadline`, "
            "leaderElection.resourceLock: Invalid value: \\\"foo\\\": resourceLock value must be \\\"leases\\\", "
            "parallelism: Invalid value: -3: should be an integer value greater than zero]");
  EXPECT_EQ(Failure({"--config=nonexist"}), "open nonexist: no such file or directory");
}

TEST_F(SchedulerCommandTest, TheApiServerIsThatOfMasterOfTheKubeconfigOrOfThePod) {
  const Ran file = Run({"--kubeconfig=nonexist"});
  EXPECT_EQ(file.code, 1);
  EXPECT_THAT(file.err, HasSubstr("err=\"stat nonexist: no such file or directory\""));
  const Ran none = Run({});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err,
              HasSubstr("] Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This "
                        "might not work.\n"));
  EXPECT_THAT(none.err, HasSubstr("err=\"invalid configuration: no configuration has been provided, try setting "
                                  "KUBERNETES_MASTER environment variable\"\n"));
  EXPECT_EQ(Run({"--master=https://10.0.0.1:6443"}).code, 7);
  EXPECT_EQ(loaded_.api_server.server, "https://10.0.0.1:6443");
  EXPECT_EQ(Failure({"--master=10.0.0.1:8080"}), "");
  EXPECT_EQ(loaded_.api_server.server, "http://10.0.0.1:8080");
}

TEST_F(SchedulerCommandTest, InAPodTheServiceAccountIsTaken) {
  const client::InCluster place{"10.0.0.1", "443", folder_};
  const Result<SchedulerFlags> flags = ParseSchedulerFlags({});
  std::vector<std::string> warnings;
  const Result<LoadedScheduler> loaded =
      LoadScheduler(flags.value(), config::FeatureGates(), registry_, warnings, place);
  ASSERT_FALSE(loaded.ok()) << "that account has no token";
  EXPECT_THAT(loaded.error().text(), HasSubstr("in-cluster configuration: " + folder_ + "/token"));
  EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(SchedulerCommandTest, TheConfigurationIsWrittenAndThatIsAll) {
  const std::string file = folder_ + "/written.yaml";
  const Ran ran = Run({"--kubeconfig=" + kubeconfig_, "--write-config-to=" + file, "-v=2"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_FALSE(started_);
  EXPECT_THAT(ran.err, EndsWith("] \"Wrote configuration\" file=\"" + file + "\"\n"));
  EXPECT_THAT(ran.err,
              HasSubstr("] \"the scheduler starts to work with those plugins\" Plugins={\"PreEnqueue\":{\"Enabled\":"
                        "[{\"Name\":\"SchedulingGates\",\"Weight\":0},"));
  EXPECT_THAT(ran.err, HasSubstr("\"Permit\":{\"Enabled\":null,\"Disabled\":null}"));
  EXPECT_THAT(ran.err, HasSubstr("\"Score\":{\"Enabled\":[{\"Name\":\"TaintToleration\",\"Weight\":3}"));
  EXPECT_THAT(ran.err, HasSubstr("] \"Using component config\" config=<\n\tapiVersion: kubescheduler.config.k8s.io/v1\n"
                                 "\tclientConnection:\n"));
  const std::string written = Read(file);
  EXPECT_THAT(written, StartsWith("apiVersion: kubescheduler.config.k8s.io/v1\nclientConnection:\n"));
  EXPECT_THAT(written, HasSubstr("  kubeconfig: " + kubeconfig_ + "\n"));
  // And it is a configuration that says the same.
  const std::string again = folder_ + "/again.yaml";
  EXPECT_EQ(Run({"--config=" + file, "--write-config-to=" + again}).code, 0);
  EXPECT_EQ(Read(again), written);
  EXPECT_EQ(Failure({"--write-config-to=/nonexistent/x"}), "open /nonexistent/x: no such file or directory");
  EXPECT_EQ(Failure({"--write-config-to=" + folder_}), "open " + folder_ + ": is a directory");
  // Times of the election are not looked at before.
  EXPECT_EQ(Run({"--kubeconfig=" + kubeconfig_, "--write-config-to=" + file, "--leader-elect-lease-duration=1s"}).code,
            0);
}

TEST_F(SchedulerCommandTest, PluginsAreCheckedBeforeAnythingIsWritten) {
  const std::string config = Write("config.yaml",
                                   "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                   "kind: KubeSchedulerConfiguration\nprofiles: [{plugins: {multiPoint: "
                                   "{disabled: [{name: \"*\"}]}}}]\n");
  const std::string file = folder_ + "/written.yaml";
  EXPECT_THAT(Failure({"--config=" + config, "--master=127.0.0.1:1", "--write-config-to=" + file}),
              HasSubstr("queue sort"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(SchedulerCommandTest, KeysOfExtendersAreWrittenToTheFileAndNotToTheLog) {
  const std::string config = Write("config.yaml",
                                   "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                   "kind: KubeSchedulerConfiguration\n"
                                   "extenders: [{urlPrefix: \"http://127.0.0.1:1\", filterVerb: f,\n"
                                   "  tlsConfig: {keyData: c2VjcmV0, certData: cHVibGlj}}]\n");
  const auto ended =
      Run({"--config=" + config, "--master=127.0.0.1:1", "-v=10", "--write-config-to=" + folder_ + "/w.yaml"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("cHVibGlj"));
  EXPECT_THAT(ended.err, ::testing::Not(HasSubstr("c2VjcmV0")));
  EXPECT_THAT(Read(folder_ + "/w.yaml"), HasSubstr("keyData: c2VjcmV0"));
}

// Ours, all of it.
TEST_F(SchedulerCommandTest, CallsOfAnExtenderThatIsNotThereAreRefused) {
  const std::string file =
      "--config=" + Write("extenders.yaml",
                          "apiVersion: kubescheduler.config.k8s.io/v1\n"
                          "kind: KubeSchedulerConfiguration\n"
                          "clientConnection: {kubeconfig: \"" +
                              kubeconfig_ + "\"}\nextenders: [{urlPrefix: \"http://127.0.0.1:1\", filterVerb: f}]\n");
  EXPECT_EQ(Failure({file, "--extender-calls-at-a-time=0=3"}), "");
  EXPECT_EQ(loaded_.flags.own.extender_calls.at(0), 3u);
  EXPECT_EQ(Failure({file, "--extender-calls-at-a-time=0=3,1=3"}),
            "flag --extender-calls-at-a-time: 1: the configuration has 1 extenders");
  EXPECT_EQ(Failure({"--extender-calls-at-a-time=0=3"}),
            "flag --extender-calls-at-a-time: 0: the configuration has 0 extenders");
}

TEST_F(SchedulerCommandTest, AFlagWithoutEffectGetsOneLine) {
  const std::vector<std::string> given{
      "--contention-profiling",     "--disable-http2-serving",          "--http2-max-streams-per-connection=5",
      "--log-flush-frequency=1s",   "--min-compatibility-version=1.35", "--show-hidden-metrics-for-version=1.35",
      "--kubeconfig=" + kubeconfig_};
  const Ran ran = Run(given);
  EXPECT_EQ(ran.code, 7) << ran.err;
  for (const std::string_view flag : FlagsWithoutEffect()) {
    const std::string line = "] \"Flag has no effect in Berth\" flag=\"--" + std::string(flag) + "\"\n";
    const size_t at = ran.err.find(line);
    EXPECT_NE(at, std::string::npos) << flag;
    EXPECT_EQ(ran.err.find(line, at + 1), std::string::npos) << flag;
  }
  EXPECT_THAT(Run({"--kubeconfig=" + kubeconfig_}).err, Not(HasSubstr("no effect")));
}

TEST_F(SchedulerCommandTest, WhatIsNotBuiltYetIsSaidAtStart) {
  EXPECT_THAT(Run({"--kubeconfig=" + kubeconfig_}).err,
              MatchesRegex("W[^\n]*\\] This scheduler does not place pods yet that need resource claims: "
                           "[^\n]*\n"));
}

TEST_F(SchedulerCommandTest, HeadersThatAreNotTheStandardOnesAreWarnedAbout) {
  const Ran ran = Run({"--kubeconfig=" + kubeconfig_, "--requestheader-group-headers=x-other"});
  EXPECT_THAT(ran.err,
              HasSubstr("] --requestheader-group-headers is set without specifying the standard X-Remote-Group "
                        "header - API aggregation will not work\n"));
  EXPECT_EQ(ran.code, 7);
}

}  // namespace
}  // namespace berth::cli
