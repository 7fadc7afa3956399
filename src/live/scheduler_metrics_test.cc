// SPDX-License-Identifier: Apache-2.0
// Names, labels, buckets and values, as a scrape shows them, and the lines of the log.
#include "live/scheduler_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "berth/testing.h"
#include "config/load.h"
#include "live/scheduler_log.h"
#include "plugins/builtin.h"

namespace berth::live {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SchedulerMetricsTest : public ::testing::Test {
 protected:
  SchedulerMetricsTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", registry_);
    auto engine = framework::Engine::Make(loaded.config, registry_, clock_);
    EXPECT_TRUE(engine.ok());
    engine_ = std::move(engine).value();
    pod_ = MakePod("p");
  }
  const framework::Profile& profile() const { return engine_->first_profile(); }
  // An attempt that took this long.
  cycle::Attempt Took(Duration d) {
    cycle::Attempt attempt;
    attempt.pod = &pod_;
    attempt.profile = &profile();
    attempt.began = clock_.Now();
    clock_.Advance(d);
    attempt.decided = clock_.Now();
    return attempt;
  }

  ManualClock clock_;
  Registry registry_;
  std::unique_ptr<framework::Engine> engine_;
  Pod pod_;
  util::Metrics metrics_;
  SchedulerMetrics observer_{metrics_, clock_};
  std::ostringstream log_text_;
  util::Log log_{log_text_, {.verbosity = 5}, clock_};
  SchedulerLog lines_{log_};
};

TEST_F(SchedulerMetricsTest, AttemptsAreCountedByHowTheyEnd) {
  cycle::Attempt attempt = Took(Duration::Millis(3));
  attempt.message = "0/1 nodes are available: 1 Insufficient cpu.";
  observer_.OnAttempt(attempt);
  attempt = Took(Duration::Millis(1));
  attempt.error = true;
  observer_.OnAttempt(attempt);
  attempt = Took(Duration::Millis(5));
  attempt.node = "n";
  observer_.OnAttempt(attempt);  // is not over yet
  const std::string node = "n";
  queue::QueuedPodInfo info;
  info.attempts = 17;
  info.initial_attempt = clock_.Now();
  info.was_flushed = true;
  clock_.Advance(Duration::Millis(30));
  const cycle::AttemptFacts facts{attempt.began, 3, 2};
  observer_.OnScheduled({pod_, node, profile(), info, facts});
  const std::string text = metrics_.Text();
  for (const char* line : {
           "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"unschedulable\"} 1",
           "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"error\"} 1",
           "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"scheduled\"} 1",
           "scheduler_scheduling_attempt_duration_seconds_bucket{profile=\"default-scheduler\",result=\"scheduled\",le="
           "\"0.032\"} 0",
           "scheduler_scheduling_attempt_duration_seconds_bucket{profile=\"default-scheduler\",result=\"scheduled\",le="
           "\"0.064\"} 1",
           "scheduler_scheduling_algorithm_duration_seconds_count 3",
           "scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"16.384\"} 3",
           "scheduler_pod_scheduling_attempts_bucket{le=\"16\"} 0",
           "scheduler_pod_scheduling_attempts_bucket{le=\"+Inf\"} 1",
           "scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts=\"15+\",le=\"0.04\"} 1",
           "scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts=\"15+\",le=\"5242.88\"} 1",
           "scheduler_pod_scheduled_after_flush_total 1",
       })
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(SchedulerMetricsTest, ABindingThatFailsIsTheEndOfItsAttempt) {
  cycle::Attempt attempt = Took(Duration::Millis(5));
  attempt.node = "n";
  clock_.Advance(Duration::Millis(40));  // Reserve, Permit and what else comes after the decision
  observer_.OnAttempt(attempt);
  const cycle::AttemptFacts facts{attempt.began, 3, 2};
  observer_.OnNotBound({profile(), facts, true});
  observer_.OnNotBound({profile(), facts, false});
  const std::string text = metrics_.Text();
  for (const char* line : {
           "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"error\"} 1",
           "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"unschedulable\"} 1",
           "scheduler_scheduling_attempt_duration_seconds_bucket{profile=\"default-scheduler\",result=\"error\",le="
           "\"0.032\"} 0",
           "scheduler_scheduling_attempt_duration_seconds_bucket{profile=\"default-scheduler\",result=\"error\",le="
           "\"0.064\"} 1",
           "scheduler_scheduling_algorithm_duration_seconds_count 1",
           "scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"0.008\"} 1",
           "scheduler_pod_scheduling_attempts_count 0",
       })
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(SchedulerMetricsTest, PreemptionPermitHintsAndNewsAreMeasured) {
  const std::string node = "n";
  observer_.OnPreemptionBegun({pod_, node, 3, 2});
  observer_.OnPreemptionEnded({pod_, node, 3, 2, true, Duration::Millis(30)});
  observer_.OnPreemptionEnded({pod_, node, 3, 2, false, Duration::Millis(1)});
  observer_.OnPermitWaited(Code::kUnschedulable, Duration::Millis(3));
  observer_.OnHint("Fit", {EventResource::kNode, action::kAdd}, QueueingHint::kSkip, Duration{12'000});
  observer_.OnEventHandled({EventResource::kNode, action::kUpdateNodeTaint}, Duration{150'000});
  const std::string text = metrics_.Text();
  for (const char* line : {
           "scheduler_preemption_victims_bucket{le=\"2\"} 0",
           "scheduler_preemption_victims_bucket{le=\"4\"} 1",
           "scheduler_preemption_victims_bucket{le=\"64\"} 1",
           "scheduler_preemption_goroutines_execution_total{result=\"success\"} 1",
           "scheduler_preemption_goroutines_execution_total{result=\"error\"} 1",
           "scheduler_preemption_goroutines_duration_seconds_bucket{result=\"success\",le=\"0.04\"} 1",
           "scheduler_permit_wait_duration_seconds_bucket{result=\"Unschedulable\",le=\"0.004\"} 1",
           "scheduler_queueing_hint_execution_duration_seconds_count{event=\"NodeAdd\",hint=\"QueueSkip\",plugin="
           "\"Fit\"} 1",
           "scheduler_event_handling_duration_seconds_bucket{event=\"NodeUpdateNodeTaint\",le=\"0.0002\"} 1",
       })
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(SchedulerMetricsTest, WhatBringsPodsIntoAQueueIsCounted) {
  queue::QueuedPodInfo info;
  info.pod = std::make_shared<const Pod>(pod_);
  observer_.OnQueueMove(info, queue::Place::kActive, "UnschedulablePodAdd");
  observer_.OnQueueMove(info, queue::Place::kActive, "UnschedulablePodAdd");
  observer_.OnQueueMove(info, queue::Place::kErrorBackoff, "ScheduleAttemptFailure");
  observer_.OnQueueMove(info, queue::Place::kInFlight, "Popped");
  const std::string text = metrics_.Text();
  EXPECT_THAT(text, HasSubstr("scheduler_queue_incoming_pods_total{event=\"UnschedulablePodAdd\",queue=\"active\"} 2"));
  EXPECT_THAT(text,
              HasSubstr("scheduler_queue_incoming_pods_total{event=\"ScheduleAttemptFailure\",queue=\"backoff\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("Popped")));
}

TEST_F(SchedulerMetricsTest, EveryGateAndTheBuildAreTold) {
  AddProcessFacts(metrics_, config::FeatureGates(), "v1.36.4");
  const std::string text = metrics_.Text();
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled{name=\"SchedulerQueueingHints\",stage=\"\"} 1"));
  EXPECT_THAT(text, HasSubstr("git_version=\"v1.36.4\""));
  EXPECT_THAT(text, HasSubstr("major=\"1\",minor=\"36\""));
  EXPECT_THAT(text, HasSubstr("process_cpu_seconds_total"));
}

TEST_F(SchedulerMetricsTest, LinesThatPeopleLookForAreInTheLog) {
  Observers all({&observer_, &lines_});
  cycle::Attempt attempt = Took({});
  attempt.message = "0/1 nodes are available: 1 Insufficient cpu.";
  all.OnAttempt(attempt);
  attempt.message = "no nodes available to schedule pods";
  all.OnAttempt(attempt);
  attempt.error = true;
  attempt.message = "plugin failed";
  all.OnAttempt(attempt);
  attempt.node = "n";
  all.OnAttempt(attempt);
  queue::QueuedPodInfo info;
  info.pod = std::make_shared<const Pod>(pod_);
  const cycle::AttemptFacts facts{attempt.began, 3, 2};
  all.OnScheduled({pod_, attempt.node, profile(), info, facts});
  all.OnBindFailed(pod_, "n", "conflict");
  all.OnQueueMove(info, queue::Place::kBackoff, "NodeAdd");
  all.OnListFailure(Kind::kCsiDriver, "forbidden");
  all.OnComplaint("odd");
  const std::string text = log_text_.str();
  for (const char* line : {
           "\"Unable to schedule pod; no fit; waiting\" pod=\"default/p\" err=\"0/1 nodes are available: 1 "
           "Insufficient cpu.\"",
           "\"Unable to schedule pod; no nodes are registered to the cluster; waiting\" pod=\"default/p\"",
           "\"Error scheduling pod; retrying\" err=\"plugin failed\" pod=\"default/p\"",
           "\"Attempting to bind pod to node\" pod=\"default/p\" node=\"n\"",
           "\"Successfully bound pod to node\" pod=\"default/p\" node=\"n\" evaluatedNodes=3 feasibleNodes=2",
           "\"Error scheduling pod; retrying\" err=\"conflict\" pod=\"default/p\" node=\"n\"",
           "\"Pod moved to an internal scheduling queue\" pod=\"default/p\" event=\"NodeAdd\" queue=\"Backoff\"",
           "\"Failed to watch\" err=\"forbidden\" type=\"*v1.CSIDriver\"",
           "] odd",
       })
    EXPECT_THAT(text, HasSubstr(line));
}

}  // namespace
}  // namespace berth::live
