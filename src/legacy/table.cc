// SPDX-License-Identifier: Apache-2.0
// Looking rows up, and the page made of them.
#include "legacy/table.h"

#include <algorithm>
#include <cassert>

namespace berth::legacy {
namespace {

constexpr std::string_view kHead =
    R"(# Old configurations

<!-- Made from src/legacy/table_rows.cc: berth config convert --table > docs/old-configurations.md -->

Berth reads every form in which kube-scheduler 1.10 to 1.28 was configured, wherever it takes a configuration, and says so in one warning:

| apiVersion, kind | read by kube-scheduler |
|---|---|
| `v1` Policy, since 1.17 also `kubescheduler.config.k8s.io/v1`; or neither apiVersion nor kind | until 1.22 |
| `componentconfig/v1alpha1` KubeSchedulerConfiguration | 1.10 to 1.12 |
| `kubescheduler.config.k8s.io/v1alpha1` | 1.12 to 1.18 |
| `kubescheduler.config.k8s.io/v1alpha2` | 1.18 |
| `kubescheduler.config.k8s.io/v1beta1` | 1.19 to 1.22 |
| `kubescheduler.config.k8s.io/v1beta2` | 1.22 to 1.27 |
| `kubescheduler.config.k8s.io/v1beta3` | 1.23 to 1.28 |

- `berth config convert FILE` writes the same as `kubescheduler.config.k8s.io/v1`, with a comment at every place where the meaning has changed.
  What it writes is exactly what the scheduler runs with; `-o json` lists the changes with their lines.
- `berth config check FILE` says what would change, then which plugins are called.
- A Policy in a ConfigMap (`algorithmSource.policy.configMap`, `--policy-configmap`) is read from the cluster by `berth scheduler`; the other
  commands find the ConfigMap in the files of `-f`.
- `berth scheduler --config` takes no Policy, as no kube-scheduler did: that is what `--policy-config-file` is for. The commands without a
  cluster take either under `--config`.
- `berth extender` serves the plugins that a profile names, so it takes the old KubeSchedulerConfigurations and no Policy.

A default plugin set is that of the last release that read the version: 1.18 for v1alpha1 and v1alpha2, 1.22 for v1beta1, 1.27 for v1beta2, 1.28 for
v1beta3; a Policy's is 1.22's. What an old configuration says is taken for what that release did with it, but for the rows below.

"same": means what it meant. "changed": has another form, or another meaning. "dropped": is not there any more. "refused": is an error that
says what to do instead.
)";

std::string_view Title(RowKind kind) {
  switch (kind) {
    case RowKind::kReading:
      return "How files are read";
    case RowKind::kPredicate:
      return "Predicates";
    case RowKind::kPriority:
      return "Priorities";
    case RowKind::kPlugin:
      return "Plugins";
    case RowKind::kArgument:
      return "Arguments of plugins";
    case RowKind::kField:
      return "Fields";
    case RowKind::kFlag:
      return "Flags";
  }
  return "";
}

std::string_view WhenTitle(RowKind kind) {
  switch (kind) {
    case RowKind::kPredicate:
    case RowKind::kPriority:
      return "releases";
    case RowKind::kFlag:
      return "last release";
    default:
      return "versions";
  }
}

}  // namespace

std::string_view ToString(Fate fate) {
  switch (fate) {
    case Fate::kSame:
      return "same";
    case Fate::kChanged:
      return "changed";
    case Fate::kDropped:
      return "dropped";
    case Fate::kRefused:
      return "refused";
  }
  return "";
}

const Row* FindRow(RowKind kind, std::string_view name) {
  const auto rows = Rows();
  const auto at = std::ranges::find_if(rows, [&](const Row& row) { return row.kind == kind && row.name == name; });
  return at == rows.end() ? nullptr : &*at;
}

std::string TextOf(RowKind kind, std::string_view name) {
  const Row* row = FindRow(kind, name);
  assert(row != nullptr);
  return row == nullptr ? std::string() : std::string(row->text);
}

std::vector<std::string> TodaysPlugins(const Row& row) {
  std::vector<std::string> names;
  for (size_t from = 0; from < row.today.size();) {
    const size_t to = std::min(row.today.find(' ', from), row.today.size());
    names.emplace_back(row.today.substr(from, to - from));
    from = to + 1;
  }
  return names;
}

std::string TablePage() {
  std::string page(kHead);
  const RowKind* last = nullptr;
  for (const Row& row : Rows()) {
    if (last == nullptr || *last != row.kind) {
      page.append("\n## ").append(Title(row.kind)).append("\n\n| name | ").append(WhenTitle(row.kind));
      page.append(" | today | what becomes of it |\n|---|---|---|---|\n");
    }
    last = &row.kind;
    std::string today;
    for (const char c : row.today)
      today += c == ' ' && row.kind == RowKind::kPredicate ? std::string(", ") : std::string(1, c);
    page.append("| ").append(row.name).append(" | ").append(row.when).append(" | ").append(today.empty() ? "-" : today);
    page.append(" | ").append(ToString(row.fate)).append(row.text.empty() ? "" : ". ").append(row.text).append(" |\n");
  }
  return page;
}

}  // namespace berth::legacy
