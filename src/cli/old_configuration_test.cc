// SPDX-License-Identifier: Apache-2.0
// Old configurations wherever a configuration is taken: config, explain, sim, extender and scheduler, files, ConfigMaps
// and flags.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/config_command.h"
#include "cli/explain_command.h"
#include "cli/extender_command.h"
#include "cli/scheduler_command.h"
#include "cli/sim_command.h"
#include "client/fake_api_server_test_util.h"
#include "plugins/builtin.h"

namespace berth::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kPolicy[] = R"({"kind": "Policy", "apiVersion": "v1",
"predicates": [{"name": "PodFitsResources"}],
"priorities": [{"name": "MostRequestedPriority", "weight": 2}]})";

constexpr char kConfigMaps[] = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: policy, namespace: kube-system}
data:
  policy.cfg: |
    kind: Policy
    apiVersion: v1
    predicates: [{name: PodFitsResources}]
    priorities: []
---
apiVersion: v1
kind: ConfigMap
metadata: {name: wrong, namespace: kube-system}
data: {policy.yaml: x}
)";

constexpr char kOldCluster[] = R"(
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
)";

std::string FromMap(const std::string& name) {
  return "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nalgorithmSource:\n  "
         "policy:\n"
         "    configMap: {name: " +
         name + "}\n";
}

class OldConfigurationTest : public ::testing::Test {
 protected:
  OldConfigurationTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    folder_ = (std::filesystem::temp_directory_path() / "berth-old-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    ::unsetenv("KUBERNETES_SERVICE_HOST");
  }
  ~OldConfigurationTest() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  int Config(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return ConfigCommand(args, registry_, out_, err_);
  }
  // The scheduler's command line up to its start: the exit code, 7 when it starts.
  int Scheduler(std::vector<std::string> args, const std::string& server = "http://127.0.0.1:1") {
    const std::string kubeconfig = File(
        "scheduler.conf", "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"" + server +
                              "\"}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: "
                              "{}}]\ncurrent-context: c\n");
    args.push_back("--kubeconfig=" + kubeconfig);
    out_.str("");
    err_.str("");
    return SchedulerCommand(args, "kube-scheduler", registry_, out_, err_, -1,
                            [&](const LoadedScheduler& loaded, const Registry&, util::Log&) {
                              loaded_ = loaded;
                              return 7;
                            });
  }
  std::string Clientless() const { return "clientConnection: {kubeconfig: " + folder_ + "/scheduler.conf}\n"; }

  Registry registry_;
  std::string folder_;
  std::ostringstream out_, err_;
  LoadedScheduler loaded_;
};

TEST_F(OldConfigurationTest, ConvertWritesWhatCheckAcceptsAndLeavesThatAsItIs) {
  const std::string old = File("old.json", kPolicy);
  ASSERT_EQ(Config({"convert", old}), 0) << err_.str();
  EXPECT_EQ(err_.str(), "");
  const std::string converted = out_.str();
  EXPECT_THAT(converted, AllOf(StartsWith("# Converted from a Policy, "), HasSubstr("type: MostAllocated\n"),
                               HasSubstr("# line 3, priorities[0]: MostRequestedPriority: ")));
  const std::string now = File("new.yaml", converted);
  EXPECT_EQ(Config({"check", now}), 0) << err_.str();
  EXPECT_EQ(err_.str(), "");
  const std::string checked = out_.str();
  EXPECT_EQ(Config({"convert", now}), 0);
  EXPECT_EQ(out_.str(), converted);
  // The old file has the same plugins, after what has changed.
  EXPECT_EQ(Config({"check", old}), 0);
  EXPECT_THAT(out_.str(), AllOf(StartsWith("changed: " + old + ":"), ::testing::EndsWith("\n\n" + checked)));
  EXPECT_EQ(err_.str(), "warning: " + old +
                            " is a Policy, which kube-scheduler no longer reads; berth config convert writes "
                            "it as kubescheduler.config.k8s.io/v1 and says what has changed\n");
}

TEST_F(OldConfigurationTest, ConvertListsTheChangesAsJson) {
  ASSERT_EQ(Config({"convert", File("old.json", kPolicy), "-o", "json"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\"kind\": \"ConvertedConfiguration\""), HasSubstr("\"from\": \"Policy\""),
                                HasSubstr("\"line\": 3,\n      \"field\": \"priorities[0]\""),
                                HasSubstr("\"change\": \"changed\"")));
  EXPECT_EQ(Config({"convert", File("bad.json", "{\"predicates\": [{\"name\": \"x\"}],\n\"priorities\": 1}")}), 2);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("bad.json:1: predicates[0].name: Invalid value: \"x\": "),
                                HasSubstr("bad.json:2: priorities: Invalid value: 1: must be a list")));
}

TEST_F(OldConfigurationTest, AConfigMapIsLookedForAmongTheObjects) {
  const std::string file = File("config.yaml", FromMap("policy")), maps = File("maps.yaml", kConfigMaps);
  EXPECT_EQ(Config({"check", file, "-f", maps}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("Filter:      NodeUnschedulable, NodeResourcesFit, TaintToleration\n"));
  EXPECT_EQ(Config({"check", file}), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("config.yaml:5: algorithmSource.policy.configMap: couldn't get policy config map "
                        "kube-system/policy: there is no cluster to ask here; give a file that has it with -f\n"));
  EXPECT_EQ(Config({"check", File("gone.yaml", FromMap("gone")), "-f", maps}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("couldn't get policy config map kube-system/gone: it is not in the files of -f"));
  EXPECT_EQ(Config({"check", File("wrong.yaml", FromMap("wrong")), "-f", maps}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("maps.yaml: ConfigMap kube-system/wrong: missing policy config map value at key "
                                    "\"policy.cfg\"; it has \"policy.yaml\"\n"));
}

TEST_F(OldConfigurationTest, ManifestsAndSeveralDocumentsAreSentBack) {
  EXPECT_EQ(Config({"check", File("maps.yaml", kConfigMaps)}), 2);
  EXPECT_THAT(err_.str(),
              HasSubstr("maps.yaml:11: more than one document; a configuration file holds one: here is ConfigMap, "
                        "then ConfigMap\n"));
  EXPECT_EQ(Config({"convert", File("map.yaml", "kind: ConfigMap\napiVersion: v1\ndata:\n  a.yaml: x\n")}), 2);
  EXPECT_THAT(err_.str(), StartsWith(folder_ + "/map.yaml:4: data.a.yaml: this is a ConfigMap's manifest"));
}

TEST_F(OldConfigurationTest, ExplainAndSimTakeThemWithOneWarning) {
  const std::string cluster = File("cluster.yaml", std::string(kOldCluster) + "---\n" + kConfigMaps);
  const std::string file = File("config.yaml", FromMap("policy"));
  std::ostringstream out, err;
  EXPECT_EQ(ExplainCommand({"--offline", "-f", cluster, "--pod", "web", "--config", file}, registry_, out, err), 0)
      << err.str();
  EXPECT_THAT(out.str(), HasSubstr("Goes to a: "));
  EXPECT_THAT(err.str(),
              StartsWith("warning: " + file + " is a configuration of kubescheduler.config.k8s.io/v1alpha1, which"));
  EXPECT_EQ(SimCommand({"-f", cluster, "--config", File("p.json", kPolicy)}, registry_, out, err), 0) << err.str();
}

TEST_F(OldConfigurationTest, TheExtenderTakesNoPolicy) {
  std::ostringstream out, err;
  EXPECT_EQ(ExtenderCommand({"--config", File("p.json", kPolicy)}, registry_, out, err, -1), 2);
  EXPECT_THAT(err.str(),
              HasSubstr("p.json:1: kind: a Policy names predicates and priorities, but berth extender serves "
                        "plugins that a profile names"));
}

TEST_F(OldConfigurationTest, TheSchedulerReadsOldFilesWithOneWarning) {
  const std::string head = "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n";
  (void)Scheduler({});  // writes the kubeconfig
  ASSERT_EQ(Scheduler({"--config=" + File("b.yaml", head + Clientless() + "leaderElection: {resourceName: x}\n")}), 7)
      << err_.str();
  EXPECT_EQ(loaded_.config.leader_election.resource_name, "x");
  EXPECT_THAT(err_.str(), HasSubstr("b.yaml is a configuration of kubescheduler.config.k8s.io/v1beta2, which"));
  EXPECT_EQ(Scheduler({"--config=" + File("bad.yaml", head + "schedulerName: x\nfoo: 1\n")}), 1);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("bad.yaml:3: schedulerName: unknown field"), HasSubstr("bad.yaml:4: foo: unknown")));
  EXPECT_EQ(Scheduler({"--config=" + File("foo.yaml", head + Clientless() +
                                                          "profiles:\n- plugins:\n    score:\n"
                                                          "      enabled: [{name: Foo}]\n")}),
            1);
  EXPECT_THAT(err_.str(),
              HasSubstr("profiles[0].plugins.score.enabled[0].name: Invalid value: \\\"Foo\\\": ScorePlugin "
                        "\\\"Foo\\\" does not exist"));
  EXPECT_EQ(Scheduler({"--config=" + File("p.json", kPolicy)}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("p.json:1: kind: this is a Policy, which --config does not take: give it with "
                                    "--policy-config-file"));
}

TEST_F(OldConfigurationTest, ThePolicyFlagsWork) {
  const std::string policy = File("p.json", kPolicy);
  ASSERT_EQ(
      Scheduler({"--policy-config-file=" + policy, "--scheduler-name=mine", "--lock-object-name=lock", "--port=0"}), 7)
      << err_.str();
  EXPECT_EQ(loaded_.config.profiles[0].scheduler_name, "mine");
  EXPECT_EQ(loaded_.config.leader_election.resource_name, "lock");
  EXPECT_EQ(loaded_.config.leader_election.resource_lock, "leases");
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("the file of --policy-config-file is a Policy, which"),
                                HasSubstr("--lock-object-name is a flag of kube-scheduler 1.27 and older"),
                                Not(HasSubstr("--port"))));
  EXPECT_EQ(Scheduler({"--policy-config-file=" + folder_ + "/none"}), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("--policy-config-file: missing policy config file " + folder_ + "/none"),
                                Not(HasSubstr("is a Policy, which"))));
  EXPECT_EQ(Scheduler({"--policy-config-file=" + File("map.yaml", "kind: ConfigMap\napiVersion: v1\n")}), 1);
  EXPECT_THAT(err_.str(),
              HasSubstr("map.yaml:1: kind: invalid policy: Invalid value: \\\"ConfigMap\\\": must be "
                        "\\\"Policy\\\"; this is a ConfigMap's manifest: give the text of its key policy.cfg "
                        "as a file of its own, or name the ConfigMap (--policy-configmap"));
  EXPECT_EQ(Scheduler({"--use-legacy-policy-config"}), 1);
  EXPECT_THAT(err_.str(),
              HasSubstr("policyConfigFile: Required value: required when --use-legacy-policy-config is true"));
  EXPECT_EQ(Scheduler({"--policy-config-file=" + File("k.yaml",
                                                      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: "
                                                      "KubeSchedulerConfiguration\n")}),
            1);
  EXPECT_THAT(err_.str(),
              HasSubstr("k.yaml:2: kind: invalid policy: Invalid value: \\\"KubeSchedulerConfiguration\\\": must "
                        "be \\\"Policy\\\"; a KubeSchedulerConfiguration is given with --config"));
}

TEST_F(OldConfigurationTest, TwoSourcesOfAConfigurationAreAnError) {
  const std::string policy = File("p.json", kPolicy);
  EXPECT_EQ(Scheduler({"--policy-config-file=" + policy, "--config=c.yaml", "--algorithm-provider=DefaultProvider"}),
            1);
  EXPECT_THAT(
      err_.str(),
      AllOf(HasSubstr("--policy-config-file and --config=c.yaml are two sources of a configuration: give one of them"),
            HasSubstr("--algorithm-provider and --config=c.yaml are two sources")));
  EXPECT_EQ(Scheduler({"--policy-config-file=" + policy, "--hard-pod-affinity-symmetric-weight=3"}), 1);
  EXPECT_EQ(Scheduler({"--lock-object-name=a", "--leader-elect-resource-name=b"}), 1);
  EXPECT_THAT(err_.str(),
              HasSubstr("--lock-object-name=a and --leader-elect-resource-name=b are two names of one lock"));
}

TEST_F(OldConfigurationTest, OtherFlagsOfThatTimeWorkOrAreWarnedAbout) {
  ASSERT_EQ(Scheduler({"--algorithm-provider=ClusterAutoscalerProvider", "--hard-pod-affinity-symmetric-weight=9",
                       "--scheduler-name=mine", "--address=0.0.0.0", "--port=10251", "--failure-domains=a"}),
            7)
      << err_.str();
  ASSERT_EQ(loaded_.config.profiles[0].plugin_config.size(), 2u);
  EXPECT_EQ(loaded_.config.profiles[0].scheduler_name, "mine");
  EXPECT_EQ(loaded_.config.profiles[0].plugin_config[0].args.ToJson(), R"({"hardPodAffinityWeight":9})");
  EXPECT_EQ(loaded_.config.profiles[0].plugin_config[1].args.ToJson(),
            R"({"scoringStrategy":{"type":"MostAllocated"}})");
  for (const char* flag : {"--address", "--port", "--failure-domains"})
    EXPECT_THAT(err_.str(), HasSubstr(std::string(flag) + " is a flag of kube-scheduler")) << flag;
  EXPECT_EQ(Scheduler({"--algorithm-provider=Mine", "--hard-pod-affinity-symmetric-weight=101", "--port=70000"}), 1);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("algorithm provider \\\"Mine\\\" is not registered"),
                    HasSubstr("hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]"),
                    HasSubstr("port: Invalid value: 70000")));
  // They are in no list of flags.
  EXPECT_THAT(SchedulerHelp("x"), Not(HasSubstr("--policy-config")));
}

TEST_F(OldConfigurationTest, AClustersConfigMapIsReadAtTheStart) {
  using client::FakeReply;
  client::FakeApiServer server([](const client::FakeRequest& request) -> FakeReply {
    if (request.target == "/api/v1/namespaces/kube-system/configmaps/policy") {
      return {
          200,
          R"({"kind":"ConfigMap","metadata":{"name":"policy"},"data":{"policy.cfg":"{\"kind\":\"Policy\",\"apiVersion\":)"
          R"(\"v1\",\"predicates\":[],\"priorities\":[]}"}})",
          ""};
    }
    if (request.target == "/api/v1/namespaces/other/configmaps/secret")
      return {403, R"({"kind":"Status","message":"configmaps \"secret\" is forbidden","code":403})", ""};
    if (request.target == "/api/v1/namespaces/kube-system/configmaps/empty")
      return {200, R"({"kind":"ConfigMap"})", ""};
    return {404, R"({"kind":"Status","message":"configmaps \"gone\" not found","code":404})", ""};
  });
  const std::string url = server.config().server;
  ASSERT_EQ(Scheduler({"--policy-configmap=policy", "--policy-config-file=ignored"}, url), 7) << err_.str();
  EXPECT_EQ(loaded_.config.profiles[0].plugins.multi_point.enabled.size(), 6u);
  EXPECT_THAT(err_.str(), HasSubstr("It is not read: --policy-configmap is given."));
  ASSERT_EQ(Scheduler({"--config=" + File("c.yaml", FromMap("policy") + Clientless())}, url), 7) << err_.str();
  EXPECT_EQ(Scheduler({"--policy-configmap=gone"}, url), 1);
  EXPECT_THAT(err_.str(), HasSubstr("couldn't get policy config map kube-system/gone: configmaps"));
  EXPECT_EQ(Scheduler({"--policy-configmap=secret", "--policy-configmap-namespace=other"}, url), 1);
  EXPECT_THAT(err_.str(), HasSubstr("is forbidden (the scheduler's account needs the right to get this ConfigMap)"));
  EXPECT_EQ(Scheduler({"--policy-configmap=empty"}, url), 1);
  EXPECT_THAT(err_.str(), HasSubstr("missing policy config map value at key \\\"policy.cfg\\\"; it has no data"));
  EXPECT_EQ(Scheduler({"--policy-configmap=../nodes"}, url), 1);
  EXPECT_THAT(err_.str(), HasSubstr("that is not a name"));
}

}  // namespace
}  // namespace berth::cli
