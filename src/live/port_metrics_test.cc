// SPDX-License-Identifier: Apache-2.0
// What requests to an API server and requests on the port leave behind for a scrape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/client_metrics.h"
#include "live/serving_metrics.h"
#include "util/system_clock.h"

namespace berth::live {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ClientMetricsTest, RequestsAreCountedAsClientGoDoes) {
  util::Metrics metrics;
  ClientMetrics client(metrics);
  const std::string host = "h:6443", method = "POST", server = "https://h:6443", path = "/api";
  client.Paced({host, method, server, path, 0.3});
  client.Tried("h:6443", "POST", 429, 300, false);
  client.Tried("h:6443", "POST", 201, 300, true);
  client.Finished("h:6443", "POST", 0.7, 2000);
  client.Tried("h:6443", "GET", 0, 0, false);
  const std::string text = metrics.Text();
  for (const char* line : {
           "rest_client_requests_total{code=\"429\",host=\"h:6443\",method=\"POST\"} 1\n",
           "rest_client_requests_total{code=\"201\",host=\"h:6443\",method=\"POST\"} 1\n",
           "rest_client_requests_total{code=\"<error>\",host=\"h:6443\",method=\"GET\"} 1\n",
           "rest_client_request_retries_total{code=\"201\",host=\"h:6443\",verb=\"POST\"} 1\n",
           "rest_client_rate_limiter_duration_seconds_bucket{host=\"h:6443\",verb=\"POST\",le=\"0.5\"} 1\n",
           "rest_client_request_duration_seconds_bucket{host=\"h:6443\",verb=\"POST\",le=\"0.5\"} 0\n",
           "rest_client_request_duration_seconds_bucket{host=\"h:6443\",verb=\"POST\",le=\"60\"} 1\n",
           "rest_client_request_size_bytes_bucket{host=\"h:6443\",verb=\"POST\",le=\"512\"} 2\n",
           "rest_client_response_size_bytes_bucket{host=\"h:6443\",verb=\"POST\",le=\"4096\"} 1\n",
       })
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(ClientMetricsTest, ExecPluginsAreCountedAsClientGoDoes) {
  client::ExecPluginTally plugins;
  util::Metrics metrics;
  const ClientMetrics client(metrics, plugins);
  EXPECT_THAT(metrics.Text(), AllOf(HasSubstr("rest_client_exec_plugin_ttl_seconds +Inf\n"),
                                    HasSubstr("rest_client_exec_plugin_certificate_rotation_age_count 0\n"),
                                    Not(HasSubstr("rest_client_exec_plugin_call_total"))));
  plugins.Called(0, "no_error");
  plugins.Called(0, "no_error");
  plugins.Called(3, "plugin_execution_error");
  plugins.Rotated(700);
  int far = 0, near = 0;  // two plugins
  plugins.Expires(&far, util::SystemClock().Now() + Duration::Seconds(1'000'000));
  plugins.Expires(&near, Time{});
  (void)metrics.Text();
  plugins.Called(0, "no_error");
  plugins.Rotated(100);
  const std::string text = metrics.Text();
  for (const char* line : {
           "rest_client_exec_plugin_call_total{call_status=\"no_error\",code=\"0\"} 3\n",
           "rest_client_exec_plugin_call_total{call_status=\"plugin_execution_error\",code=\"3\"} 1\n",
           "rest_client_exec_plugin_certificate_rotation_age_bucket{le=\"600\"} 1\n",
           "rest_client_exec_plugin_certificate_rotation_age_bucket{le=\"1800\"} 2\n",
           "rest_client_exec_plugin_ttl_seconds -",
       })
    EXPECT_THAT(text, HasSubstr(line));
  plugins.Expires(&near, std::nullopt);
  EXPECT_THAT(metrics.Text(), HasSubstr("rest_client_exec_plugin_ttl_seconds 9999"));
}

TEST(ServingMetricsTest, WhoAskedIsCountedByResultAndNotByName) {
  util::Metrics metrics;
  ServingMetrics port(metrics);
  port.Authenticated("success", "kubelet", 0.003);
  port.Authenticated("success", "somebody@example.com", 0.003);
  port.Authenticated("success", "anybody", 0.003);
  port.Authenticated("error", "", 0.003);
  port.Authorized("no-opinion", 0.003);
  port.TokenReviewed("201", 0.6);
  port.AccessReviewed("<error>", 20);
  port.TokenLookedUp(true, 0);
  port.TokenLookedUp(false, 0.2);
  port.TokenLookedUp(false, 20);
  port.TokenFetched(true);
  port.TokenFetched(false);
  port.TokenFetches(2, 5);
  port.TokenFetches(1, 3);
  port.CertificateShown(3000);
  const std::string text = metrics.Text();
  for (const char* line : {
           "authentication_attempts{result=\"success\"} 3\n",
           "authentication_attempts{result=\"error\"} 1\n",
           "authentication_duration_seconds_bucket{result=\"success\",le=\"0.004\"} 3\n",
           "authenticated_user_requests{username=\"kubelet\"} 1\n",
           "authenticated_user_requests{username=\"email_id\"} 1\n",
           "authenticated_user_requests{username=\"other\"} 1\n",
           "authorization_attempts_total{result=\"no-opinion\"} 1\n",
           "authorization_duration_seconds_count{result=\"no-opinion\"} 1\n",
           "apiserver_delegated_authn_request_total{code=\"201\"} 1\n",
           "apiserver_delegated_authn_request_duration_seconds_bucket{code=\"201\",le=\"0.7\"} 1\n",
           "apiserver_delegated_authz_request_total{code=\"<error>\"} 1\n",
           "apiserver_delegated_authz_request_duration_seconds_bucket{code=\"<error>\",le=\"10\"} 0\n",
           "authentication_token_cache_request_total{status=\"hit\"} 1\n",
           "authentication_token_cache_request_total{status=\"miss\"} 2\n",
           "authentication_token_cache_request_duration_seconds_bucket{status=\"miss\",le=\"0.25\"} 1\n",
           "authentication_token_cache_request_duration_seconds_bucket{status=\"hit\",le=\"0.005\"} 1\n",
           "authentication_token_cache_fetch_total{status=\"ok\"} 1\n",
           "authentication_token_cache_fetch_total{status=\"error\"} 1\n",
           "authentication_token_cache_active_fetch_count{status=\"in_flight\"} 1\n",
           "authentication_token_cache_active_fetch_count{status=\"blocked\"} 3\n",
           "apiserver_client_certificate_expiration_seconds_bucket{le=\"1800\"} 0\n",
           "apiserver_client_certificate_expiration_seconds_bucket{le=\"3600\"} 1\n",
       })
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("example.com")));
}

}  // namespace
}  // namespace berth::live
