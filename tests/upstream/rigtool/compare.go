// SPDX-License-Identifier: Apache-2.0

// Two schedulers' answers side by side: what their metrics are called, and documents by their shape.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// family is what the text of /metrics says of one metric.
type family struct {
	kind   string
	labels map[string]bool // seen on any sample, but for le and quantile
}

// readFamilies reads the text form 0.0.4. Samples of histograms and summaries belong to the name without suffix.
func readFamilies(file string) (map[string]*family, error) {
	text, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	families := map[string]*family{}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			families[name] = &family{kind, map[string]bool{}}
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, labels, _ := strings.Cut(line, "{")
		if len(name) == len(line) { // no labels
			name, _, _ = strings.Cut(line, " ")
			labels = ""
		}
		of := families[name]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && of == nil {
				of = families[base]
			}
		}
		if of == nil {
			return nil, fmt.Errorf("%s: %s has no TYPE", file, name)
		}
		for _, label := range labelNames(labels) {
			if label != "le" && label != "quantile" {
				of.labels[label] = true
			}
		}
	}
	return families, lines.Err()
}

// labelNames of `a="x",b="y\"}"} 1`.
func labelNames(text string) []string {
	var names []string
	for text != "" && text[0] != '}' {
		name, rest, ok := strings.Cut(text, `="`)
		if !ok {
			return names
		}
		names = append(names, strings.TrimPrefix(name, ","))
		i := 0
		for i < len(rest) && rest[i] != '"' {
			if rest[i] == '\\' {
				i++
			}
			i++
		}
		text = rest[min(i+1, len(rest)):]
	}
	return names
}

// readKnown reads lines "NAME REASON"; a NAME may end in *. What is "not yet" there may come at any time.
func readKnown(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: %s is listed without a reason", file, name)
		}
		known[name] = reason
	}
	return known, nil
}

func lookUp(known map[string]string, name string) (entry string, ok bool) {
	if _, ok := known[name]; ok {
		return name, true
	}
	for entry := range known {
		if prefix, ok := strings.CutSuffix(entry, "*"); ok && strings.HasPrefix(name, prefix) {
			return entry, true
		}
	}
	return "", false
}

// compareMetrics fails when ours lacks a metric that theirs has and the list does not name, has it with another type or
// other labels, has one that theirs has not and whose name does not say that it is our own, or when the list is stale.
func compareMetrics(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: rigtool compare-metrics THEIRS OURS KNOWN-MISSING")
	}
	theirs, err := readFamilies(args[0])
	if err != nil {
		return err
	}
	ours, err := readFamilies(args[1])
	if err != nil {
		return err
	}
	known, err := readKnown(args[2])
	if err != nil {
		return err
	}
	problems, missing := differences(theirs, ours, known)
	slices.Sort(problems)
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	fmt.Printf("%d metrics of theirs, %d of them missing for a known reason\n", len(theirs), missing)
	return nil
}

func differences(theirs, ours map[string]*family, known map[string]string) (problems []string, missing int) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	used := map[string]bool{}
	for name, want := range theirs {
		entry, listed := lookUp(known, name)
		got := ours[name]
		switch {
		case got == nil && listed:
			used[entry] = true
			missing++
		case got == nil:
			report("%s (%s) is missing", name, want.kind)
		case listed && !strings.HasSuffix(entry, "*") && !strings.HasPrefix(known[entry], "not yet"):
			report("%s is listed as missing, but is there", name)
		case got.kind != want.kind:
			report("%s is a %s, want %s", name, got.kind, want.kind)
		case len(got.labels) > 0 && len(want.labels) > 0 && !sameKeys(got.labels, want.labels):
			report("%s has the labels %v, want %v", name, keys(got.labels), keys(want.labels))
		}
	}
	for name := range ours {
		if theirs[name] != nil || strings.HasPrefix(name, "berth_") {
			continue
		}
		if entry, listed := lookUp(known, "+"+name); listed {
			used[entry] = true
		} else {
			report("%s is not one of theirs; ours begin with berth_", name)
		}
	}
	for entry := range known {
		// What shows only after something rare has happened need not have happened this time.
		if !used[entry] && !strings.HasPrefix(entry, "+") && ours[entry] == nil && !strings.HasSuffix(entry, "*") {
			report("%s is listed as missing, but kube-scheduler does not have it", entry)
		}
	}
	return problems, missing
}

func keys(set map[string]bool) []string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func sameKeys(a, b map[string]bool) bool { return slices.Equal(keys(a), keys(b)) }

// compareJSON holds two documents against each other: fields and types, and values too but for those of the paths that
// are named ("a.b", "*" for any element).
func compareJSON(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: rigtool compare-json THEIRS OURS [PATH...]")
	}
	var documents [2]any
	for i, file := range args[:2] {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &documents[i]); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	problems := compareValues("", documents[0], documents[1], args[2:])
	if len(problems) > 0 {
		slices.Sort(problems)
		return errors.New(strings.Join(problems, "\n"))
	}
	fmt.Println("the same")
	return nil
}

func compareValues(path string, want, got any, ignored []string) []string {
	for _, pattern := range ignored {
		if matches(pattern, path) {
			return nil
		}
	}
	below := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	var problems []string
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v, want an object", path, got)}
		}
		for name, value := range want {
			if theirs, ok := object[name]; ok {
				problems = append(problems, compareValues(below(name), value, theirs, ignored)...)
			} else if compareValues(below(name), value, nil, ignored) != nil {
				problems = append(problems, fmt.Sprintf("%s is missing, want %v", below(name), value))
			}
		}
		for name, value := range object {
			if _, ok := want[name]; !ok && compareValues(below(name), nil, value, ignored) != nil {
				problems = append(problems, fmt.Sprintf("%s: %v, want none", below(name), value))
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return []string{fmt.Sprintf("%s: %v, want %v", path, got, want)}
		}
		for i := range want {
			problems = append(problems, compareValues(below("*"), want[i], list[i], ignored)...)
		}
	default:
		if want != got {
			return []string{fmt.Sprintf("%s: %v, want %v", path, got, want)}
		}
	}
	return problems
}

func matches(pattern, path string) bool {
	wanted, names := strings.Split(pattern, "."), strings.Split(path, ".")
	if len(wanted) != len(names) {
		return false
	}
	for i := range wanted {
		if wanted[i] != "*" && wanted[i] != names[i] {
			return false
		}
	}
	return true
}
