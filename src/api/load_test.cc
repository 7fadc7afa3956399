// SPDX-License-Identifier: Apache-2.0
#include "api/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "api/decode_test_util.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string NodeYaml(const std::string& name) { return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\n"; }

class LoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("berth_load_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
               std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  fs::path folder_;
};

std::vector<std::string> Names(const LoadedObjects& objects) {
  std::vector<std::string> names;
  for (const auto& node : objects.of<Node>()) names.push_back(node->name());
  return names;
}

TEST_F(LoadTest, FoldersAreReadInOrderOfNames) {
  Write("b.yml", NodeYaml("second"));
  Write("a.yaml", NodeYaml("first") + "---\n" + NodeYaml("first-b"));
  Write("c.json", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"third"}})");
  Write("ignored.txt", "not: yaml: at: all");
  fs::create_directories(folder_ / "sub.yaml");
  const LoadResult result = LoadObjects({folder_.string()});
  EXPECT_THAT(Texts(result.errors), ElementsAre());
  EXPECT_THAT(Names(result.objects), ElementsAre("first", "first-b", "second", "third"));
}

TEST_F(LoadTest, MissingAndUnreadableFilesAreErrorsAndTheRestIsRead) {
  const std::string good = Write("good.yaml", NodeYaml("a"));
  const std::string bad = Write("bad.yaml", "a: [");
  fs::create_directories(folder_ / "empty");
  const LoadResult result = LoadObjects({"/no/such/file.yaml", bad, good, (folder_ / "empty").string()});
  ASSERT_EQ(result.errors.size(), 3u);
  EXPECT_EQ(result.errors[0].Text(), "/no/such/file.yaml: cannot open file: No such file or directory");
  EXPECT_THAT(result.errors[1].Text(), StartsWith(bad + ": malformed YAML at line"));
  EXPECT_THAT(result.errors[2].Text(), HasSubstr("no *.yaml, *.yml or *.json file"));
  EXPECT_THAT(Names(result.objects), ElementsAre("a"));
}

TEST_F(LoadTest, APipeInAFolderIsNotWaitedFor) {
  Write("a.yaml", NodeYaml("a"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe.yaml").c_str(), 0600), 0);
  const LoadResult result = LoadObjects({folder_.string()});
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].Text(), (folder_ / "pipe.yaml").string() + ": is not a regular file");
  EXPECT_THAT(Names(result.objects), ElementsAre("a"));
}

TEST_F(LoadTest, ObjectsComeOncePerKindNamespaceAndName) {
  const std::string a = Write("a.yaml", NodeYaml("n1"));
  const std::string b =
      Write("b.yaml", NodeYaml("n1") + "---\n" + PodYaml("  nodeName: x1") + "---\n" + PodYaml("  nodeName: x2"));
  const LoadResult result = LoadObjects({a, b});
  ASSERT_EQ(result.errors.size(), 2u);
  EXPECT_EQ(result.errors[0].Text(),
            b + ": Node \"n1\": metadata.name: Duplicate value: \"n1\": already read from " + a);
  EXPECT_EQ(result.errors[1].Text(),
            b + ": Pod \"default/p\": metadata.name: Duplicate value: \"default/p\": already read from " + b);
}

TEST_F(LoadTest, AllErrorsOfAllDocumentsAreListed) {
  const LoadResult result = LoadObjectsFromText(R"(
apiVersion: v1
kind: Node
metadata: {name: UP}
---
apiVersion: v1
kind: Node
metadata: {name: good}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c}], priorityClassName: x}
---
kind: Pod
)",
                                                {}, "text");
  ASSERT_EQ(result.errors.size(), 4u);
  EXPECT_THAT(result.errors[0].Text(), StartsWith("text: Node \"UP\": metadata.name: Invalid value: \"UP\""));
  EXPECT_EQ(result.errors[1].Text(), "text: Pod \"default/p\": spec.containers[0].image: Required value");
  EXPECT_EQ(result.errors[2].Text(), "text: Pod: apiVersion: Required value: Object 'apiVersion' is missing");
  EXPECT_THAT(result.errors[3].Text(), StartsWith("text: Pod \"default/p\": spec.priorityClassName: Invalid value"));
  EXPECT_THAT(Names(result.objects), ElementsAre("good"));
}

TEST_F(LoadTest, PodsOfARefusedClassAreNotToldThatItDoesNotExist) {
  const LoadResult result = LoadObjectsFromText(R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: pc}
value: much
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i}], priorityClassName: pc}
)",
                                                {}, "text");
  for (const LoadError& error : result.errors) EXPECT_EQ(error.kind, "PriorityClass") << error.Text();
  EXPECT_FALSE(result.ok());
}

TEST_F(LoadTest, UnreadKindsAreReportedOnce) {
  std::vector<std::string> seen;
  LoadOptions options;
  options.unread_kind = [&](const std::string& version, const std::string& kind, const std::string& file) {
    seen.push_back(version + " " + kind + " " + file);
  };
  const LoadResult result = LoadObjectsFromText(
      "{apiVersion: apps/v1, kind: Deployment}\n---\n# c\napiVersion: v1\nkind: ConfigMap\n---\napiVersion: "
      "apps/v1\nkind: "
      "Deployment\n",
      options, "f");
  // The first document starts like JSON and is not.
  EXPECT_EQ(result.errors.size(), 1u);
  const LoadResult good = LoadObjectsFromText(
      "apiVersion: apps/v1\nkind: Deployment\n---\napiVersion: v1\nkind: ConfigMap\n---\napiVersion: apps/v1\nkind: "
      "Deployment\n",
      options, "f");
  EXPECT_TRUE(good.ok());
  EXPECT_THAT(seen, ElementsAre("apps/v1 Deployment f", "v1 ConfigMap f"));
}

TEST_F(LoadTest, AnArrayOfObjectsIsASet) {
  const LoadResult result = LoadObjectsFromText(
      R"([{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},
          {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[
             {"name":"c","image":"i","resources":{"requests":{"cpu":"250m"}}}]}}])");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.objects.size(), 2u);
  EXPECT_EQ(result.objects.of<Pod>().at(0)->resources.request.milli_cpu, 250);
  EXPECT_EQ(result.objects.of<Pod>().at(0)->namespace_(), "default");
}

TEST_F(LoadTest, NothingIsNoError) {
  EXPECT_TRUE(LoadObjectsFromText("").ok());
  EXPECT_TRUE(LoadObjectsFromText("# only a comment\n---\n").ok());
  EXPECT_TRUE(LoadObjects({Write("empty.yaml", "")}).ok());
}

}  // namespace
}  // namespace berth
