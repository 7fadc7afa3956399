// SPDX-License-Identifier: Apache-2.0

// Folders of objects: NAME/*.yaml and *.json with the pod asked about in NAME/pod.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// runJudgeDir prints the answer for a folder; a folder's own expected.json is not read.
func runJudgeDir(args []string) error {
	if len(args) != 1 {
		return errors.New("judge-dir takes one folder")
	}
	c, err := readDir(args[0])
	if err != nil {
		return err
	}
	if err := c.judge(); err != nil {
		return err
	}
	if len(c.Unstable) > 0 {
		fmt.Fprintln(os.Stderr, "unstable:", strings.Join(c.Unstable, " "))
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(c.Expected)
}

func readDir(dir string) (*Case, error) {
	c := &Case{ID: filepath.Base(dir)}
	pod, err := os.ReadFile(filepath.Join(dir, "pod"))
	if err != nil {
		return nil, err
	}
	c.Pod = strings.TrimSpace(string(pod))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		switch {
		case name == "config.yaml":
			config := string(text)
			c.Config = &config
		case name == "expected.json":
		case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".json"):
			objects, err := splitDocuments(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			c.Objects = append(c.Objects, objects...)
		}
	}
	return c, nil
}

// splitDocuments returns the documents of a YAML or JSON text as JSON.
func splitDocuments(text []byte) ([]json.RawMessage, error) {
	var out []json.RawMessage
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(raw) > 0 && string(raw) != "null" {
			out = append(out, raw)
		}
	}
}
