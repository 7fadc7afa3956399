// SPDX-License-Identifier: Apache-2.0
#include "client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "api/base64.h"
#include "client/credentials.h"
#include "net/tls_test_util.h"

namespace berth::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A kubeconfig with these lines in its cluster and its user.
std::string Config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "clusters:\n- name: c\n  cluster: {" +
         cluster +
         "}\n"
         "users:\n- name: u\n  user: {" +
         user +
         "}\n"
         "contexts:\n- name: here\n  context: {cluster: c, user: u, namespace: apps}\n"
         "- name: there\n  context: {cluster: c}\n- name: lost\n  context: {cluster: nowhere}\n";
}

class KubeconfigTest : public ::testing::Test {
 protected:
  std::string Fails(const std::string& text, const std::string& context = "") {
    const Result<Kubeconfig> config = LoadKubeconfig(folder_.Write("config", text), context);
    if (config.ok()) return "it is fine";
    EXPECT_THAT(config.error().text(), HasSubstr("kubeconfig " + folder_.Path("config") + ": "));
    return config.error().text();
  }
  Result<Kubeconfig> Load(const std::string& text, const std::string& context = "") {
    return LoadKubeconfig(folder_.Write("config", text), context);
  }

  net::TestFolder folder_;
  net::TestIdentity ca_ = net::MakeIdentity("ca");
  net::TestIdentity client_ = net::MakeIdentity("me", "", &ca_);
};

TEST_F(KubeconfigTest, TheCurrentContextSaysWhomAndAsWhom) {
  const Result<Kubeconfig> config =
      Load(Config("server: 'https://api.example:6443/x', tls-server-name: kubernetes", "token: abc"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->server, "https://api.example:6443/x");
  EXPECT_EQ(config->tls.server_name, "kubernetes");
  EXPECT_FALSE(config->tls.insecure);
  EXPECT_EQ(config->token, "abc");
  EXPECT_EQ(config->namespace_, "apps");
  EXPECT_EQ(Credentials(*config, Duration::Seconds(1)).Header(), "Bearer abc");
}

TEST_F(KubeconfigTest, AnotherContextCanBeNamed) {
  const Result<Kubeconfig> config =
      Load(Config("server: 'http://a', insecure-skip-tls-verify: true", "token: abc"), "there");
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_TRUE(config->tls.insecure);
  EXPECT_EQ(config->token, "");
  EXPECT_EQ(Credentials(*config, Duration::Seconds(1)).Header(), "");
}

TEST_F(KubeconfigTest, JsonIsReadAsWell) {
  const Result<Kubeconfig> config = Load(
      R"({"current-context":"x","contexts":[{"name":"x","context":{"cluster":"y"}}],
          "clusters":[{"name":"y","cluster":{"server":"https://z"}}],"users":null})");
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->server, "https://z");
}

TEST_F(KubeconfigTest, PathsCountFromTheFile) {
  folder_.Write("ca.pem", ca_.certificate_pem);
  folder_.Write("me.pem", client_.certificate_pem);
  folder_.Write("me.key", client_.key_pem);
  folder_.Write("token", " t1\n");
  const Result<Kubeconfig> config =
      Load(Config("server: 'https://a', certificate-authority: ca.pem",
                  "client-certificate: ./me.pem, client-key: " + folder_.Path("me.key") + ", tokenFile: token"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->tls.ca_file, folder_.Path("ca.pem"));
  EXPECT_EQ(config->tls.certificate_file, folder_.Path("me.pem"));
  EXPECT_EQ(config->tls.key_file, folder_.Path("me.key"));
  EXPECT_EQ(Credentials(*config, Duration::Seconds(1)).Header(), "Bearer t1");
}

TEST_F(KubeconfigTest, DataIsBase64) {
  const Result<Kubeconfig> config =
      Load(Config("server: 'https://a', certificate-authority-data: " + EncodeBase64(ca_.certificate_pem),
                  "client-certificate-data: " + EncodeBase64(client_.certificate_pem) +
                      ", client-key-data: " + EncodeBase64(client_.key_pem)));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->tls.ca_data, ca_.certificate_pem);
  EXPECT_EQ(config->tls.key_data, client_.key_pem);
}

TEST_F(KubeconfigTest, NameAndPasswordMakeABasicHeader) {
  const Result<Kubeconfig> config = Load(Config("server: 'https://a'", "username: me, password: secret"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(Credentials(*config, Duration::Seconds(1)).Header(), "Basic bWU6c2VjcmV0");
}

TEST_F(KubeconfigTest, ErrorsNameFieldAndReason) {
  const std::string fine = "server: 'https://a'";
  EXPECT_THAT(Fails(""), HasSubstr("is empty"));
  EXPECT_THAT(Fails("- a"), HasSubstr("must be an object"));
  EXPECT_THAT(Fails("a: ["), HasSubstr("line"));
  EXPECT_THAT(Fails("clusters: []"), HasSubstr("current-context: is missing"));
  EXPECT_THAT(Fails("current-context: [x]"), HasSubstr("current-context: must be a string"));
  EXPECT_THAT(Fails("current-context: x"), HasSubstr("contexts: there are none, x is asked for"));
  EXPECT_THAT(Fails(Config(fine, ""), "none"),
              HasSubstr("contexts: no context is named \"none\"; there are here, there, lost"));
  EXPECT_THAT(Fails(Config(fine, ""), "lost"), HasSubstr("clusters: no cluster is named \"nowhere\"; there are c"));
  EXPECT_THAT(Fails(Config("", "")), HasSubstr("clusters[c].cluster.server: is missing"));
  EXPECT_THAT(Fails(Config("server: 'ftp://a'", "")),
              AllOf(HasSubstr("clusters[c].cluster.server"), HasSubstr("ftp://a")));
  EXPECT_THAT(Fails(Config("server: 5", "")), HasSubstr("clusters[c].cluster.server: must be a string"));
  EXPECT_THAT(Fails(Config(fine + ", insecure-skip-tls-verify: 'yes'", "")),
              HasSubstr("clusters[c].cluster.insecure-skip-tls-verify: must be true or false"));
  EXPECT_THAT(Fails(Config(fine + ", certificate-authority: none.pem", "")),
              AllOf(HasSubstr("clusters[c].cluster.certificate-authority: "), HasSubstr(folder_.Path("none.pem")),
                    HasSubstr("No such file")));
  EXPECT_THAT(Fails(Config(fine + ", certificate-authority-data: '!'", "")),
              HasSubstr("clusters[c].cluster.certificate-authority-data: illegal base64"));
  EXPECT_THAT(Fails(Config(fine + ", certificate-authority-data: " + EncodeBase64("nothing"), "")),
              HasSubstr("clusters[c].cluster.certificate-authority-data: CA data: no PEM certificate in it"));
  EXPECT_THAT(Fails(Config(fine + ", insecure-skip-tls-verify: true, certificate-authority-data: " +
                               EncodeBase64(ca_.certificate_pem),
                           "")),
              HasSubstr("insecure-skip-tls-verify: a certificate authority is named as well"));
  EXPECT_THAT(Fails(Config(fine, "tokenFile: none")),
              AllOf(HasSubstr("users[u].user.tokenFile: "), HasSubstr(folder_.Path("none"))));
  folder_.Write("blank", " \n\t");
  EXPECT_THAT(Fails(Config(fine, "tokenFile: blank")),
              HasSubstr("users[u].user.tokenFile: " + folder_.Path("blank") + ": there is no token in it"));
  EXPECT_THAT(Fails(Config(fine, R"(token: "a\nb")")),
              HasSubstr("users[u].user.token: there is a line break or another control character within the token"));
  EXPECT_THAT(Fails(Config(fine, R"(token: "ab\u007f")")), HasSubstr("users[u].user.token: there is a line break"));
  folder_.Write("two", "\nt1\nt2\n");
  EXPECT_THAT(Fails(Config(fine, "tokenFile: two")),
              HasSubstr("users[u].user.tokenFile: " + folder_.Path("two") + ": there is a line break"));
  EXPECT_THAT(Fails(Config(fine, "client-certificate-data: " + EncodeBase64(client_.certificate_pem))),
              HasSubstr("users[u].user.client-key: a client certificate without a client key"));
  EXPECT_THAT(Fails(Config(fine, "client-certificate-data: " + EncodeBase64(client_.certificate_pem) +
                                     ", client-key-data: " + EncodeBase64(ca_.key_pem))),
              HasSubstr("users[u].user.client-key-data: "));
  EXPECT_THAT(Fails(Config(fine, "username: me, token: abc")), HasSubstr("users[u].user.username: a token is given"));
  EXPECT_THAT(LoadKubeconfig(folder_.Path("none")).error().text(), HasSubstr("No such file"));
}

TEST_F(KubeconfigTest, WhatIsNotSupportedIsRefusedByName) {
  const std::string fine = "server: 'https://a'";
  EXPECT_THAT(Fails(Config(fine, "auth-provider: {name: oidc}")),
              HasSubstr("users[u].user.auth-provider: auth providers are not supported"));
}

TEST_F(KubeconfigTest, WhatIsEmptyIsAbsent) {
  const Result<Kubeconfig> config =
      Load(Config("server: 'https://a', proxy-url: '', certificate-authority: '', tls-server-name: ''",
                  "token: abc, tokenFile: '', username: '', as: '', as-uid: '', as-groups: [], as-user-extra: {}, "
                  "exec: null, auth-provider: {}"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->token, "abc");
  EXPECT_TRUE(config->impersonate.user.empty());
}

// The lines of the headers, in order.
std::vector<std::string> Lines(const net::Headers& headers) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : headers.list()) lines.push_back(name + ": " + value);
  return lines;
}

TEST_F(KubeconfigTest, SomebodyElseCanBeImpersonated) {
  const std::string fine = "server: 'https://a'";
  Result<Kubeconfig> config =
      Load(Config(fine,
                  "token: abc, as: 'system:admin', as-uid: u1, as-groups: [g1, 'g 2'], "
                  "as-user-extra: {scopes: [view, edit], 'acme.com/a b%\u00e4': [x], none: []}"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_THAT(Lines(Credentials(*config, Duration::Seconds(1)).impersonation()),
              ElementsAre("Impersonate-User: system:admin", "Impersonate-Uid: u1", "Impersonate-Group: g1",
                          "Impersonate-Group: g 2", "Impersonate-Extra-scopes: view", "Impersonate-Extra-scopes: edit",
                          "Impersonate-Extra-acme.com%2Fa%20b%25%C3%A4: x"));
  config = Load(Config(fine, "as: admin"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_THAT(Lines(Credentials(*config, Duration::Seconds(1)).impersonation()),
              ElementsAre("Impersonate-User: admin"));

  const std::string user = "users[u].user.";
  for (const char* alone : {"as-uid: u", "as-groups: [a]", "as-user-extra: {a: [b]}"}) {
    const std::string field = std::string(alone).substr(0, std::string(alone).find(':'));
    EXPECT_THAT(Fails(Config(fine, alone)), HasSubstr(user + field + ": there is no user to impersonate"));
  }
  EXPECT_THAT(Fails(Config(fine, "as: 5")), HasSubstr(user + "as: must be a string"));
  EXPECT_THAT(Fails(Config(fine, "as: a, as-groups: b")), HasSubstr(user + "as-groups: must be a list of strings"));
  EXPECT_THAT(Fails(Config(fine, "as: a, as-groups: [5]")), HasSubstr(user + "as-groups: must be a list of strings"));
  EXPECT_THAT(Fails(Config(fine, "as: a, as-user-extra: [b]")), HasSubstr(user + "as-user-extra: must be an object"));
  EXPECT_THAT(Fails(Config(fine, "as: a, as-user-extra: {b: c}")),
              HasSubstr(user + "as-user-extra[b]: must be a list of strings"));
  EXPECT_THAT(Fails(Config(fine, "as: a, as-user-extra: {'': [c]}")),
              HasSubstr(user + "as-user-extra: a key is empty"));
  EXPECT_THAT(Fails(Config(fine, R"(as: "a\nb")")), HasSubstr(user + "as: there is a line break"));
  EXPECT_THAT(Fails(Config(fine, R"(as: a, as-uid: "a\nb")")), HasSubstr(user + "as-uid: there is a line break"));
  EXPECT_THAT(Fails(Config(fine, R"(as: a, as-groups: ["a\nb"])")),
              HasSubstr(user + "as-groups: there is a line break"));
  EXPECT_THAT(Fails(Config(fine, R"(as: a, as-user-extra: {k: ["a\nb"]})")),
              HasSubstr(user + "as-user-extra[k]: there is a line break"));
}

TEST_F(KubeconfigTest, AProxyComesFromTheFileOrTheEnvironment) {
  for (const char* name : {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"})
    ::unsetenv(name);
  const auto proxy = [this](const std::string& cluster) {
    const Result<Kubeconfig> config = Load(Config(cluster, ""));
    return config.ok() ? config->proxy : config.error().text();
  };
  EXPECT_EQ(proxy("server: 'https://a'"), "");
  EXPECT_EQ(proxy("server: 'https://a', proxy-url: 'socks5://me:b@p'"), "socks5://me:b@p");
  EXPECT_EQ(proxy("server: 'https://localhost', proxy-url: 'http://p'"), "http://p") << "it is not asked whether";
  ASSERT_EQ(::setenv("HTTPS_PROXY", "p:3128", 1), 0);
  ASSERT_EQ(::setenv("NO_PROXY", ".b", 1), 0);
  EXPECT_EQ(proxy("server: 'https://a'"), "http://p:3128");
  EXPECT_EQ(proxy("server: 'https://a', proxy-url: 'http://q'"), "http://q");
  EXPECT_EQ(proxy("server: 'https://a.b'"), "");
  EXPECT_EQ(proxy("server: 'http://a'"), "");
  folder_.Write("token", "t1\n");
  folder_.Write("ca.crt", ca_.certificate_pem);
  const Result<Kubeconfig> pod = LoadInCluster({"10.0.0.1", "443", folder_.Path("")});
  ASSERT_TRUE(pod.ok()) << pod.error().text();
  EXPECT_EQ(pod->proxy, "http://p:3128");
  ASSERT_EQ(::setenv("HTTPS_PROXY", "ftp://me:hunter2@p", 1), 0);
  EXPECT_THAT(proxy("server: 'https://a'"),
              AllOf(HasSubstr("environment variable HTTPS_PROXY: unsupported scheme"), Not(HasSubstr("hunter2"))));
  ::unsetenv("HTTPS_PROXY");
  ::unsetenv("NO_PROXY");
  EXPECT_THAT(
      proxy("server: 'https://a', proxy-url: 'ftp://me:hunter2@p'"),
      AllOf(HasSubstr("clusters[c].cluster.proxy-url: unsupported scheme \"ftp\", must be http, https, or socks5"),
            Not(HasSubstr("hunter2"))));
  EXPECT_THAT(proxy("server: 'https://a', proxy-url: 5"), HasSubstr("clusters[c].cluster.proxy-url: must be a string"));
}

TEST_F(KubeconfigTest, AnotherServerHasAnotherProxy) {
  ASSERT_EQ(::setenv("HTTPS_PROXY", "http://p", 1), 0);
  ASSERT_EQ(::setenv("NO_PROXY", "b", 1), 0);
  const std::string user =
      "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
      "provideClusterInfo: true}";
  Result<Kubeconfig> config = Load(Config("server: 'https://a', tls-server-name: c", user));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->proxy, "http://p");
  EXPECT_TRUE(SetServer(config.value(), "https://b").ok());
  EXPECT_EQ(config->server, "https://b");
  EXPECT_EQ(config->proxy, "");
  EXPECT_EQ(config->exec.cluster, R"({"server":"https://b","tls-server-name":"c","config":null})");
  EXPECT_TRUE(SetServer(config.value(), "nonsense").ok());
  config = Load(Config("server: 'https://a', proxy-url: 'http://q'", ""));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_TRUE(SetServer(config.value(), "https://b").ok());
  EXPECT_EQ(config->proxy, "http://q");
  ::unsetenv("HTTPS_PROXY");
  ::unsetenv("NO_PROXY");
}

TEST_F(KubeconfigTest, AProgramCanGiveTheCredentials) {
  Result<Kubeconfig> config = Load(Config(
      "server: 'https://a'",
      "exec: {command: bin/aws, args: [eks, get-token], apiVersion: client.authentication.k8s.io/v1beta1, "
      "env: [{name: A, value: b}, {name: C, value: ''}], installHint: \"get it\\nthere\", provideClusterInfo: false}"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->exec.command, folder_.Path("bin/aws"));
  EXPECT_THAT(config->exec.args, ElementsAre("eks", "get-token"));
  EXPECT_EQ(config->exec.api_version, "client.authentication.k8s.io/v1beta1");
  EXPECT_THAT(config->exec.env, ElementsAre(std::pair("A", "b"), std::pair("C", "")));
  EXPECT_EQ(config->exec.install_hint, "get it there");
  EXPECT_EQ(config->exec.mode, InteractiveMode::kIfAvailable);
  EXPECT_EQ(config->exec.cluster, "");

  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1";
  config = Load(Config("server: 'https://a'", "exec: {command: aws, " + v1 + ", interactiveMode: Never}"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->exec.command, "aws");
  EXPECT_EQ(config->exec.mode, InteractiveMode::kNever);
  config = Load(Config("server: 'https://a'", "exec: {command: aws, " + v1 + ", interactiveMode: Always}"));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->exec.mode, InteractiveMode::kAlways);
  // Others go before it.
  const std::string exec = "exec: {command: aws, " + v1 + ", interactiveMode: Never}";
  for (const std::string& user : {std::string("token: abc"), std::string("username: a, password: b"),
                                  "client-certificate-data: " + EncodeBase64(client_.certificate_pem) +
                                      ", client-key-data: " + EncodeBase64(client_.key_pem)}) {
    config = Load(Config("server: 'https://a'", user + ", " + exec));
    ASSERT_TRUE(config.ok()) << config.error().text();
    EXPECT_EQ(config->exec.command, "");
  }
  config = Load(Config("server: 'http://a'", exec));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_THAT(WarningsOf(*config), ElementsAre(HasSubstr("the bearer token is sent to http://a without TLS")));
}

TEST_F(KubeconfigTest, AProgramIsToldOfTheClusterIfItWantsThat) {
  const std::string user =
      "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
      "provideClusterInfo: true}";
  Result<Kubeconfig> config = Load(Config("server: 'https://a'", user));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->exec.cluster, R"({"server":"https://a","config":null})");
  folder_.Write("ca.pem", ca_.certificate_pem);
  config = Load(Config(
      "server: 'https://a', tls-server-name: b, certificate-authority: ca.pem, disable-compression: true, "
      "extensions: [{name: other, extension: 1}, {name: client.authentication.k8s.io/exec, extension: {x: [1]}}]",
      user));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->exec.cluster, R"({"server":"https://a","tls-server-name":"b","certificate-authority-data":")" +
                                      EncodeBase64(ca_.certificate_pem) +
                                      R"(","disable-compression":true,"config":{"x":[1]}})");
  config = Load(Config("server: 'https://a', insecure-skip-tls-verify: true, proxy-url: 'http://p'", user));
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->exec.cluster,
            R"({"server":"https://a","insecure-skip-tls-verify":true,"proxy-url":"http://p","config":null})");
}

TEST_F(KubeconfigTest, WhatIsWrongWithAProgramIsSaidAsUpstreamSaysIt) {
  const std::string path = "users[u].user.exec", v1 = "apiVersion: client.authentication.k8s.io/v1";
  const struct {
    std::string exec;
    std::string want;
  } cases[] = {
      {"5", ": must be an object"},
      {"{}", ".command: command must be specified for u to use exec authentication plugin"},
      {"{command: a}", ".apiVersion: apiVersion must be specified for u to use exec authentication plugin"},
      {"{command: a, apiVersion: client.authentication.k8s.io/v1alpha1}",
       ".apiVersion: exec plugin: invalid apiVersion \"client.authentication.k8s.io/v1alpha1\""},
      {"{command: a, " + v1 + "}",
       ".interactiveMode: interactiveMode must be specified for u to use exec authentication plugin"},
      {"{command: a, " + v1 + ", interactiveMode: Perhaps}",
       ".interactiveMode: invalid interactiveMode for u: \"Perhaps\""},
      {"{command: a, " + v1 + ", env: {a: b}}", ".env: must be a list"},
      {"{command: a, " + v1 + ", env: [{value: hunter2}]}", ".env[0].name: env variable name must be specified for u"},
      {"{command: a, " + v1 + ", env: [{name: a=b, value: hunter2}]}", ".env[0]: no variable can have such a name"},
      {"{command: a, " + v1 + ", env: [{name: a, value: [hunter2]}]}", ".env[0].value: must be a string"},
      {"{command: [a]}", ".command: must be a string"},
      {"{command: a, args: b}", ".args: must be a list of strings"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(Fails(Config("server: 'https://a'", "exec: " + c.exec)),
                AllOf(HasSubstr(path + c.want), Not(HasSubstr("hunter2"))));
  }
}

TEST_F(KubeconfigTest, NoErrorShowsASecret) {
  EXPECT_THAT(Fails(Config("server: 'https://a'", "token: [hunter2]")),
              AllOf(HasSubstr("users[u].user.token: must be a string"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(Fails(Config("server: 'https://a'", "client-key-data: hunter2!")), Not(HasSubstr("hunter2")));
  EXPECT_THAT(Fails(Config("server: 'https://a'", R"(token: "hunter2\n2")")), Not(HasSubstr("hunter2")));
  EXPECT_THAT(Fails(Config("server: 'https://a?token=hunter2'", "")),
              AllOf(HasSubstr("clusters[c].cluster.server: a query"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(Fails(Config("server: 'https://me:hunter2@a'", "")), Not(HasSubstr("hunter2")));
  EXPECT_THAT(Fails(Config("server: eyJhbGciOiJSUzI1NiJ9.hunter2.hunter2", "")),
              AllOf(HasSubstr("clusters[c].cluster.server"), Not(HasSubstr("hunter2"))));
  // Files that are no kubeconfig.
  EXPECT_THAT(Fails(client_.key_pem), AllOf(HasSubstr("must be an object"), Not(HasSubstr("PRIVATE KEY"))));
  for (const char* text : {"hunter2", "*hunter2", "- hunter2", "a: !!int hunter2", "{\"hunter2"}) {
    EXPECT_THAT(Fails(text), Not(HasSubstr("hunter2"))) << text;
  }
}

TEST_F(KubeconfigTest, WhatIsUnwiseIsTold) {
  const auto warnings = [this](const std::string& cluster, const std::string& user) {
    const Result<Kubeconfig> config = Load(Config(cluster, user));
    EXPECT_TRUE(config.ok()) << config.error().text();
    std::filesystem::permissions(config->file, std::filesystem::perms(0600));
    return WarningsOf(*config);
  };
  EXPECT_THAT(warnings("server: 'https://a'", "token: hunter2"), IsEmpty());
  EXPECT_THAT(warnings("server: 'http://a'", ""), IsEmpty());
  EXPECT_THAT(warnings("server: 'http://a'", "token: hunter2"),
              ElementsAre(AllOf(HasSubstr("the bearer token is sent to http://a without TLS"), HasSubstr("kubeconfig "),
                                Not(HasSubstr("hunter2")))));
  EXPECT_THAT(warnings("server: 'http://a'", "username: me, password: hunter2"),
              ElementsAre(AllOf(HasSubstr("the password is sent to http://a"), Not(HasSubstr("hunter2")))));
  folder_.Write("token", "hunter2");
  EXPECT_THAT(warnings("server: 'http://a'", "tokenFile: token"), ElementsAre(HasSubstr("the bearer token is sent")));
  EXPECT_THAT(warnings("server: 'https://a', insecure-skip-tls-verify: true", ""),
              ElementsAre(HasSubstr("insecure-skip-tls-verify: the certificate of https://a is not checked")));

  folder_.Write("me.crt", client_.certificate_pem);
  const std::string key = folder_.Write("me.key", client_.key_pem);
  std::filesystem::permissions(key, std::filesystem::perms(0640));
  const std::string user = "client-certificate: me.crt, client-key: me.key";
  EXPECT_THAT(warnings("server: 'https://a'", user),
              ElementsAre(HasSubstr("client-key " + key + ": its group can read it (mode 0640)")));
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  EXPECT_THAT(warnings("server: 'https://a'", user), IsEmpty());

  Result<Kubeconfig> config = Load(Config("server: 'https://a'", "token: hunter2"));
  ASSERT_TRUE(config.ok());
  std::filesystem::permissions(config->file, std::filesystem::perms(0644));
  EXPECT_THAT(WarningsOf(*config),
              ElementsAre(HasSubstr(config->file + ", which holds credentials: group and others")));
  config = Load(Config("server: 'https://a'", "tokenFile: token"));
  ASSERT_TRUE(config.ok());
  EXPECT_THAT(WarningsOf(*config), IsEmpty()) << "there is nothing to read in it";
}

TEST_F(KubeconfigTest, APodFindsItsServiceAccount) {
  folder_.Write("token", "t1\n");
  folder_.Write("ca.crt", ca_.certificate_pem);
  folder_.Write("namespace", "kube-system\n");
  Result<Kubeconfig> config = LoadInCluster({"10.0.0.1", "443", folder_.Path("")});
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->namespace_, "kube-system");
  EXPECT_EQ(config->tls.ca_file, folder_.Path("ca.crt"));
  EXPECT_EQ(Credentials(*config, Duration::Seconds(1)).Header(), "Bearer t1");
  config = LoadInCluster({"fd00::1", "443", folder_.Path("")});
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->server, "https://[fd00::1]:443");

  EXPECT_THAT(LoadInCluster({"", "443", folder_.Path("")}).error().text(),
              HasSubstr("in-cluster configuration: KUBERNETES_SERVICE_HOST is not set"));
  EXPECT_THAT(LoadInCluster({"a b", "443", folder_.Path("")}).error().text(), HasSubstr("KUBERNETES_SERVICE_HOST"));
  EXPECT_THAT(LoadInCluster({"10.0.0.1", "443", folder_.Path("none")}).error().text(),
              HasSubstr(folder_.Path("none") + "/token"));
  folder_.Write("token", "\n");
  EXPECT_THAT(LoadInCluster({"10.0.0.1", "443", folder_.Path("")}).error().text(),
              HasSubstr(folder_.Path("token") + ": there is no token in it"));
  folder_.Write("token", "t1\n");
  folder_.Write("ca.crt", "nothing");
  EXPECT_THAT(LoadInCluster({"10.0.0.1", "443", folder_.Path("")}).error().text(),
              AllOf(HasSubstr(folder_.Path("ca.crt")), HasSubstr("no PEM certificate")));
}

TEST_F(KubeconfigTest, ATokenFileIsReadAgain) {
  Kubeconfig config;
  config.token_file = folder_.Write("token", "t1");
  std::vector<std::string> warnings;
  Credentials often(config, Duration{0}, [&](const std::string& sentence) { warnings.push_back(sentence); });
  Credentials seldom(config, Duration::Seconds(3600));
  folder_.Write("token", "t2");
  EXPECT_EQ(often.Header(), "Bearer t2");
  EXPECT_EQ(seldom.Header(), "Bearer t1");
  EXPECT_TRUE(seldom.Renew("Bearer t1"));  // the server has refused it
  EXPECT_EQ(seldom.Header(), "Bearer t2");
  EXPECT_TRUE(seldom.Renew("Bearer t1"));  // somebody else has renewed it meanwhile
  EXPECT_FALSE(seldom.Renew("Bearer t2"));
  EXPECT_THAT(warnings, IsEmpty());
  folder_.Write("token", " \n");
  EXPECT_EQ(often.Header(), "Bearer t2");  // half written, perhaps
  std::filesystem::remove(folder_.Path("token"));
  EXPECT_EQ(often.Header(), "Bearer t2");
  folder_.Write("token", "t3\nX-Other: header\n");
  EXPECT_EQ(often.Header(), "Bearer t2");
  const std::string file = "token file " + folder_.Path("token");
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr(file + ": there is no token in it"),
                          HasSubstr(file + ": cannot open file: No such file or directory"),
                          HasSubstr(file + ": there is a line break or another control character within the token")));
  folder_.Write("token", "\t t4 \r\n");
  EXPECT_EQ(often.Header(), "Bearer t4");
}

}  // namespace
}  // namespace berth::client
