// SPDX-License-Identifier: Apache-2.0
#include "serving/zpages.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "client/request_body.h"
#include "serving/media_type.h"
#include "serving/replies.h"
#include "util/text.h"

namespace berth::serving {
namespace {

constexpr MediaType kForms[] = {MediaType::kJson, MediaType::kYaml, MediaType::kText};
constexpr std::array<std::string_view, 4> kDelimiters = {":", ": ", "=", " "};
constexpr char kWarning[] =
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is "
    "for debugging purposes only.\n";

std::string Head(const std::string& component, std::string_view page) {
  return "\n" + component + " " + std::string(page) + "\n" + kWarning;
}

template <const char* kind>
bool Allows(MediaType type, const std::optional<Conversion>& wanted) {
  if (type == MediaType::kText) return !wanted;
  return wanted && wanted->group == "config.k8s.io" && wanted->kind == kind &&
         (wanted->version == "v1beta1" || wanted->version == "v1alpha1");
}

constexpr char kStatusz[] = "Statusz", kFlagz[] = "Flagz";

// `text` and `fields` make the two forms; `fields` is added to what all documents have.
template <const char* kind, class Text, class Fields>
net::HttpResponse Page(const net::HttpRequest& request, const std::string& component, std::string_view page,
                       const Text& text, const Fields& fields) {
  const std::string* accept = request.headers.Find("Accept");
  if (accept == nullptr || accept->find_first_not_of(" \t") == std::string::npos) return PlainText(200, text());
  const std::optional<Negotiated> form = Negotiate(request, kForms, Allows<kind>);
  if (!form) return NotAcceptable(kForms);
  if (form->type == MediaType::kText) return PlainText(200, text());
  const std::string& version = form->conversion->version;
  Value document = Value::Object();
  document.Set("kind", Value::String(kind)).Set("apiVersion", Value::String("config.k8s.io/" + version));
  document.Set("metadata", Value::Object({{"name", Value::String(component)}}));
  fields(document);
  net::HttpResponse response = Document(200, document, *form);
  response.content_type += ";g=config.k8s.io;v=" + version + ";as=" + kind;
  if (version == "v1alpha1") {
    response.headers.Add("Warning", "299 - \"This version of the " + std::string(page) +
                                        " endpoint is deprecated. Please use a newer version.\"");
  }
  return response;
}

// As `date` prints it, in the machine's time zone.
std::string DateText(Time time) {
  const auto seconds = static_cast<time_t>(time.ns / 1'000'000'000);
  tm parts = {};
  ::localtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Z %Y", &parts));
}

std::string UptimeText(int64_t seconds) {
  char text[64];
  std::snprintf(text, sizeof(text), "%lld hr %02d min %02d sec", static_cast<long long>(seconds / 3600),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
  return text;
}

}  // namespace

Statusz::Statusz(StatuszFacts facts, const Clock& wall_clock, std::function<uint64_t()> random)
    : facts_(std::move(facts)), clock_(wall_clock), random_(std::move(random)) {
  std::set<std::string> folders;
  for (const std::string& path : facts_.paths) {
    if (path.size() < 2 || path[0] != '/' || path[1] == '/') continue;
    folders.insert(path.substr(0, path.find('/', 1)));
  }
  paths_.assign(folders.begin(), folders.end());
}

net::HttpResponse Statusz::Handle(const net::HttpRequest& request) const {
  const Time start{facts_.process_start.ns / 1'000'000'000 * 1'000'000'000};
  const int64_t up = std::max<int64_t>(0, (clock_.Now() - start).ns / 1'000'000'000);
  const auto text = [&] {
    const std::string delimiter = std::string(kDelimiters[random_() % kDelimiters.size()]) + " ";
    std::string paths;
    for (const std::string& path : paths_) paths += (paths.empty() ? "" : " ") + path;
    std::string page = Head(facts_.component, "statusz") + "\n";
    page += "Started" + delimiter + DateText(start) + "\n";
    page += "Up" + delimiter + UptimeText(up) + "\n";
    page += "Go version" + delimiter + facts_.runtime_version + "\n";
    page += "Binary version" + delimiter + facts_.binary_version + "\n";
    if (!facts_.emulation_version.empty()) page += "Emulation version" + delimiter + facts_.emulation_version;
    page += "\n";
    if (!paths.empty()) page += "Paths" + delimiter + paths;
    return page + "\n";
  };
  const auto fields = [&](Value& document) {
    document.Set("startTime", Value::String(client::FormatTime(start))).Set("uptimeSeconds", Value::Int(up));
    document.Set("goVersion", Value::String(facts_.runtime_version));
    document.Set("binaryVersion", Value::String(facts_.binary_version));
    if (!facts_.emulation_version.empty()) document.Set("emulationVersion", Value::String(facts_.emulation_version));
    if (paths_.empty()) return;
    Value paths = Value::Array();
    for (const std::string& path : paths_) paths.Append(Value::String(path));
    document.Set("paths", std::move(paths));
  };
  return Page<kStatusz>(request, facts_.component, "statusz", text, fields);
}

Flagz::Flagz(std::string component, std::function<Flags()> flags, std::function<uint64_t()> random)
    : component_(std::move(component)), flags_(std::move(flags)), random_(std::move(random)) {}

net::HttpResponse Flagz::Handle(const net::HttpRequest& request) const {
  const auto text = [&] {
    const std::lock_guard lock(mutex_);
    if (text_.empty()) {
      const std::string_view delimiter = kDelimiters[random_() % kDelimiters.size()];
      text_ = Head(component_, "flagz");
      for (const auto& [flag, value] : flags_()) text_ += flag + std::string(delimiter) + value + "\n";
    }
    return text_;
  };
  const auto fields = [&](Value& document) {
    Value flags = Value::Object();
    for (const auto& [flag, value] : flags_()) flags.Set(flag, Value::String(util::ValidUtf8(value)));
    document.Set("flags", std::move(flags));
  };
  return Page<kFlagz>(request, component_, "flagz", text, fields);
}

}  // namespace berth::serving
