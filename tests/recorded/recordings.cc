// SPDX-License-Identifier: Apache-2.0
// Lines out of files that may be compressed, and the loop over them.
#include "recordings.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "api/json_value.h"
#include "config/load.h"

namespace berth::recorded {
namespace {

class Lines {
 public:
  explicit Lines(const std::string& path) : file_(gzopen(path.c_str(), "rb")) {}
  ~Lines() {
    if (file_) gzclose(file_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  bool ok() const { return file_ != nullptr; }
  bool Next(std::string& line) {
    line.clear();
    char buffer[1 << 16];
    while (gzgets(file_, buffer, sizeof buffer)) {
      line += buffer;
      if (!line.empty() && line.back() == '\n') return true;
    }
    return !line.empty();
  }

 private:
  gzFile file_;
};

// Saves what failed and says how to run it again.
void Report(const std::string& program, const Form& form, const std::string& name, const std::string& line,
            const std::vector<std::string>& wrong) {
  constexpr size_t kShown = 8;
  const std::filesystem::path folder = form.noun + "-mismatches";
  std::filesystem::create_directories(folder);
  const std::string saved = (folder / (name + ".jsonl")).string();
  std::ofstream(saved) << line;
  std::cout << "FAILED " << name << " (again: " << std::filesystem::path(program).filename().string() << " " << saved
            << ")\n";
  for (size_t i = 0; i < wrong.size() && i < kShown; ++i) std::cout << "  " << wrong[i] << "\n";
  if (wrong.size() > kShown) std::cout << "  ... " << wrong.size() - kShown << " more\n";
}

}  // namespace

Error ForEach(const std::string& file, const Form& form,
              const std::function<bool(const Value& recording, const std::string& line)>& each) {
  Lines lines(file);
  if (!lines.ok()) return Error(file + ": cannot be opened");
  for (std::string line; lines.Next(line);) {
    std::vector<FieldError> errors;
    const Value recording = ParseJson(line, errors);
    const auto has = [&](const std::string& field) { return recording.Find(field) != nullptr; };
    if (!errors.empty() || !has(form.name) || !std::all_of(form.fields.begin(), form.fields.end(), has))
      return Error(file + ": not a " + form.noun + ": " + (errors.empty() ? line.substr(0, 80) : errors[0].ToString()));
    if (!each(recording, line)) break;
  }
  return Error::Ok();
}

int Run(int argc, char** argv, const Form& form, const std::function<std::vector<std::string>(const Value&)>& check) {
  std::string only;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == "--" + form.noun && i + 1 < argc) {
      only = argv[++i];
    } else {
      files.emplace_back(argv[i]);
    }
  }
  size_t passed = 0, failed = 0;
  for (const std::string& file : files) {
    const Error error = ForEach(file, form, [&](const Value& recording, const std::string& line) {
      const std::string& name = recording.Find(form.name)->text();
      if (!only.empty() && name != only) return true;
      const std::vector<std::string> wrong = check(recording);
      if (wrong.empty()) {
        ++passed;
      } else {
        ++failed;
        Report(argv[0], form, name, line, wrong);
      }
      return true;
    });
    if (!error.ok()) {
      std::cerr << error.text() << "\n";
      return 2;
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed || passed == 0 ? 1 : 0;
}

Result<config::SchedulerConfiguration> ConfigurationOf(const Value& recording, const Registry& registry) {
  const Value* text = recording.Find("config");
  if (!text || text->kind() != Value::Kind::kString) return config::DefaultConfiguration(registry);
  config::Loaded loaded = config::LoadConfiguration(text->text(), registry);
  if (!loaded.ok()) return Error("config: " + loaded.errors.front().ToString());
  return std::move(loaded.config);
}

std::vector<std::string> Strings(const Value& object, const char* field) {
  std::vector<std::string> texts;
  if (const Value* array = object.Find(field))
    for (const Value& item : array->items()) texts.push_back(item.text());
  return texts;
}

}  // namespace berth::recorded
