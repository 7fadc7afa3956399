// SPDX-License-Identifier: Apache-2.0
// Reading files and configurations for the commands.
#include "cli/inputs.h"

#include <cstdint>
#include <map>
#include <ostream>
#include <utility>

#include "api/file_text.h"
#include "cli/policy_sources.h"

namespace berth::cli {
namespace {

constexpr uint64_t kMaxConfigurationBytes = uint64_t{16} << 20;

}  // namespace

std::optional<LoadedObjects> ReadObjects(const std::vector<std::string>& paths, const AnnotationKeys& annotations,
                                         std::ostream& err, const SourceFn& source) {
  LoadOptions options;
  options.annotations = annotations;
  options.source = source;
  options.unread_kind = [&](const std::string& api_version, const std::string& kind, const std::string& file) {
    err << "warning: " << file << ": objects of kind " << kind << " (" << api_version << ") are ignored\n";
  };
  LoadResult result = LoadObjects(paths, options);
  // Pods are told apart by uid: of two with one uid, the second would silently not be there.
  std::map<std::string, const Pod*> by_uid;
  for (const auto& pod : result.objects.of<Pod>()) {
    const auto [first, added] = by_uid.emplace(pod->uid(), pod.get());
    if (added) continue;
    result.errors.push_back(
        {"", "Pod", FullName(*pod), "metadata.uid", pod->uid(),
         "Duplicate value: " + Quoted(pod->uid()) + ", which is also the uid of " + FullName(*first->second)});
  }
  for (const LoadError& error : result.errors) err << error.Text() << "\n";
  if (!result.ok()) return std::nullopt;
  return std::move(result.objects);
}

std::optional<legacy::Loaded> ReadAnyConfiguration(const std::string& path, const Registry& registry, std::ostream& err,
                                                   const ConfigurationUse& use, std::string* text) {
  const Result<FileText> file = FileText::Read(path, kMaxConfigurationBytes);
  if (!file.ok()) {
    err << path << ": " << file.error().text() << "\n";
    return std::nullopt;
  }
  if (text != nullptr) *text = std::string(file->text());
  legacy::LoadOptions options;
  options.unnamed = use.unnamed;
  options.policy = PolicyFromFiles(use.objects, use.how);
  options.no_policy = use.no_policy;
  legacy::Loaded loaded = legacy::Load(std::string(file->text()), path, registry, options);
  if (const std::string warning = loaded.Warning(path); !warning.empty()) err << "warning: " << warning << "\n";
  for (const legacy::Problem& problem : loaded.problems) err << problem.ToString() << "\n";
  if (use.unknown_plugins) loaded.unknown.clear();
  for (const legacy::Problem& problem : loaded.unknown) err << problem.ToString() << "\n";
  if (!loaded.ok() || !loaded.unknown.empty()) return std::nullopt;
  return loaded;
}

std::optional<config::SchedulerConfiguration> ReadConfiguration(const std::string& path, const Registry& registry,
                                                                std::ostream& err, const ConfigurationUse& use) {
  if (path.empty()) return config::DefaultConfiguration(registry);
  std::optional<legacy::Loaded> loaded = ReadAnyConfiguration(path, registry, err, use);
  if (!loaded) return std::nullopt;
  return std::move(loaded->config);
}

std::unique_ptr<framework::Engine> MakeEngine(const config::SchedulerConfiguration& configuration,
                                              const std::string& path, const Registry& registry, const Clock& clock,
                                              std::ostream& err, LogSink* log) {
  Result<std::unique_ptr<framework::Engine>> engine = framework::Engine::Make(configuration, registry, clock, 0, log);
  if (!engine.ok()) {
    err << (path.empty() ? "configuration" : path) << ": " << engine.error().text() << "\n";
    return nullptr;
  }
  return std::move(engine).value();
}

}  // namespace berth::cli
