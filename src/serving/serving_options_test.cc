// SPDX-License-Identifier: Apache-2.0
#include "serving/serving_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "net/tls_test_util.h"
#include "serving/serving_certificate.h"
#include "serving/trusted_authorities.h"

namespace berth::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Time kNow{1'794'782'713'000'000'000};

std::string TextOf(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

mode_t ModeOf(const std::string& file) {
  struct stat info = {};
  EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
  return info.st_mode & 0777;
}

TEST(ServingOptionsTest, TheDefaultsAreFine) {
  EXPECT_THAT(Validate({}), IsEmpty());
  EXPECT_THAT(WarningsOf({}), IsEmpty());
}

TEST(ServingOptionsTest, AllThatIsWrongIsSaid) {
  ServingOptions options;
  options.secure_port = 70000;
  options.bind_address = "here";
  options.requestheader.user = {" "};
  options.requestheader.uid = {"X-Uid"};
  EXPECT_THAT(
      Validate(options),
      ElementsAre(
          "--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0",
          "--bind-address: failed to parse IP: \"here\"", "empty value in \"requestheader-username-headers\"",
          "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation "
          "will not work"));
  options.secure_port = -1;
  EXPECT_THAT(Validate(options).front(),
              "--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port");
}

TEST(ServingOptionsTest, OfSettingsTheFirstThatIsWrongIsSaidIfAnythingIsServed) {
  ServingOptions options;
  options.authorization_always_allow_paths = {"/a*b"};
  EXPECT_EQ(CheckSettings(options).text(), "only trailing * allowed in \"a*b\"");
  options.tls_min_version = "1.2";
  EXPECT_EQ(CheckSettings(options).text(), "unknown tls version \"1.2\"");
  options.tls_curve_preferences = {1};
  EXPECT_THAT(CheckSettings(options).text(), HasSubstr("curve preference 1 is not supported"));
  options.tls_cipher_suites = {"NONE"};
  EXPECT_EQ(CheckSettings(options).text(), "Cipher suite NONE not supported or doesn't exist");
  options.tls_cert_file = "a";
  EXPECT_EQ(CheckSettings(options).text(), "missing filename for serving cert");
  options.secure_port = 0;
  EXPECT_TRUE(CheckSettings(options).ok());
}

TEST(ServingOptionsTest, HeadersThatNobodySendsAreWarnedOf) {
  ServingOptions options;
  options.requestheader.user = {"x-user"};
  options.requestheader.group = {"X-REMOTE-GROUP"};
  EXPECT_THAT(WarningsOf(options), ElementsAre(HasSubstr("--requestheader-username-headers is set without")));
}

TEST(ServingOptionsTest, NamedCertificates) {
  const auto named = ParseNamedCertificate(" foo.crt , foo.key : *.foo.com, foo.com");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->certificate_file, "foo.crt");
  EXPECT_EQ(named->key_file, "foo.key");
  EXPECT_THAT(named->names, ElementsAre("*.foo.com", "foo.com"));
  EXPECT_THAT(ParseNamedCertificate("a,b")->names, IsEmpty());
  EXPECT_EQ(ParseNamedCertificate("a,b: ").error().text(), "empty names list is not allowed");
  EXPECT_EQ(ParseNamedCertificate("a").error().text(), "expected comma separated certificate and key file paths");
}

TEST(ServingCertificateTest, InMemoryUnlessAFolderIsGiven) {
  const auto chosen = ChooseCertificate({}, kNow);
  ASSERT_TRUE(chosen.ok()) << chosen.error().text();
  EXPECT_THAT(chosen->certificate_data, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(chosen->key_data, HasSubstr("PRIVATE KEY"));
  EXPECT_EQ(chosen->said, "Generated self-signed cert in-memory");
}

TEST(ServingCertificateTest, IsKeptInAFolderAndTheKeyIsItsOwners) {
  const net::TestFolder folder;
  ServingOptions options;
  options.cert_dir = folder.Path("new/certs");
  options.bind_address = "127.0.0.7";
  const auto made = ChooseCertificate(options, kNow);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made->certificate_file, options.cert_dir + "/kube-scheduler.crt");
  EXPECT_EQ(made->key_file, options.cert_dir + "/kube-scheduler.key");
  EXPECT_EQ(made->certificate_data, "");
  EXPECT_EQ(made->said, "Generated self-signed cert (" + made->certificate_file + ", " + made->key_file + ")");
  EXPECT_EQ(ModeOf(made->key_file), 0600);
  EXPECT_EQ(ModeOf(made->certificate_file), 0644);
  const std::string before = TextOf(made->certificate_file);
  EXPECT_THAT(before, HasSubstr("BEGIN CERTIFICATE"));
  const auto again = ChooseCertificate(options, kNow);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->said, "");
  EXPECT_EQ(TextOf(made->certificate_file), before);
  ASSERT_EQ(::unlink(made->key_file.c_str()), 0);
  EXPECT_EQ(ChooseCertificate(options, kNow).error().text(),
            "error reading " + made->key_file + ", certificate and key must be supplied as a pair");
}

TEST(ServingCertificateTest, GivenFilesGoFirst) {
  ServingOptions options;
  options.cert_dir = "/nowhere";
  options.tls_cert_file = "a.crt";
  options.tls_private_key_file = "a.key";
  const auto chosen = ChooseCertificate(options, kNow);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->certificate_file, "a.crt");
  EXPECT_EQ(chosen->said, "");
}

TEST(TrustedAuthoritiesTest, AFileIsReadAgainAndABadOneChangesNothing) {
  const net::TestFolder folder;
  const std::string one = net::MakeIdentity("one").certificate_pem, two = net::MakeIdentity("two").certificate_pem;
  const std::string file = folder.Write("ca.crt", one);
  std::vector<std::string> warnings;
  const auto made = TrustedAuthorities::FromFile("--client-ca-file", file, Duration{},
                                                 [&](const std::string& text) { warnings.push_back(text); });
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto first = (*made)->Current();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ((*made)->Current(), first) << "nothing has changed";
  folder.Write("ca.crt", two);
  const auto second = (*made)->Current();
  EXPECT_NE(second, first);
  EXPECT_THAT(warnings, IsEmpty());
  folder.Write("ca.crt", "nothing");
  EXPECT_EQ((*made)->Current(), second);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("no PEM certificate in it; the last one that was there stays in use")));
  EXPECT_THAT(TrustedAuthorities::FromFile("--client-ca-file", folder.Path("none"), Duration{}, nullptr).error().text(),
              testing::StartsWith("--client-ca-file " + folder.Path("none") + ": "));
}

TEST(TrustedAuthoritiesTest, NobodyUntilSomebodySaysSo) {
  TrustedAuthorities authorities("client-ca-file");
  EXPECT_EQ(authorities.Current(), nullptr);
  EXPECT_FALSE(authorities.Set("x").ok());
  EXPECT_EQ(authorities.Current(), nullptr);
  EXPECT_TRUE(authorities.Set(net::MakeIdentity("one").certificate_pem).ok());
  EXPECT_NE(authorities.Current(), nullptr);
}

}  // namespace
}  // namespace berth::serving
