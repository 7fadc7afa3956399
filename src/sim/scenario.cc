// SPDX-License-Identifier: Apache-2.0
// From a scenario's text to steps and expectations that can run.
#include "sim/scenario.h"

#include <filesystem>
#include <set>
#include <utility>

#include "api/file_text.h"
#include "api/json_value.h"
#include "api/load_error.h"
#include "api/yaml.h"
#include "berth/args.h"
#include "sim/scenario_world.h"

namespace berth::sim {
namespace {

using Key = ScenarioWorld::Key;

constexpr char kApiVersion[] = "berth.dev/v1alpha1";
constexpr char kKind[] = "Scenario";
// Ten years: far from where 64 bits of nanoseconds end.
constexpr Duration kLongest = Duration::Seconds(10LL * 365 * 24 * 3600);

// A step as written: what it does is known once the objects in front of it are.
struct WrittenStep {
  std::string path;
  Duration at;
  enum class Verb : uint8_t { kNone, kApply, kPatch, kDelete } verb = Verb::kNone;
  const Value* objects = nullptr;  // kApply
  std::optional<Key> key;          // kPatch, kDelete; no value after errors
  const Value* patch = nullptr;    // kPatch
};

// A time since the start; `out` stays as it is when the field is absent or wrong.
bool ReadTime(ArgsReader& in, std::string_view field, Duration& out) {
  const Value* value = in.Raw(field);
  if (!value) return false;
  if (value->kind() != Value::Kind::kString && value->text() != "0") {
    in.Invalid(field, value->ToJson(), "must be a duration such as \"10s\" or \"1m30s\"");
    return false;
  }
  const Result<Duration> time = ParseDuration(value->text());
  if (!time.ok()) {
    in.Invalid(field, value->ToJson(), time.error().text());
    return false;
  }
  if (*time < Duration{} || *time > kLongest) {
    in.Invalid(field, value->ToJson(), "must be between 0s and 87600h");
    return false;
  }
  out = *time;
  return true;
}

// {kind, name, namespace}
std::optional<Key> ReadKey(ArgsReader& in) {
  std::string kind_name, name, ns;
  in.String("kind", kind_name);
  in.String("name", name);
  in.String("namespace", ns);
  const std::optional<Kind> kind = FindKind(kind_name);
  if (!in.Has("kind")) {
    in.Complain("kind", "Required value");
  } else if (!kind && !kind_name.empty()) {
    in.Complain("kind", "Unsupported value: " + Quoted(kind_name) + ": supported values: " + KnownKinds());
  }
  if (name.empty()) in.Complain("name", "Required value");
  if (!kind || name.empty()) return std::nullopt;
  if (!IsNamespaced(*kind)) ns.clear();
  if (IsNamespaced(*kind) && ns.empty()) ns = "default";
  return Key{*kind, ns, name};
}

class Reader {
 public:
  Reader(const Value& document, std::vector<FieldError>& errors) : document_(document), errors_(errors) {}

  void Read() {
    ArgsReader in(&document_, "", &errors_);
    CheckHeader(in);
    in.String("name", scenario.name);
    in.String("description", scenario.description);
    in.Strings("files", files);
    in.String("config", scenario.config);
    if (int64_t seed = 0; in.Has("seed")) {
      in.Int("seed", seed, {.min = 0});
      scenario.seed = static_cast<uint64_t>(seed);
    }
    in.Bool("faults", scenario.faults);
    if (Duration duration; ReadTime(in, "duration", duration)) scenario.duration = duration;
    in.Objects("steps", [&](ArgsReader& step) { ReadStep(step); });
    in.Objects("expect", [&](ArgsReader& expectation) { ReadExpectation(expectation); });
    in.Finish();
  }

  Scenario scenario;
  std::vector<std::string> files;
  std::vector<WrittenStep> steps;

 private:
  void CheckHeader(ArgsReader& in) {
    auto check = [&](const char* field, const char* want) {
      std::string got;
      in.String(field, got);
      if (!in.Has(field)) {
        in.Complain(field, std::string("Required value: must be ") + Quoted(want));
      } else if (got != want && !got.empty()) {
        in.Complain(field, "Unsupported value: " + Quoted(got) + ": supported values: " + Quoted(want));
      }
    };
    check("apiVersion", kApiVersion);
    check("kind", kKind);
  }

  void ReadStep(ArgsReader& in) {
    WrittenStep step;
    step.path = in.path();
    const bool timed = ReadTime(in, "at", step.at);
    if ((timed || !in.Has("at")) && step.at < last_) {
      in.Invalid("at", timed ? Quoted(FormatDuration(step.at)) : "absent, which is 0s",
                 "before " + last_path_ + ".at (" + FormatDuration(last_) + "): time does not go back");
    } else if (timed) {
      last_ = step.at;
      last_path_ = step.path;
    }
    int verbs = 0;
    if (const Value* objects = in.Raw("apply")) {
      ++verbs;
      step.verb = WrittenStep::Verb::kApply;
      step.objects = objects;
      const bool good = objects->kind() == Value::Kind::kObject || objects->kind() == Value::Kind::kArray;
      if (!good) in.Invalid("apply", objects->ToJson(), "must be an object or a list of them");
      if (!good) step.objects = nullptr;
    }
    if (in.Has("patch")) {
      ++verbs;
      step.verb = WrittenStep::Verb::kPatch;
      in.Object("patch", [&](ArgsReader& patch) {
        step.key = ReadKey(patch);
        step.patch = patch.Raw("patch");
        if (!step.patch) {
          patch.Complain("patch", "Required value: a merge patch");
        } else if (step.patch->kind() != Value::Kind::kObject) {
          patch.Invalid("patch", step.patch->ToJson(), "must be an object");
          step.patch = nullptr;
        }
      });
    }
    if (in.Has("delete")) {
      ++verbs;
      step.verb = WrittenStep::Verb::kDelete;
      in.Object("delete", [&](ArgsReader& target) { step.key = ReadKey(target); });
    }
    if (verbs == 0) in.Complain("", "one of apply, patch and delete is required");
    if (verbs > 1) in.Complain("", "only one of apply, patch and delete may be given");
    steps.push_back(std::move(step));
  }

  void ReadExpectation(ArgsReader& in) {
    Expectation expectation;
    expectation.path = in.path();
    if (Duration at; ReadTime(in, "at", at)) expectation.at = at;
    std::string pod, node;
    in.String("pod", pod);
    if (!in.Has("pod")) in.Complain("pod", "Required value: namespace/name");
    const size_t slash = pod.find('/');
    expectation.namespace_ = slash == std::string::npos ? "default" : pod.substr(0, slash);
    expectation.pod = slash == std::string::npos ? pod : pod.substr(slash + 1);
    if (in.Has("pod") && (expectation.pod.empty() || expectation.namespace_.empty()))
      in.Invalid("pod", Quoted(pod), "must be namespace/name, or a name in namespace default");

    int kinds = 0;
    if (in.Has("node")) {
      ++kinds;
      in.String("node", node);
      expectation.type = Expectation::Type::kOnNode;
      expectation.nodes = {node};
      if (node.empty() && in.Raw("node")->kind() == Value::Kind::kString)
        in.Invalid("node", Quoted(node), "must be a node's name");
    }
    if (in.Has("nodeIn")) {
      ++kinds;
      expectation.type = Expectation::Type::kOnNode;
      expectation.listed = true;
      in.Strings("nodeIn", expectation.nodes);
      if (expectation.nodes.empty()) in.Complain("nodeIn", "Required value: at least one node");
    }
    if (in.Has("pending")) {
      ++kinds;
      bool pending = true;
      in.Bool("pending", pending);
      expectation.type = pending ? Expectation::Type::kPending : Expectation::Type::kPlaced;
    }
    if (in.Has("gone")) {
      ++kinds;
      bool gone = true;
      in.Bool("gone", gone);
      if (!gone) in.Invalid("gone", "false", "must be true");
      expectation.type = Expectation::Type::kGone;
    }
    in.String("message", expectation.message);
    if (kinds == 0 && !in.Has("message")) in.Complain("", "one of node, nodeIn, pending and gone is required");
    if (kinds > 1) in.Complain("", "only one of node, nodeIn, pending and gone may be given");
    if (in.Has("message") && kinds == 1 && expectation.type != Expectation::Type::kPending)
      in.Complain("message", "only a pod that is expected to be pending has a message");
    scenario.expectations.push_back(std::move(expectation));
  }

  const Value& document_;
  std::vector<FieldError>& errors_;
  Duration last_;
  std::string last_path_ = "steps[0]";
};

std::string Relative(const std::string& file, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return std::filesystem::path(file).is_absolute() ? file : (folder / file).string();
}

void CheckExpectations(const ScenarioWorld& world, const std::string& prefix, ScenarioLoad& load) {
  auto complain = [&](const Expectation& expectation, const char* field, const Key& key) {
    load.errors.push_back(prefix + ": " + expectation.path + "." + field + ": no file, step or generator creates " +
                          key.Text());
  };
  for (const Expectation& expectation : load.scenario.expectations) {
    const Key pod{Kind::kPod, expectation.namespace_, expectation.pod};
    if (!pod.name.empty() && !pod.namespace_.empty() && !world.EverExists(pod)) complain(expectation, "pod", pod);
    for (const std::string& name : expectation.nodes) {
      const Key node{Kind::kNode, "", name};
      const char* field = expectation.listed ? "nodeIn" : "node";
      if (!name.empty() && !world.EverExists(node)) complain(expectation, field, node);
    }
  }
}

void CheckAskedFor(const ScenarioWorld& world, const std::string& pod, ScenarioLoad& load) {
  if (pod.empty()) return;
  const size_t slash = pod.find('/');
  const Key key{Kind::kPod, pod.substr(0, slash), pod.substr(slash + 1)};
  if (!world.EverExists(key)) load.errors.push_back("flag --explain: no file, step or generator creates " + key.Text());
}

// The one document of the text; no value after errors.
std::optional<Value> ReadDocument(std::string_view text, const std::string& path, ScenarioLoad& load) {
  std::optional<Value> document;
  size_t count = 0;
  std::vector<FieldError> errors;
  const Error error = ForEachDocument(text, [&](const std::string& json) {
    if (++count == 1) document = ParseJson(json, errors);
    return Error::Ok();
  });
  if (!error.ok()) load.errors.push_back(path + ": " + error.text());
  for (const FieldError& field : errors) load.errors.push_back(path + ": " + field.ToString());
  if (count > 1)
    load.errors.push_back(path + ": " + std::to_string(count) + " documents; a scenario file holds one Scenario");
  if (count == 0 && error.ok()) load.errors.push_back(path + ": the file is empty; a Scenario is expected");
  if (document && document->kind() != Value::Kind::kObject) {
    load.errors.push_back(path + ": must be an object of kind Scenario");
    document.reset();
  }
  return document;
}

}  // namespace

std::string Expectation::Text() const {
  switch (type) {
    case Type::kOnNode: {
      std::string text = nodes.size() == 1 ? "on node " : "on one of ";
      for (size_t i = 0; i < nodes.size(); ++i) text += (i ? ", " : "") + nodes[i];
      return text;
    }
    case Type::kPlaced:
      return "on a node";
    case Type::kGone:
      return "gone";
    case Type::kPending:
      break;
  }
  return message.empty() ? "pending" : "pending with a message that has " + Quoted(message);
}

ScenarioLoad LoadScenarioFromText(std::string_view text, const std::string& path, const ScenarioInput& input) {
  ScenarioLoad load;
  const std::optional<Value> document = ReadDocument(text, path, load);
  if (!document) return load;

  std::vector<FieldError> errors;
  Reader reader(*document, errors);
  reader.Read();
  for (const FieldError& error : errors) load.errors.push_back(path + ": " + error.ToString());
  load.scenario = std::move(reader.scenario);
  load.scenario.file = path;
  if (load.scenario.name.empty()) load.scenario.name = std::filesystem::path(path).stem().string();
  if (!load.scenario.config.empty()) load.scenario.config = Relative(load.scenario.config, path);

  std::vector<std::string> files = input.files;
  for (size_t i = 0; i < reader.files.size(); ++i) {
    const std::string& file = reader.files[i];
    const std::string field = path + ": files[" + std::to_string(i) + "]: ";
    if (file.empty() || file == "-") {
      load.errors.push_back(field + "Invalid value: " + Quoted(file) + ": must name a file or folder");
    } else if (!input.read_files) {
      load.errors.push_back(field + "files are not read here");
    } else {
      files.push_back(Relative(file, path));
    }
  }
  GenerateOptions generated = input.generated;
  if (!input.seed_given) generated.seed = load.scenario.seed.value_or(generated.seed);
  ScenarioWorld world(generated, input.annotations ? input.annotations(load.scenario.config) : AnnotationKeys(), path,
                      load);
  world.TellSources(input.source);
  world.Load(files);
  std::set<Key> patched;
  for (const WrittenStep& step : reader.steps)
    if (step.verb == WrittenStep::Verb::kPatch && step.key) patched.insert(*step.key);
  world.ReadRaw(files, patched);
  for (const WrittenStep& step : reader.steps) {
    Step& made = load.scenario.steps.emplace_back(Step{step.path, step.at, {}});
    if (step.verb == WrittenStep::Verb::kApply && step.objects)
      made.changes = world.Apply(*step.objects, step.path + ".apply");
    if (step.verb == WrittenStep::Verb::kPatch && step.key && step.patch)
      made.changes = world.Patch(*step.key, *step.patch, step.path + ".patch");
    if (step.verb == WrittenStep::Verb::kDelete && step.key)
      made.changes = world.Delete(*step.key, step.path + ".delete");
  }
  CheckExpectations(world, path, load);
  CheckAskedFor(world, input.asked_for, load);
  return load;
}

ScenarioLoad LoadScenario(const std::string& path, const ScenarioInput& input) {
  const Result<FileText> text = FileText::Read(path);
  if (text.ok()) return LoadScenarioFromText(text->text(), path, input);
  ScenarioLoad load;
  load.errors.push_back(path + ": " + text.error().text());
  return load;
}

ScenarioLoad LoadWithoutScenario(const ScenarioInput& input) {
  ScenarioLoad load;
  ScenarioWorld world(input.generated, input.annotations ? input.annotations("") : AnnotationKeys(), "", load);
  world.TellSources(input.source);
  world.Load(input.files);
  CheckAskedFor(world, input.asked_for, load);
  return load;
}

}  // namespace berth::sim
