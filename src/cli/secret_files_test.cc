// SPDX-License-Identifier: Apache-2.0
// Files that are not what a command takes them for: it says so, and shows nothing of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "berth/main.h"
#include "net/tls_test_util.h"

namespace berth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What it prints, on both streams.
std::string Said(std::vector<std::string> args, int want_code) {
  args.insert(args.begin(), "berth");
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Main(static_cast<int>(args.size()), argv.data(), nullptr), want_code);
  std::cout.flush();
  const std::string out = ::testing::internal::GetCapturedStdout();
  return out + ::testing::internal::GetCapturedStderr();
}

TEST(SecretFilesTest, NoCommandShowsAnythingOfAFileThatIsSomethingElse) {
  const net::TestFolder folder;
  const std::vector<std::string> files = {
      folder.Write("server.key", net::MakeIdentity("server").key_pem),
      folder.Write("token", "eyJhbGciOiJSUzI1NiJ9.hunter2.hunter2"),
      folder.Write("password", "hunter2"),
      folder.Write("passwords.yaml", "- hunter2\n- hunter2 hunter2\n- [hunter2]\n"),
      folder.Write("passwords.json", "[\"hunter2\",\"hunter2\"]"),
      folder.Write("password.yaml", "*hunter2"),
      folder.Write("tagged.yaml", "a: !!int hunter2"),
      folder.Write("broken.json", "{\"hunter2\": hunter2"),
      folder.Write("broken.yaml", "a: b: hunter2\n\thunter2"),
      folder.Write("users.yaml", "users: [{name: me, user: {token: hunter2}}]\npassword: hunter2\n"),
      folder.Write("env", "PASSWORD=hunter2\nTOKEN=hunter2\n"),
  };
  for (const std::string& file : files) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"config", "check", file},
          {"config", "defaults", file},
          {"explain", "--offline", "--pod", "a/b", "-f", file},
          {"explain", "--offline", "--pod", "a/b", "-f", "/dev/null", "--config", file},
          {"sim", "-f", file},
          {"sim", file},
          {"sim", "--nodes=1", "--config", file},
          {"bench", file},
          {"conform", "http://127.0.0.1:1", "--pod", file},
          {"conform", "http://127.0.0.1:1", "--nodes-file", file},
          {"extender", "--port=0", "--config", file},
          {"extender", "--port=0", "--preset=demo", "--kubeconfig", file}}) {
      EXPECT_THAT(Said(command, 2), AllOf(HasSubstr(file), Not(HasSubstr("hunter2")), Not(HasSubstr("PRIVATE KEY")),
                                          Not(HasSubstr("MII"))))
          << command[0] << " " << command[1] << " " << file;
    }
  }
}

}  // namespace
}  // namespace berth
