// SPDX-License-Identifier: Apache-2.0
// An old configuration into a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "berth/error.h"
#include "legacy/draft.h"

namespace berth::legacy {

// Where a v1alpha1 configuration, or a flag, says that its Policy is.
struct PolicyReference {
  std::string file;              // a path; empty: it is a ConfigMap
  std::string name_space, name;  // of the ConfigMap
};

// The key of such a ConfigMap's data.
inline constexpr char kPolicyKey[] = "policy.cfg";

// The text of a Policy and what to call it in complaints. The error is a sentence that needs nothing in front of it.
struct PolicyText {
  std::string name, text;
};
using PolicyReader = std::function<Result<PolicyText>(const PolicyReference&)>;

struct ConvertOptions {
  // Profiles get their version's default plugins beside those that they name.
  bool defaults = true;
  // Reads Policies that a file names; null: files are read, ConfigMaps are not to be had.
  PolicyReader policy = nullptr;
};

// The v1 document; what has changed and what is wrong is in the draft, the document is usable when nothing is. `policy`
// gets the source of a Policy that another document named and must outlive the draft. REQUIRES: an old version.
Value Convert(const ConvertOptions& options, Draft& draft, std::unique_ptr<Source>& policy);

// The only document of a text, which is `what`, such as "a Policy". Complaints go to `problems`; false when there is
// nothing to go on with.
bool ParseSource(std::string_view text, std::string_view what, Source& source, std::vector<Problem>& problems);

// Reads a file as --policy-config-file does, in kube-scheduler's words.
Result<PolicyText> ReadPolicyFile(const std::string& path);

}  // namespace berth::legacy
