// SPDX-License-Identifier: Apache-2.0
// Which requests that had to wait are told of, and how often.
#include "live/request_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "berth/testing.h"

namespace berth::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CountedRequests final : public client::RequestObserver {
 public:
  std::vector<std::string> told;
  void Paced(const client::PacedRequest& request) override { told.push_back("paced " + request.path); }
  void Tried(const std::string&, const std::string& method, int, size_t, bool) override {
    told.push_back("tried " + method);
  }
  void Finished(const std::string&, const std::string& method, double, size_t) override {
    told.push_back("finished " + method);
  }
};

class RequestLogTest : public ::testing::Test {
 protected:
  // The lines about a request that has waited so long, without their heads.
  std::vector<std::string> Waited(double seconds) {
    text_.str("");
    const std::string host = "h:6443", method = "POST", server = "https://h:6443", path = "/api/v1/x?y=z";
    requests_.Paced({host, method, server, path, seconds});
    std::istringstream in(text_.str());
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line.substr(line.find("] ") + 2));
    return lines;
  }
  static std::string Line(const std::string& delay) {
    return "\"Waited before sending request\" delay=\"" + delay +
           "\" reason=\"client-side throttling, not priority and fairness\" verb=\"POST\" "
           "URL=\"https://h:6443/api/v1/x?y=z\"";
  }

  ManualClock clock_;
  std::ostringstream text_;
  util::Log log_{text_, util::LogOptions{}, clock_};
  CountedRequests counted_;
  RequestLog requests_{counted_, log_, clock_};
};

TEST_F(RequestLogTest, AtThreeEveryRequestThatHadToWait) {
  log_.SetVerbosity(3);
  EXPECT_THAT(Waited(0.05), IsEmpty());
  EXPECT_THAT(Waited(0.0625), ElementsAre(Line("62.5ms")));
  EXPECT_THAT(Waited(0.0625), ElementsAre(Line("62.5ms")));
  EXPECT_THAT(Waited(1), ElementsAre(Line("1s")));
  EXPECT_THAT(Waited(1.5), ElementsAre(Line("1.5s"), Line("1.5s"))) << "upstream tells of it twice, too";
  EXPECT_THAT(Waited(1.5), ElementsAre(Line("1.5s")));
}

TEST_F(RequestLogTest, OnesThatWaitedLongAreToldOfNowAndThen) {
  EXPECT_THAT(Waited(1), IsEmpty());
  EXPECT_THAT(Waited(1.5), ElementsAre(Line("1.5s")));
  clock_.Advance(Duration::Millis(9999));
  EXPECT_THAT(Waited(1.5), IsEmpty());
  clock_.Advance(Duration::Millis(1));
  EXPECT_THAT(Waited(61), ElementsAre(Line("1m1s")));
  log_.SetVerbosity(2);
  EXPECT_THAT(Waited(1.5), ElementsAre(Line("1.5s")));
  clock_.Advance(Duration::Millis(999));
  EXPECT_THAT(Waited(1.5), IsEmpty());
  clock_.Advance(Duration::Millis(1));
  EXPECT_THAT(Waited(1.5), ElementsAre(Line("1.5s")));
}

TEST_F(RequestLogTest, TheOtherObserverIsToldOfEverything) {
  Waited(0);
  requests_.Tried("h:6443", "GET", 200, 0, false);
  requests_.Finished("h:6443", "GET", 0.1, 7);
  EXPECT_THAT(counted_.told, ElementsAre("paced /api/v1/x?y=z", "tried GET", "finished GET"));
}

}  // namespace
}  // namespace berth::live
