// SPDX-License-Identifier: Apache-2.0

// Objects from templates, as the API server would have stored them.
package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"text/template"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"sigs.k8s.io/yaml"
)

// What scheduler_perf creates when an op names no template.
const (
	basePod = `{apiVersion: v1, kind: Pod, metadata: {generateName: pod-}, spec: {containers: [{name: pause, image: pause,
  ports: [{containerPort: 80}], resources: {limits: {cpu: 100m, memory: 500Mi}, requests: {cpu: 100m, memory: 500Mi}}}]}}`
	baseNode = `{apiVersion: v1, kind: Node, metadata: {generateName: node-}, status: {capacity: {pods: "110", cpu: "4",
  memory: 32Gi}, conditions: [{type: Ready, status: "True"}]}}`
	baseNamespace = `{apiVersion: v1, kind: Namespace}`
)

type objectTemplate struct {
	source    string
	text      *template.Template
	constant  bool
	prototype runtime.Object // of templates without actions
}

// object is what the templates make: all kinds that enginebench creates.
type object interface {
	runtime.Object
	metav1.Object
}

func number(value any) float64 {
	switch v := value.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

func fold(f func(a, b float64) float64) func(values ...any) float64 {
	return func(values ...any) float64 {
		result := number(values[0])
		for _, value := range values[1:] {
			result = f(result, number(value))
		}
		return result
	}
}

func functions() template.FuncMap {
	out := template.FuncMap{"Mod": func(a, b any) int { return int(number(a)) % int(number(b)) }}
	for name, f := range map[string]func(a, b float64) float64{
		"Add":      func(a, b float64) float64 { return a + b },
		"Subtract": func(a, b float64) float64 { return a - b },
		"Multiply": func(a, b float64) float64 { return a * b },
		"Divide":   func(a, b float64) float64 { return a / b },
	} {
		calculate := fold(f)
		out[name+"Float"] = calculate
		out[name+"Int"] = func(values ...any) int { return int(calculate(values...)) }
	}
	return out
}

// readTemplate opens a file, or takes the text where there is none.
func readTemplate(path, text string) (*objectTemplate, error) {
	source := path
	if path == "" {
		source = "the default template"
	} else {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text = string(content)
	}
	parsed, err := template.New("object").Funcs(functions()).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return &objectTemplate{source: source, text: parsed, constant: !bytes.Contains([]byte(text), []byte("{{"))}, nil
}

func (t *objectTemplate) decode(index, count int) (runtime.Object, error) {
	var text bytes.Buffer
	if err := t.text.Execute(&text, map[string]any{"Index": index, "Count": count}); err != nil {
		return nil, fmt.Errorf("%s: %w", t.source, err)
	}
	json, err := yaml.YAMLToJSON(text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.source, err)
	}
	obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(json, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.source, err)
	}
	legacyscheme.Scheme.Default(obj)
	if pod, ok := obj.(*v1.Pod); ok {
		return admit(pod)
	}
	return obj, nil
}

// admit does to a pod what the pod registry does when it is created.
func admit(pod *v1.Pod) (*v1.Pod, error) {
	internal, stored := &core.Pod{}, &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return nil, err
	}
	podregistry.Strategy.PrepareForCreate(context.Background(), internal)
	if err := legacyscheme.Scheme.Convert(internal, stored, nil); err != nil {
		return nil, err
	}
	stored.TypeMeta = pod.TypeMeta
	return stored, nil
}

// make gives one object; serial makes its name and uid unique.
func (t *objectTemplate) make(index, count, serial int, created metav1.Time) (object, error) {
	var obj runtime.Object
	if t.prototype != nil {
		obj = t.prototype.DeepCopyObject()
	} else {
		var err error
		if obj, err = t.decode(index, count); err != nil {
			return nil, err
		}
		if t.constant {
			t.prototype = obj.DeepCopyObject()
		}
	}
	if _, err := meta.Accessor(obj); err != nil {
		return nil, fmt.Errorf("%s: %w", t.source, err)
	}
	out := obj.(object)
	if out.GetName() == "" {
		out.SetName(out.GetGenerateName() + strconv.Itoa(serial))
	}
	out.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", serial)))
	out.SetCreationTimestamp(created)
	out.SetResourceVersion(strconv.Itoa(serial + 1))
	return out, nil
}
