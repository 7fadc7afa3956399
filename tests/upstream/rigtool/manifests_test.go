// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const twoRoles = `# a comment
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r}
rules:
- {apiGroups: [""], resources: [pods, pods/binding], verbs: [get]}
---
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: ns}
rules:
- {apiGroups: [apps], resources: [replicasets], verbs: [list, watch]}
`

func objectsOf(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := readObjects(file)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func TestObjectsAreComparedByNameAndContent(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"kind: Role\n", "kind: Other\n", "Other ns/r is there, and should not\nRole ns/r is missing"},
		{"[list, watch]", "[list]", "Role ns/r: rules.*.verbs: [list], want [list watch]"},
	} {
		problems := differingObjects(objectsOf(t, twoRoles), objectsOf(t, strings.Replace(twoRoles, c.from, c.to, 1)))
		if got := strings.Join(problems, "\n"); got != c.want {
			t.Errorf("%q instead of %q: %s, want %s", c.to, c.from, got, c.want)
		}
	}
	if got := differingObjects(objectsOf(t, ""), objectsOf(t, "")); len(got) == 0 {
		t.Error("nothing is the same as nothing")
	}
}

func TestRightsThatNobodyUsesAreFound(t *testing.T) {
	granted, err := grantedBy(objectsOf(t, twoRoles))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{"get /pods": true, rightName("get", "", "pods", "binding"): true}
	known := map[string]bool{"list apps/replicasets": true}
	if got, want := unusedRights(granted, used, known), []string{"nobody has used the right to watch apps/replicasets"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := grantedBy(objectsOf(t, strings.Replace(twoRoles, "[get]", `["*"]`, 1))); err == nil {
		t.Error("a rule with * was taken")
	}
}
