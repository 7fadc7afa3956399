// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func familiesOf(t *testing.T, text string) map[string]*family {
	t.Helper()
	file := filepath.Join(t.TempDir(), "metrics")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	families, err := readFamilies(file)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func TestMetricsAreComparedByNameTypeAndLabels(t *testing.T) {
	theirs := "# HELP a_total x\n# TYPE a_total counter\na_total{b=\"}\\\",c\",d=\"e\"} 1\n" +
		"# TYPE h histogram\nh_bucket{p=\"q\",le=\"+Inf\"} 1\nh_sum{p=\"q\"} 1\nh_count{p=\"q\"} 1\n# TYPE rare gauge\nrare 1\n"
	known := map[string]string{"rare": "nobody needs it"}
	whole := strings.TrimSuffix(theirs, "# TYPE rare gauge\nrare 1\n")
	for _, c := range []struct{ ours, want string }{
		{whole, ""},
		{whole + "# TYPE berth_own gauge\nberth_own 1\n", ""},
		{whole + "# TYPE own gauge\nown 1\n", "own is not one of theirs; ours begin with berth_"},
		{theirs, "rare is listed as missing, but is there"},
		{strings.Replace(whole, "a_total counter", "a_total gauge", 1), "a_total is a gauge, want counter"},
		{strings.ReplaceAll(whole, "p=\"q\"", "r=\"q\""), "h has the labels [r], want [p]"},
		{whole[strings.Index(whole, "# TYPE h"):], "a_total (counter) is missing"},
	} {
		problems, _ := differences(familiesOf(t, theirs), familiesOf(t, c.ours), known)
		if got := strings.Join(problems, "\n"); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestDocumentsAreComparedButForWhatIsIgnored(t *testing.T) {
	const theirs = `{"a":{"b":1,"c":[{"d":1,"e":2}]},"f":"g"}`
	for _, c := range []struct {
		ours    string
		ignored []string
		want    string
	}{
		{theirs, nil, ""},
		{`{"a":{"b":2,"c":[{"d":1,"e":2}]},"f":"g"}`, nil, "a.b: 2, want 1"},
		{`{"a":{"b":2,"c":[{"d":1,"e":2}]},"f":"g"}`, []string{"a.b"}, ""},
		{`{"a":{"b":1,"c":[{"d":9,"e":2}]},"f":"g"}`, []string{"a.c.*.d"}, ""},
		{`{"a":{"b":1,"c":[{"d":1,"e":2}]}}`, nil, "f is missing, want g"},
		{`{"a":{"b":1,"c":[{"d":1,"e":2}]},"f":"g","h":null}`, nil, ""},
		{`{"a":{"b":1,"c":[{"d":1,"e":2}]},"f":"g","h":1}`, nil, "h: 1, want none"},
		{`{"a":{"b":1,"c":[]},"f":"g"}`, nil, "a.c: [], want [map[d:1 e:2]]"},
	} {
		var documents [2]any
		for i, text := range []string{theirs, c.ours} {
			if err := json.Unmarshal([]byte(text), &documents[i]); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(compareValues("", documents[0], documents[1], c.ignored), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.ours, got, c.want)
		}
	}
}
