// SPDX-License-Identifier: Apache-2.0

// Workload files: test cases, parameters and ops of scheduler_perf's format, as far as enginebench runs them.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// operation has the fields of all ops; each op has its own few.
type operation struct {
	Opcode                   string               `json:"opcode"`
	Count                    int                  `json:"count"`
	CountParam               string               `json:"countParam"`
	NodeTemplatePath         string               `json:"nodeTemplatePath"`
	PodTemplatePath          string               `json:"podTemplatePath"`
	NamespaceTemplatePath    string               `json:"namespaceTemplatePath"`
	VolumeTemplatePath       string               `json:"persistentVolumeTemplatePath"`
	ClaimTemplatePath        string               `json:"persistentVolumeClaimTemplatePath"`
	TemplatePaths            []string             `json:"templatePaths"`
	Namespace                *string              `json:"namespace"`
	Prefix                   string               `json:"prefix"`
	NamespacePrefix          string               `json:"namespacePrefix"`
	CollectMetrics           bool                 `json:"collectMetrics"`
	SkipWaitToCompletion     bool                 `json:"skipWaitToCompletion"`
	CreatePodsOp             *operation           `json:"createPodsOp"`
	Mode                     string               `json:"mode"`
	Number                   int                  `json:"number"`
	IntervalMilliseconds     int                  `json:"intervalMilliseconds"`
	LabelNodePrepareStrategy *labelStrategy       `json:"labelNodePrepareStrategy"`
	NodeAllocatableStrategy  *allocatableStrategy `json:"nodeAllocatableStrategy"`
}

type labelStrategy struct {
	LabelKey    string   `json:"labelKey"`
	LabelValues []string `json:"labelValues"`
}

// plan is a workload that is ready to run. Template paths are as the program can open them.
type plan struct {
	testCase, workload, defaultPod string
	ops                            []operation
}

// find gives the case and the workload as they are in the file.
func find(file, testCase, workload string) (theCase, theWorkload map[string]any, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	var cases []map[string]any
	if err := yaml.Unmarshal(text, &cases); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, c := range cases {
		if c["name"] != testCase {
			continue
		}
		list, _ := c["workloads"].([]any)
		for _, item := range list {
			if w, ok := item.(map[string]any); ok && w["name"] == workload {
				return c, w, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("%s: no workload %q in a case %q", file, workload, testCase)
}

// absolute makes every template path one that does not depend on the folder of the file.
func absolute(value any, key, folder string) any {
	switch v := value.(type) {
	case map[string]any:
		for k := range v {
			v[k] = absolute(v[k], k, folder)
		}
	case []any:
		for i := range v {
			v[i] = absolute(v[i], key, folder)
		}
	case string:
		lower := strings.ToLower(key)
		if (strings.HasSuffix(lower, "templatepath") || lower == "templatepaths") && !filepath.IsAbs(v) {
			return filepath.Join(folder, v)
		}
	}
	return value
}

func folderOf(file string) (string, error) {
	full, err := filepath.Abs(file)
	return filepath.Dir(full), err
}

// cut writes a file with one workload whose parameters are partly replaced.
func cut(file, testCase, workload string, params []string) ([]byte, error) {
	theCase, theWorkload, err := find(file, testCase, workload)
	if err != nil {
		return nil, err
	}
	folder, err := folderOf(file)
	if err != nil {
		return nil, err
	}
	values, _ := theWorkload["params"].(map[string]any)
	for _, param := range params {
		name, text, _ := strings.Cut(param, "=")
		number, err := strconv.Atoi(text)
		if err != nil || number < 0 {
			return nil, fmt.Errorf("--param: must be name=number, got %q", param)
		}
		if _, known := values[name]; !known {
			return nil, fmt.Errorf("--param: %s/%s has no parameter %q", testCase, workload, name)
		}
		values[name] = number
	}
	absolute(theCase, "", folder)
	theCase["workloads"] = []any{theWorkload}
	return yaml.Marshal([]any{theCase})
}

// readPlan fills in parameters and unrolls createPodSets. Feature gates of the file have no effect.
func readPlan(file, testCase, workload string) (*plan, error) {
	theCase, theWorkload, err := find(file, testCase, workload)
	if err != nil {
		return nil, err
	}
	if theCase["schedulerConfigPath"] != nil {
		return nil, fmt.Errorf("%s: %s: schedulerConfigPath is not for enginebench", file, testCase)
	}
	folder, err := folderOf(file)
	if err != nil {
		return nil, err
	}
	absolute(theCase, "", folder)
	p := &plan{testCase: testCase, workload: workload}
	p.defaultPod, _ = theCase["defaultPodTemplatePath"].(string)
	params, _ := theWorkload["params"].(map[string]any)
	ops, _ := theCase["workloadTemplate"].([]any)
	if own, ok := theWorkload["workloadTemplate"]; ok && own != nil {
		return nil, fmt.Errorf("%s: %s/%s: a workloadTemplate of a workload is not for enginebench", file, testCase, workload)
	}
	for i, raw := range ops {
		text, err := yaml.Marshal(raw)
		if err != nil {
			return nil, err
		}
		var op operation
		if err := yaml.UnmarshalStrict(text, &op); err != nil {
			return nil, fmt.Errorf("%s: %s: workloadTemplate[%d]: %w", file, testCase, i, err)
		}
		if err := p.add(op, params); err != nil {
			return nil, fmt.Errorf("%s: %s: workloadTemplate[%d]: %w", file, testCase, i, err)
		}
	}
	return p, nil
}

func (p *plan) add(op operation, params map[string]any) error {
	if err := op.fillIn(params); err != nil {
		return err
	}
	switch op.Opcode {
	case "createNodes", "createNamespaces", "barrier":
	case "createPods":
		if op.PodTemplatePath == "" {
			op.PodTemplatePath = p.defaultPod
		}
	case "churn":
		if (op.Mode != "create" && op.Mode != "recreate") || len(op.TemplatePaths) == 0 || (op.Mode == "recreate" && op.Number < 1) {
			return errors.New("churn: mode, number or templatePaths are wrong")
		}
		if op.IntervalMilliseconds == 0 {
			op.IntervalMilliseconds = 500
		}
	case "createPodSets":
		if op.CreatePodsOp == nil {
			return errors.New("createPodSets: createPodsOp: Required value")
		}
		for i := range op.Count {
			one := *op.CreatePodsOp
			one.Opcode = "createPods"
			namespace := fmt.Sprintf("%s-%d", op.NamespacePrefix, i)
			one.Namespace = &namespace
			if err := p.add(one, params); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("op %q is not for enginebench", op.Opcode)
	}
	p.ops = append(p.ops, op)
	return nil
}

func (op *operation) fillIn(params map[string]any) error {
	if op.CountParam == "" {
		return nil
	}
	value, ok := params[strings.TrimPrefix(op.CountParam, "$")]
	if !ok {
		return fmt.Errorf("countParam: no parameter %s", op.CountParam)
	}
	number, ok := value.(float64)
	if !ok || number < 0 || number != float64(int(number)) {
		return fmt.Errorf("countParam: %s must be a count, got %v", op.CountParam, value)
	}
	op.Count = int(number)
	return nil
}
