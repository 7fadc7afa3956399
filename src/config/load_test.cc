// SPDX-License-Identifier: Apache-2.0
// Configuration files: defaults, strictness, every validation text. The texts are kube-scheduler v1.36.4's unless a
// comment says otherwise.
#include "config/load.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "api/json_value.h"
#include "testing/default_configuration.h"
#include "testing/fake_registry.h"

namespace berth::config {
namespace {

const char kHead[] = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

Value Parse(const std::string& json) {
  std::vector<FieldError> errors;
  Value value = ParseJson(json, errors);
  EXPECT_TRUE(errors.empty());
  return value;
}

// kube-scheduler's plugins; those with arguments have kube-scheduler's defaults and read nothing. `Picky` has a field.
const Registry& TestRegistry() {
  static const Registry registry = [] {
    Registry made;
    const Value golden = Parse(testing::kDefaultConfiguration);
    const Registry fakes = testing::FakeRegistry();
    for (const auto& [name, fake] : fakes.all()) {
      PluginDescriptor d = fake;
      for (const Value& entry : golden.Find("profiles")->items()[0].Find("pluginConfig")->items()) {
        if (entry.Find("name")->text() != name) continue;
        d.has_args = true;
        d.complete_args = [defaults = *entry.Find("args")](const Value* args, const std::string&,
                                                           std::vector<FieldError>&) {
          return args == nullptr ? defaults : *args;
        };
      }
      made.Add(d);
    }
    PluginDescriptor picky = testing::FakeDescriptor("Picky", {Point::kFilter});
    picky.has_args = true;
    picky.complete_args = [](const Value* args, const std::string& path, std::vector<FieldError>& errors) {
      int64_t max = 35;
      ArgsReader in(args, path, &errors);
      in.Int("max", max, {.min = 1, .max = 90});
      in.Finish();
      return Value::Object({{"max", Value::Int(max)}});
    };
    made.Add(picky);
    return made;
  }();
  return registry;
}

std::string Errors(const std::string& text) {
  std::string lines;
  for (const FieldError& error : LoadConfiguration(text, TestRegistry()).errors) lines += error.ToString() + "\n";
  return lines;
}

SchedulerConfiguration LoadOk(const std::string& body) {
  Loaded loaded = LoadConfiguration(kHead + body, TestRegistry());
  EXPECT_TRUE(loaded.ok()) << loaded.errors[0].ToString();
  return loaded.config;
}

TEST(LoadTest, TheDefaultsAreKubeSchedulers) {
  const Value golden = Parse(testing::kDefaultConfiguration);
  EXPECT_EQ(ToValue(DefaultConfiguration(TestRegistry()), TestRegistry()).ToJson(1), golden.ToJson(1));
  EXPECT_EQ(ToValue(LoadOk(""), TestRegistry()), golden);
  EXPECT_EQ(ToValue(LoadOk("parallelism: null\nprofiles: null\nleaderElection: null\nextenders: []\n"), TestRegistry()),
            golden);
  EXPECT_EQ(ToValue(LoadOk("leaderElection: {leaseDuration: 0s, resourceName: ''}\nclientConnection: {qps: 0}\n"),
                    TestRegistry()),
            golden);
}

TEST(LoadTest, ACompletedConfigurationLoadsAsItself) {
  const Loaded loaded = LoadConfiguration(testing::kDefaultConfiguration, TestRegistry());
  ASSERT_TRUE(loaded.ok()) << loaded.errors[0].ToString();
  EXPECT_EQ(ToValue(loaded.config, TestRegistry()), Parse(testing::kDefaultConfiguration));
}

TEST(LoadTest, EveryFieldIsRead) {
  const SchedulerConfiguration config = LoadOk(R"(parallelism: 3
leaderElection: {leaderElect: false, leaseDuration: 1m, renewDeadline: 50s, retryPeriod: 100ms, resourceLock: endpoints,
  resourceName: rn, resourceNamespace: ns}
clientConnection: {kubeconfig: /k, acceptContentTypes: a, contentType: c, qps: 0.1, burst: 7}
enableProfiling: false
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
delayCacheUntilActive: true
profiles:
- schedulerName: s
  percentageOfNodesToScore: 40
  plugins:
    score: {enabled: [{name: NodeResourcesFit, weight: 5}], disabled: [{name: ImageLocality}]}
    placementScore: {enabled: [{name: NodeResourcesFit, weight: 3}]}
  pluginConfig:
  - {name: Elsewhere, args: {any: [thing]}}
  - {name: Picky, args: {max: 50}}
extenders:
- urlPrefix: http://x
  filterVerb: f
  preemptVerb: p
  prioritizeVerb: s
  weight: 5
  bindVerb: b
  enableHTTPS: true
  tlsConfig: {insecure: true, serverName: sn, certFile: c, keyFile: k, caFile: a, certData: aGFsbG8=, keyData: aGk=}
  httpTimeout: 90s
  nodeCacheCapable: true
  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]
  ignorable: true
)");
  EXPECT_EQ(ToValue(config, TestRegistry()).Find("extenders")->ToJson(),
            R"([{"urlPrefix":"http://x","filterVerb":"f","preemptVerb":"p","prioritizeVerb":"s","weight":5,)"
            R"("bindVerb":"b","enableHTTPS":true,"tlsConfig":{"insecure":true,"serverName":"sn","certFile":"c",)"
            R"("keyFile":"k","caFile":"a","certData":"aGFsbG8=","keyData":"aGk="},"httpTimeout":"1m30s",)"
            R"("nodeCacheCapable":true,"managedResources":[{"name":"example.com/gpu","ignoredByScheduler":true}],)"
            R"("ignorable":true}])");
  EXPECT_EQ(config.extenders[0].tls->cert_data, "hallo");
  Value value = ToValue(config, TestRegistry());
  EXPECT_EQ(value.Find("leaderElection")->ToJson(),
            R"({"leaderElect":false,"leaseDuration":"1m0s","renewDeadline":"50s","retryPeriod":"100ms",)"
            R"("resourceLock":"endpoints","resourceName":"rn","resourceNamespace":"ns"})");
  EXPECT_EQ(value.Find("clientConnection")->ToJson(),
            R"({"kubeconfig":"/k","acceptContentTypes":"a","contentType":"c","qps":0.1,"burst":7})");
  EXPECT_EQ(value.Find("enableContentionProfiling")->ToJson(), "false");
  EXPECT_EQ(value.Find("delayCacheUntilActive")->ToJson(), "true");
  EXPECT_EQ(config.parallelism, 3);
  EXPECT_EQ(config.percentage_of_nodes_to_score, 30);
  EXPECT_EQ(config.pod_initial_backoff_seconds, 2);
  EXPECT_EQ(config.pod_max_backoff_seconds, 20);
  const Value& profile = value.Find("profiles")->items()[0];
  EXPECT_EQ(profile.Find("percentageOfNodesToScore")->ToJson(), "40");
  EXPECT_EQ(profile.Find("plugins")->Find("score")->ToJson(),
            R"({"enabled":[{"name":"NodeResourcesFit","weight":5}],"disabled":[{"name":"ImageLocality","weight":0}]})");
  EXPECT_EQ(profile.Find("plugins")->Find("placementScore")->ToJson(),
            R"({"enabled":[{"name":"NodeResourcesFit","weight":3}]})");
  const std::vector<Value>& plugin_config = profile.Find("pluginConfig")->items();
  ASSERT_EQ(plugin_config.size(), 10u);
  EXPECT_EQ(plugin_config[0].ToJson(), R"({"name":"Elsewhere","args":{"any":["thing"]}})");
  EXPECT_EQ(plugin_config[1].ToJson(), R"({"name":"Picky","args":{"max":50}})");
  EXPECT_EQ(plugin_config[2].Find("name")->text(), "DefaultPreemption");
}

TEST(LoadTest, OnlyASingleProfileGetsTheDefaultName) {
  EXPECT_EQ(LoadOk("profiles: [{percentageOfNodesToScore: 5}]\n").profiles[0].scheduler_name, "default-scheduler");
  EXPECT_EQ(LoadOk("profiles: [null]\n").profiles[0].scheduler_name, "default-scheduler");
  EXPECT_EQ(Errors(std::string(kHead) + "profiles: [{schedulerName: ''}]\n"),
            "profiles[0].schedulerName: Required value\n");
}

TEST(LoadTest, OtherDocumentsAreRefused) {
  const std::string head = kHead;
  const struct {
    std::string text;
    std::string want;
  } cases[] = {
      {"apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
       "no kind \"KubeSchedulerConfiguration\" is registered for version \"kubescheduler.config.k8s.io/v1beta3\"\n"},
      {"apiVersion: kubescheduler.config.k8s.io/v1\nkind: Policy\n",
       "no kind \"Policy\" is registered for version \"kubescheduler.config.k8s.io/v1\"\n"},
      // From here on the words are our own.
      {"parallelism: 3\n",
       "kind: Required value: must be \"KubeSchedulerConfiguration\"\n"
       "apiVersion: Required value: must be \"kubescheduler.config.k8s.io/v1\"\n"},
      {"", "empty configuration: apiVersion and kind are required\n"},
      {"# only a comment\n", "empty configuration: apiVersion and kind are required\n"},
      {"[1]", "a KubeSchedulerConfiguration must be an object, not a list\n"},
      {"hunter2", "a KubeSchedulerConfiguration must be an object, not a string\n"},
      {"42", "a KubeSchedulerConfiguration must be an object, not a number\n"},
      {"true", "a KubeSchedulerConfiguration must be an object, not a boolean\n"},
      {"null", "a KubeSchedulerConfiguration must be an object, not null\n"},
      {"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n",
       "a KubeSchedulerConfiguration must be an object, not a string\n"},
      {head + "---\n" + head, "more than one document; a configuration file holds one\n"},
  };
  for (const auto& c : cases) EXPECT_EQ(Errors(c.text), c.want) << c.text;
}

TEST(LoadTest, BrokenTextIsAnErrorWithItsPlace) {
  EXPECT_NE(Errors(std::string(kHead) + "a: [").find("line"), std::string::npos);
  EXPECT_NE(Errors("{\"kind\": }").find("line 1"), std::string::npos);
}

TEST(LoadTest, UnknownFieldsAreErrorsAtEveryLevel) {
  EXPECT_EQ(Errors(std::string(kHead) + R"(Parallelism: 1
leaderElection: {x: 1}
clientConnection: {kind: a}
profiles:
- bar: 2
  plugins: {score: {enabled: [{name: NodeName, wight: 3}], all: 1}, podGroupPostFilter: {}}
  pluginConfig: [{name: Picky, args: {min: 3}, arg: 1}]
extenders: [{urlPrefix: u, tlsConfig: {ca: 1}, managedResources: [{name: a.b/c, x: 1}]}]
)"),
            "leaderElection.x: unknown field \"x\"\n"
            "clientConnection.kind: unknown field \"kind\"\n"
            "profiles[0].plugins.score.enabled[0].wight: unknown field \"wight\"\n"
            "profiles[0].plugins.score.all: unknown field \"all\"\n"
            "profiles[0].plugins.podGroupPostFilter: unknown field \"podGroupPostFilter\"\n"
            "profiles[0].pluginConfig[0].arg: unknown field \"arg\"\n"
            "profiles[0].bar: unknown field \"bar\"\n"
            "extenders[0].tlsConfig.ca: unknown field \"ca\"\n"
            "extenders[0].managedResources[0].x: unknown field \"x\"\n"
            "Parallelism: unknown field \"Parallelism\"\n"
            "profiles[0].pluginConfig[0].args.min: unknown field \"min\"\n");
}

TEST(LoadTest, RepeatedFieldsAreErrors) {
  EXPECT_EQ(Errors(R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",
"parallelism":1,"parallelism":2,"profiles":[{"schedulerName":"a","schedulerName":"b",
"pluginConfig":[{"name":"NodeResourcesFit","args":{"ignoredResources":[],"ignoredResources":[]}}]}]})"),
            "parallelism: duplicate field \"parallelism\"\n"
            "profiles[0].schedulerName: duplicate field \"schedulerName\"\n"
            "profiles[0].pluginConfig[0].args.ignoredResources: duplicate field \"ignoredResources\"\n");
  EXPECT_NE(Errors(std::string(kHead) + "parallelism: 1\nparallelism: 2\n").find("key \"parallelism\" already set"),
            std::string::npos);
}

TEST(LoadTest, WrongTypesNameTheFieldAndTheValue) {
  EXPECT_EQ(Errors(std::string(kHead) + R"(parallelism: abc
leaderElection: {leaderElect: 'true', leaseDuration: 15, renewDeadline: 15x}
clientConnection: {qps: many, burst: 99999999999, kubeconfig: [1]}
percentageOfNodesToScore: 5.5
podInitialBackoffSeconds: '1'
profiles: {}
extenders: [{tlsConfig: {certData: '!!'}, httpTimeout: 5}]
)"),
            "parallelism: Invalid value: \"abc\": must be an integer\n"
            "leaderElection.leaderElect: Invalid value: \"true\": must be true or false\n"
            "leaderElection.leaseDuration: Invalid value: 15: must be a duration such as \"10s\"\n"
            "leaderElection.renewDeadline: Invalid value: \"15x\": time: unknown unit \"x\" in duration \"15x\"\n"
            "clientConnection.kubeconfig: Invalid value: must be a string, not a list\n"
            "clientConnection.qps: Invalid value: \"many\": must be a number\n"
            "clientConnection.burst: Invalid value: 99999999999: must fit in 32 bits\n"
            "percentageOfNodesToScore: Invalid value: 5.5: must be an integer\n"
            "podInitialBackoffSeconds: Invalid value: \"1\": must be an integer\n"
            "profiles: Invalid value: must be a list, not an object\n"
            "extenders[0].tlsConfig.certData: illegal base64 data at input byte 0\n"
            "extenders[0].httpTimeout: Invalid value: 5: must be a duration such as \"10s\"\n");
  EXPECT_EQ(Errors(std::string(kHead) + "clientConnection: {qps: 1e300}\n"),
            "clientConnection.qps: Invalid value: 1e+300: must fit in a 32-bit float\n");
}

TEST(LoadTest, ValuesOutOfRangeHaveKubeSchedulersWords) {
  const struct {
    const char* body;
    const char* want;
  } cases[] = {
      {"parallelism: 0\npercentageOfNodesToScore: 101\npodInitialBackoffSeconds: 0\npodMaxBackoffSeconds: -1\n",
       "parallelism: Invalid value: 0: should be an integer value greater than zero\n"
       "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]\n"
       "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0\n"
       "podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to PodInitialBackoffSeconds\n"},
      {"leaderElection: {leaseDuration: 5s, retryPeriod: -1s, resourceLock: endpoints}\n"
       "clientConnection: {burst: -1}\n",
       "clientConnection.burst: Invalid value: -1: must be non-negative\n"
       "leaderElection.retryPeriod: Invalid value: \"-1s\": must be greater than zero\n"
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than `RenewDeadline`\n"
       "leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be \"leases\"\n"},
      {"leaderElection: {leaderElect: false, leaseDuration: 5s, resourceLock: endpoints}\n", ""},
      // kube-scheduler shows {} instead of the repeated name.
      {"profiles: [{schedulerName: a}, {schedulerName: a}, {percentageOfNodesToScore: -1}]\n",
       "profiles[1].schedulerName: Duplicate value: \"a\"\n"
       "profiles[2].schedulerName: Required value\n"
       "profiles[2].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]\n"},
      {"profiles:\n- plugins:\n    filter: {enabled: [{name: NodeName}, {name: EBSLimits}]}\n"
       "    multiPoint: {enabled: [{name: GCEPDLimits}]}\n  pluginConfig: [{name: CinderLimits, args: {}}]\n",
       "profiles[0].plugins.filter.enabled[1]: Invalid value: \"EBSLimits\": was invalid in version \"v1\" "
       "(KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")\n"
       "profiles[0].pluginConfig[0]: Invalid value: \"CinderLimits\": was invalid in version \"v1\" "
       "(KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")\n"},
      {"profiles:\n- schedulerName: a\n  plugins: {queueSort: {enabled: [{name: A}, {name: B}]}}\n"
       "- schedulerName: b\n  plugins: {queueSort: {enabled: [{name: A}], disabled: [{name: '*'}]}}\n"
       "- schedulerName: c\n",
       "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled\n"
       "profiles[1].plugins.queueSort: Invalid value: {\"Enabled\":[{\"Name\":\"A\",\"Weight\":0}],"
       "\"Disabled\":[{\"Name\":\"*\",\"Weight\":0}]}: must be the same for all profiles\n"
       "profiles[2].plugins.queueSort: Invalid value: {\"Enabled\":null,\"Disabled\":null}: must be the same for all "
       "profiles\n"},
      {"profiles:\n- schedulerName: a\n  plugins: {queueSort: {enabled: [{name: A}]}}\n"
       "  pluginConfig: [{name: A, args: {x: 1}}]\n"
       "- schedulerName: b\n  plugins: {queueSort: {enabled: [{name: A}]}}\n"
       "  pluginConfig: [{name: A, args: {x: 2}}]\n",
       "profiles[1].pluginConfig.args: Invalid value: {\"x\":2}: queueSort must be the same for all profiles\n"},
      {"extenders:\n- urlPrefix: http://x\n  prioritizeVerb: p\n  bindVerb: b\n"
       "  managedResources: [{name: cpu}, {name: a.b/c}, {name: kubernetes.io/x}]\n"
       "- bindVerb: b\n  managedResources: [{name: a.b/c}]\n",
       "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it\n"
       "extenders[0].managedResources[0].name: Invalid value: \"cpu\": is an invalid extended resource name\n"
       "extenders[0].managedResources[2].name: Invalid value: \"kubernetes.io/x\": is an invalid extended resource "
       "name\n"
       "extenders[1].managedResources[0].name: Invalid value: \"a.b/c\": duplicate extender managed resource name\n"
       "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can implement bind\n"},
  };
  for (const auto& c : cases) EXPECT_EQ(Errors(std::string(kHead) + c.body), c.want) << c.body;
}

TEST(LoadTest, PluginArgumentsAreCheckedByKindAndByThePlugin) {
  const auto config = [](const std::string& entries) {
    return std::string(kHead) + "profiles: [{pluginConfig: [" + entries + "]}]\n";
  };
  const struct {
    const char* entries;
    const char* want;
  } cases[] = {
      {"{name: Picky, args: {max: 120}}, {name: Picky, args: {max: 1}}",
       "profiles[0].pluginConfig[0].args.max: Invalid value: 120: must be in [1, 90]\n"
       "profiles[0].pluginConfig[1]: Duplicate value: \"Picky\"\n"},
      {"{name: Picky, args: [1]}", "profiles[0].pluginConfig[0].args: Invalid value: must be an object, not a list\n"},
      {"{name: Picky}, {name: NodeAffinity, args: null}, {name: NodePorts, args: {any: thing}}", ""},
      {"{name: NodeAffinity, args: {kind: NodeAffinityArgs, apiVersion: kubescheduler.config.k8s.io/v1}}", ""},
      {"{name: NodeAffinity, args: {kind: NodeResourcesFitArgs}}",
       "profiles[0].pluginConfig[0].args: args for plugin NodeAffinity were not of type "
       "NodeAffinityArgs.kubescheduler.config.k8s.io, got NodeResourcesFitArgs.kubescheduler.config.k8s.io\n"},
      {"{name: NodeAffinity, args: {kind: Foo}}",
       "profiles[0].pluginConfig[0].args: no kind \"Foo\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1\"\n"},
      {"{name: NodeAffinity, args: {apiVersion: kubescheduler.config.k8s.io/v1beta3}}",
       "profiles[0].pluginConfig[0].args: no kind \"NodeAffinityArgs\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1beta3\"\n"},
      {"{name: NodeAffinity, args: {kind: 5}}",
       "profiles[0].pluginConfig[0].args.kind: Invalid value: 5: must be a string\n"},
  };
  for (const auto& c : cases) EXPECT_EQ(Errors(config(c.entries)), c.want) << c.entries;
}

TEST(LoadTest, FlagsGoBeforeTheFileAndAreValidatedWithIt) {
  const auto adjust = [](SchedulerConfiguration& config) {
    EXPECT_EQ(config.leader_election.renew_deadline, Duration::Seconds(11)) << "the file's";
    config.leader_election.resource_lock = "foo";
  };
  const Loaded loaded = LoadConfiguration(std::string(kHead) + "leaderElection: {renewDeadline: 11s}", TestRegistry(),
                                          UnnamedPlugins::kDefaults, adjust);
  ASSERT_EQ(loaded.errors.size(), 1u);
  EXPECT_EQ(loaded.errors[0].ToString(),
            "leaderElection.resourceLock: Invalid value: \"foo\": resourceLock value must be \"leases\"");
}

TEST(LoadTest, TheFileThatIsWrittenIsKubeSchedulers) {
  SchedulerConfiguration config = DefaultConfiguration(TestRegistry());
  config.client_connection.kubeconfig = "scheduler.conf";
  std::ifstream in(BERTH_OBSERVED "/write-config-to.yaml");
  std::ostringstream observed;
  observed << in.rdbuf();
  ASSERT_NE(observed.str(), "");
  EXPECT_EQ(ConfigurationFile(config, TestRegistry()), observed.str());
  // And it says the same when it is read.
  const Loaded again = LoadConfiguration(observed.str(), TestRegistry());
  ASSERT_TRUE(again.ok()) << again.errors[0].ToString();
  EXPECT_EQ(ConfigurationFile(again.config, TestRegistry()), observed.str());
  // Arguments in another order, or of a plugin that is not enabled.
  const Loaded other =
      LoadConfiguration(std::string(kHead) +
                            "clientConnection: {kubeconfig: scheduler.conf}\nprofiles: [{pluginConfig: "
                            "[{name: NodeAffinity}, {name: Picky, args: {max: 2}}]}]",
                        TestRegistry());
  ASSERT_TRUE(other.ok()) << other.errors[0].ToString();
  EXPECT_EQ(ConfigurationFile(other.config, TestRegistry()), observed.str());
}

}  // namespace
}  // namespace berth::config
