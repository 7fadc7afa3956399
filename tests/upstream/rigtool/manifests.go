// SPDX-License-Identifier: Apache-2.0

// Manifests: two renderings side by side, and the rights that they give beside those that were used.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	yamltojson "sigs.k8s.io/yaml"
)

// readObjects reads the documents of a file; empty ones are none.
func readObjects(file string) (map[string]map[string]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	objects := map[string]map[string]any{}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		var object map[string]any
		if err := yamltojson.Unmarshal(document, &object); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(object) == 0 {
			continue
		}
		name := nameOf(object)
		if objects[name] != nil {
			return nil, fmt.Errorf("%s: %s is there twice", file, name)
		}
		objects[name] = object
	}
}

func nameOf(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	return fmt.Sprint(object["kind"], " ", meta["namespace"], "/", meta["name"])
}

// compareObjects holds two files of manifests against each other, whatever the order of their objects.
func compareObjects(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: rigtool compare-objects THEIRS OURS")
	}
	theirs, err := readObjects(args[0])
	if err != nil {
		return err
	}
	ours, err := readObjects(args[1])
	if err != nil {
		return err
	}
	problems := differingObjects(theirs, ours)
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	fmt.Printf("%d objects, the same\n", len(ours))
	return nil
}

func differingObjects(theirs, ours map[string]map[string]any) []string {
	var problems []string
	if len(theirs) == 0 {
		problems = append(problems, "there are no objects")
	}
	for name, want := range theirs {
		got, ok := ours[name]
		if !ok {
			problems = append(problems, name+" is missing")
			continue
		}
		for _, problem := range compareValues("", want, got, nil) {
			problems = append(problems, name+": "+problem)
		}
	}
	for name := range ours {
		if theirs[name] == nil {
			problems = append(problems, name+" is there, and should not")
		}
	}
	slices.Sort(problems)
	return problems
}

// rights says which verbs of the roles in a file a user has not used, by the audit log. Those that are expected to be
// unused, or not in every run, are listed in another file, "VERB GROUP/RESOURCE REASON" a line.
func rights(args []string) error {
	f := newFlags("rights")
	audit := f.String("audit", "", "an audit log")
	user := f.String("user", "", "whose requests")
	manifests := f.String("manifests", "", "a file with the user's roles")
	rare := f.String("rare", "", "a file of rights that need not be used")
	if err := f.parse(args); err != nil {
		return err
	}
	objects, err := readObjects(*manifests)
	if err != nil {
		return err
	}
	granted, err := grantedBy(objects)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	err = readAudit(*audit, func(line auditLine) {
		if line.User.Username != *user || line.ObjectRef == nil || line.ResponseStatus.Code == 403 {
			return
		}
		used[rightName(line.Verb, line.ObjectRef.APIGroup, line.ObjectRef.Resource, line.ObjectRef.Subresource)] = true
	})
	if err != nil {
		return err
	}
	known, err := readRare(*rare)
	if err != nil {
		return err
	}
	problems := unusedRights(granted, used, known)
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	fmt.Printf("%d rights of %s, all used but for those that are rare\n", len(granted), *user)
	return nil
}

func rightName(verb, group, resource, subresource string) string {
	if subresource != "" {
		resource += "/" + subresource
	}
	return verb + " " + group + "/" + resource
}

func grantedBy(objects map[string]map[string]any) (map[string]bool, error) {
	granted := map[string]bool{}
	for name, object := range objects {
		if kind := object["kind"]; kind != "ClusterRole" && kind != "Role" {
			continue
		}
		text, err := yamltojson.Marshal(object)
		if err != nil {
			return nil, err
		}
		var role rbac.ClusterRole // a Role's rules look the same
		if err := yamltojson.Unmarshal(text, &role); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						if verb == "*" || group == "*" || strings.Contains(resource, "*") {
							return nil, fmt.Errorf("%s: a rule with *", name)
						}
						granted[rightName(verb, group, resource, "")] = true
					}
				}
			}
		}
	}
	return granted, nil
}

func readRare(file string) (map[string]bool, error) {
	known := map[string]bool{}
	if file == "" {
		return known, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("%s: %q has no reason", file, strings.TrimSpace(line))
		}
		known[words[0]+" "+words[1]] = true
	}
	return known, nil
}

func unusedRights(granted, used, known map[string]bool) []string {
	var problems []string
	if len(granted) == 0 {
		problems = append(problems, "no role gives any right")
	}
	for right := range granted {
		if !used[right] && !known[right] {
			problems = append(problems, "nobody has used the right to "+right)
		}
	}
	slices.Sort(problems)
	return problems
}
