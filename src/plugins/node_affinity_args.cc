// SPDX-License-Identifier: Apache-2.0
// Arguments of NodeAffinity: a NodeAffinity object, checked as component-helpers' nodeaffinity parses it.
#include <algorithm>
#include <charconv>

#include "berth/value.h"
#include "plugins/common/label_syntax.h"
#include "plugins/node_affinity.h"

namespace berth::plugins {
namespace {

SelectorOp ParseOperator(std::string_view text) {
  for (const SelectorOp op : {SelectorOp::kIn, SelectorOp::kNotIn, SelectorOp::kExists, SelectorOp::kDoesNotExist,
                              SelectorOp::kGt, SelectorOp::kLt}) {
    if (ToString(op) == text) return op;
  }
  return SelectorOp::kUnknown;
}

bool IsInteger(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// `values` as given; a missing list is shown as null.
std::string ShowValues(ArgsReader& in) {
  const Value* values = in.Raw("values");
  return values != nullptr ? values->ToJson() : "null";
}

void CheckExpression(ArgsReader& in, const Requirement& r) {
  if (const auto complaints = LabelKeyComplaints(r.key); !complaints.empty()) {
    in.Invalid("key", Quote(r.key), JoinComplaints(complaints));
  }
  const size_t n = r.values.size();
  switch (r.op) {
    case SelectorOp::kIn:
    case SelectorOp::kNotIn:
      if (n == 0) in.Invalid("values", ShowValues(in), "for 'in', 'notin' operators, values set can't be empty");
      break;
    case SelectorOp::kExists:
    case SelectorOp::kDoesNotExist:
      if (n != 0) in.Invalid("values", ShowValues(in), "values set must be empty for exists and does not exist");
      break;
    default:
      if (n != 1) in.Invalid("values", ShowValues(in), "for 'Gt', 'Lt' operators, exactly one value is required");
      for (size_t i = 0; i < n; ++i) {
        if (IsInteger(r.values[i])) continue;
        in.Invalid("values[" + std::to_string(i) + "]", Quote(r.values[i]),
                   "for 'Gt', 'Lt' operators, the value must be an integer");
      }
  }
  for (size_t i = 0; i < n; ++i) {
    if (const auto complaints = LabelValueComplaints(r.values[i]); !complaints.empty()) {
      in.Invalid("values[" + std::to_string(i) + "][" + r.key + "]", Quote(r.values[i]), JoinComplaints(complaints));
    }
  }
}

Requirement ReadRequirement(ArgsReader& in, bool field) {
  Requirement r;
  std::string op;
  in.String("key", r.key);
  in.String("operator", op);
  in.Strings("values", r.values);
  r.op = ParseOperator(op);
  if (field) {
    if (r.op != SelectorOp::kIn && r.op != SelectorOp::kNotIn) {
      in.Complain("operator", "Unsupported value: " + Quote(op) + R"(: supported values: "In", "NotIn")");
    } else if (r.values.size() != 1) {
      in.Invalid("values", ShowValues(in), "must have one element");
    }
    return r;
  }
  if (r.op == SelectorOp::kUnknown) {
    in.Complain("operator", "Unsupported value: " + Quote(op) +
                                R"(: supported values: "DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn")");
    return r;
  }
  CheckExpression(in, r);
  if (r.op == SelectorOp::kIn || r.op == SelectorOp::kNotIn) {
    std::sort(r.values.begin(), r.values.end());
    r.values.erase(std::unique(r.values.begin(), r.values.end()), r.values.end());
  }
  return r;
}

void ReadTerm(ArgsReader& in, NodeSelectorTerm& term) {
  in.Objects("matchExpressions", [&](ArgsReader& r) { term.match_expressions.push_back(ReadRequirement(r, false)); });
  in.Objects("matchFields", [&](ArgsReader& r) { term.match_fields.push_back(ReadRequirement(r, true)); });
}

}  // namespace

void NodeAffinity::Args::Read(ArgsReader& in) {
  in.Object("addedAffinity", [&](ArgsReader& affinity) {
    affinity.Object("requiredDuringSchedulingIgnoredDuringExecution", [&](ArgsReader& required) {
      added_required.emplace();
      required.Objects("nodeSelectorTerms", [&](ArgsReader& t) {
        NodeSelectorTerm term;
        ReadTerm(t, term);
        added_required->terms.push_back(std::move(term));
      });
    });
    affinity.Objects("preferredDuringSchedulingIgnoredDuringExecution", [&](ArgsReader& t) {
      PreferredSchedulingTerm term;
      t.Int32("weight", term.weight);
      t.Object("preference", [&](ArgsReader& preference) { ReadTerm(preference, term.preference); });
      added_preferred.push_back(std::move(term));
    });
  });
  if (const Value* given = in.Raw("addedAffinity")) added_affinity = *given;
}

Value NodeAffinity::Args::Write() const {
  Value args = Value::Object(
      {{"kind", Value::String("NodeAffinityArgs")}, {"apiVersion", Value::String("kubescheduler.config.k8s.io/v1")}});
  if (!added_affinity.is_null()) args.Set("addedAffinity", added_affinity);
  return args;
}

}  // namespace berth::plugins
