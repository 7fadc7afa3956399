// SPDX-License-Identifier: Apache-2.0
// Label selectors and node selectors: as they are written, validated, and in the form that matches.
#include <algorithm>
#include <charconv>

#include "api/decode_internal.h"

namespace berth {
namespace {

SelectorOp OpFromText(std::string_view text) {
  if (text == "In") return SelectorOp::kIn;
  if (text == "NotIn") return SelectorOp::kNotIn;
  if (text == "Exists") return SelectorOp::kExists;
  if (text == "DoesNotExist") return SelectorOp::kDoesNotExist;
  if (text == "Gt") return SelectorOp::kGt;
  if (text == "Lt") return SelectorOp::kLt;
  return SelectorOp::kUnknown;
}

// As strconv.ParseInt(text, 10, 64) decides.
bool IsInt64(std::string_view text) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return false;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string JsonList(const std::vector<std::string>& values) {
  std::string list = "[";
  for (const std::string& value : values) list += (list.size() > 1 ? "," : "") + Quoted(value);
  return list + "]";
}

// A path's child; upstream's paths may start empty.
std::string Child(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

std::string Aggregate(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors[0];
  std::string text = "[";
  for (const std::string& error : errors) text += (text.size() > 1 ? ", " : "") + error;
  return text + "]";
}

// What upstream's labels.NewRequirement says of this one; empty when it is fine.
std::string RequirementError(const RawRequirement& raw, SelectorOp op, const std::string& path) {
  std::vector<std::string> errors;
  auto invalid = [&](const std::string& where, const std::string& value, const std::string& what) {
    errors.push_back(where + ": Invalid value: " + value + ": " + what);
  };
  if (const Complaints complaints = CheckQualifiedName(raw.key); !complaints.empty()) {
    invalid(Child(path, "key"), Quoted(raw.key), Join(complaints, "; "));
  }
  const std::string values = Child(path, "values");
  auto indexed = [&](size_t i) { return values + "[" + std::to_string(i) + "]"; };
  switch (op) {
    case SelectorOp::kIn:
    case SelectorOp::kNotIn:
      if (raw.values.empty()) {
        invalid(values, JsonList(raw.values), "for 'in', 'notin' operators, values set can't be empty");
      }
      break;
    case SelectorOp::kExists:
    case SelectorOp::kDoesNotExist:
      if (!raw.values.empty()) {
        invalid(values, JsonList(raw.values), "values set must be empty for exists and does not exist");
      }
      break;
    case SelectorOp::kGt:
    case SelectorOp::kLt:
      if (raw.values.size() != 1) {
        invalid(values, JsonList(raw.values), "for 'Gt', 'Lt' operators, exactly one value is required");
      }
      for (size_t i = 0; i < raw.values.size(); ++i) {
        if (!IsInt64(raw.values[i])) {
          invalid(indexed(i), Quoted(raw.values[i]), "for 'Gt', 'Lt' operators, the value must be an integer");
        }
      }
      break;
    case SelectorOp::kUnknown:
      break;
  }
  for (size_t i = 0; i < raw.values.size(); ++i) {
    if (const Complaints complaints = CheckLabelValue(raw.values[i]); !complaints.empty()) {
      invalid(indexed(i) + "[" + raw.key + "]", Quoted(raw.values[i]), Join(complaints, "; "));
    }
  }
  return errors.empty() ? std::string() : Aggregate(errors);
}

Requirement ToRequirement(const RawRequirement& raw, SelectorOp op) {
  Requirement requirement{raw.key, op, raw.values};
  if (op == SelectorOp::kIn || op == SelectorOp::kNotIn) {
    std::sort(requirement.values.begin(), requirement.values.end());
    requirement.values.erase(std::unique(requirement.values.begin(), requirement.values.end()),
                             requirement.values.end());
  }
  return requirement;
}

template <class Value>
RawRequirement DecodeRawRequirement(Context& context, Value value) {
  RawRequirement raw;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "key") {
      Read(context, item, raw.key);
    } else if (key == "operator") {
      Read(context, item, raw.op);
    } else if (key == "values") {
      Read(context, item, raw.values);
    }
  });
  return raw;
}

void CheckValues(Context& context, const std::vector<std::string>& values) {
  At at(context, "values");
  for (size_t i = 0; i < values.size(); ++i) {
    At index(context, i);
    CheckForm(context, values[i], CheckLabelValue);
  }
}

// The API server's rules for an expression of a label selector (`node` false) or node selector.
void CheckExpression(Context& context, const RawRequirement& raw, bool node, bool strict_values) {
  const SelectorOp op = OpFromText(raw.op);
  const bool comparison = op == SelectorOp::kGt || op == SelectorOp::kLt;
  if (op == SelectorOp::kUnknown || (comparison && !node)) {
    At at(context, "operator");
    context.Invalid(raw.op, "not a valid selector operator");
  } else {
    At at(context, "values");
    if (comparison) {
      if (raw.values.size() != 1) {
        context.Required("must be specified single value when `operator` is 'Lt' or 'Gt'");
      }
    } else if (op == SelectorOp::kIn || op == SelectorOp::kNotIn) {
      if (raw.values.empty()) context.Required("must be specified when `operator` is 'In' or 'NotIn'");
    } else if (!raw.values.empty()) {
      context.Forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  }
  CheckForm(context, "key", raw.key, CheckQualifiedName);
  if (strict_values) CheckValues(context, raw.values);
}

void CheckField(Context& context, const RawRequirement& raw) {
  if (raw.op == "In" || raw.op == "NotIn") {
    At at(context, "values");
    if (raw.values.size() != 1) {
      context.Required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
    }
  } else {
    At at(context, "operator");
    context.Invalid(raw.op, "not a valid selector operator");
  }
  if (raw.key != "metadata.name") {
    At at(context, "key");
    context.Invalid(raw.key, "not a valid field selector key");
    return;
  }
  At at(context, "values");
  for (size_t i = 0; i < raw.values.size(); ++i) {
    At index(context, i);
    CheckForm(context, raw.values[i], CheckDnsSubdomain);
  }
}

constexpr char kNodeOperators[] = "\"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"";
constexpr char kFieldOperators[] = "\"In\", \"NotIn\"";

std::string UnsupportedOperator(const std::string& path, const std::string& op, const char* supported) {
  return Child(path, "operator") + ": Unsupported value: " + Quoted(op) + ": supported values: " + supported;
}

}  // namespace

template <class Value>
std::optional<RawSelector> DecodeRawSelector(Context& context, Value value) {
  RawSelector raw;
  const bool there = ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "matchLabels") {
      const Labels labels = DecodeLabels(context, item);
      raw.match_labels.assign(labels.begin(), labels.end());
    } else if (key == "matchExpressions") {
      ReadList(context, item, raw.expressions, [](Context& inner, Value expression) {
        RawRequirement requirement = DecodeRawRequirement(inner, expression);
        if (inner.strict()) CheckExpression(inner, requirement, /*node=*/false, /*strict_values=*/true);
        return requirement;
      });
    }
  });
  if (!there) return std::nullopt;
  return raw;
}

LabelSelector BuildSelector(const RawSelector& raw) {
  LabelSelector selector;
  auto add = [&](const RawRequirement& requirement, SelectorOp op, const std::string& error) {
    if (selector.invalid.empty()) selector.invalid = error;
    selector.requirements.push_back(ToRequirement(requirement, op));
  };
  for (const auto& [key, value] : raw.match_labels) {
    const RawRequirement requirement{key, "In", {value}};
    add(requirement, SelectorOp::kIn, RequirementError(requirement, SelectorOp::kIn, ""));
  }
  for (const RawRequirement& requirement : raw.expressions) {
    SelectorOp op = OpFromText(requirement.op);
    if (op == SelectorOp::kGt || op == SelectorOp::kLt) op = SelectorOp::kUnknown;  // of nodes only
    add(requirement, op,
        op == SelectorOp::kUnknown ? Quoted(requirement.op) + " is not a valid label selector operator"
                                   : RequirementError(requirement, op, ""));
  }
  std::stable_sort(selector.requirements.begin(), selector.requirements.end(),
                   [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
  return selector;
}

template <class Value>
std::optional<LabelSelector> DecodeSelector(Context& context, Value value) {
  const std::optional<RawSelector> raw = DecodeRawSelector(context, value);
  if (!raw) return std::nullopt;
  return BuildSelector(*raw);
}

template <class Value>
NodeSelectorTerm DecodeNodeSelectorTerm(Context& context, Value value, bool strict_values, const std::string& path) {
  NodeSelectorTerm term;
  std::vector<RawRequirement> expressions, fields;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "matchExpressions") {
      ReadList(context, item, expressions, DecodeRawRequirement<Value>);
      for (size_t i = 0; context.strict() && i < expressions.size(); ++i) {
        At at(context, i);
        CheckExpression(context, expressions[i], /*node=*/true, strict_values);
      }
    } else if (key == "matchFields") {
      ReadList(context, item, fields, DecodeRawRequirement<Value>);
      for (size_t i = 0; context.strict() && i < fields.size(); ++i) {
        At at(context, i);
        CheckField(context, fields[i]);
      }
    }
  });
  std::vector<std::string> errors;
  auto indexed = [&](const char* list, size_t i) { return Child(path, list) + "[" + std::to_string(i) + "]"; };
  for (size_t i = 0; i < expressions.size(); ++i) {
    const SelectorOp op = OpFromText(expressions[i].op);
    const std::string where = indexed("matchExpressions", i);
    std::string error = op == SelectorOp::kUnknown ? UnsupportedOperator(where, expressions[i].op, kNodeOperators)
                                                   : RequirementError(expressions[i], op, where);
    if (!error.empty()) errors.push_back(std::move(error));
    term.match_expressions.push_back(ToRequirement(expressions[i], op));
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    const SelectorOp op = OpFromText(fields[i].op);
    const std::string where = indexed("matchFields", i);
    if (op != SelectorOp::kIn && op != SelectorOp::kNotIn) {
      errors.push_back(UnsupportedOperator(where, fields[i].op, kFieldOperators));
    } else if (fields[i].values.size() != 1) {
      errors.push_back(Child(where, "values") + ": Invalid value: " + JsonList(fields[i].values) +
                       ": must have one element");
    }
    term.match_fields.push_back(ToRequirement(fields[i], op));
  }
  if (!errors.empty()) term.invalid = Aggregate(errors);
  return term;
}

NodeSelectorTerm DecodeTopologyTerm(Context& context, JsonValue value) {
  NodeSelectorTerm term;
  std::vector<RawRequirement> expressions;
  ForEachMember(context, value, [&](std::string_view key, JsonValue item) {
    if (key == "matchLabelExpressions") ReadList(context, item, expressions, DecodeRawRequirement<JsonValue>);
  });
  std::vector<std::string> errors;
  std::vector<std::string_view> keys;
  At list(context, "matchLabelExpressions");
  for (size_t i = 0; i < expressions.size(); ++i) {
    const RawRequirement& raw = expressions[i];
    std::string error = RequirementError(raw, SelectorOp::kIn, "");
    if (!error.empty()) errors.push_back(std::move(error));
    term.match_expressions.push_back(ToRequirement(raw, SelectorOp::kIn));
    if (!context.strict()) continue;
    At index(context, i);
    CheckForm(context, "key", raw.key, CheckQualifiedName);
    if (std::find(keys.begin(), keys.end(), raw.key) != keys.end()) {
      At at(context, "key");
      context.Duplicate(raw.key);
    }
    keys.push_back(raw.key);
    At values(context, "values");
    if (raw.values.empty()) context.Required();
    for (size_t v = 0; v < raw.values.size(); ++v) {
      if (std::find(raw.values.begin(), raw.values.begin() + static_cast<ptrdiff_t>(v), raw.values[v]) ==
          raw.values.begin() + static_cast<ptrdiff_t>(v)) {
        continue;
      }
      At at(context, v);
      context.Duplicate(raw.values[v]);
    }
  }
  if (!errors.empty()) term.invalid = Aggregate(errors);
  return term;
}

template <class Value>
NodeSelector DecodeNodeSelector(Context& context, Value value) {
  NodeSelector selector;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key != "nodeSelectorTerms") return;
    ReadList(context, item, selector.terms, [&](Context& inner, Value term) {
      const std::string path = "nodeSelectorTerms[" + std::to_string(selector.terms.size()) + "]";
      return DecodeNodeSelectorTerm(inner, term, /*strict_values=*/true, path);
    });
  });
  if (context.strict() && selector.terms.empty()) {
    At at(context, "nodeSelectorTerms");
    context.Required("must have at least one node selector term");
  }
  return selector;
}

// For either encoding.
template std::optional<RawSelector> DecodeRawSelector(Context&, JsonValue);
template std::optional<RawSelector> DecodeRawSelector(Context&, ProtoValue);
template std::optional<LabelSelector> DecodeSelector(Context&, JsonValue);
template std::optional<LabelSelector> DecodeSelector(Context&, ProtoValue);
template NodeSelectorTerm DecodeNodeSelectorTerm(Context&, JsonValue, bool, const std::string&);
template NodeSelectorTerm DecodeNodeSelectorTerm(Context&, ProtoValue, bool, const std::string&);
template NodeSelector DecodeNodeSelector(Context&, JsonValue);
template NodeSelector DecodeNodeSelector(Context&, ProtoValue);

}  // namespace berth
