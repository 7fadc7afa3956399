// SPDX-License-Identifier: Apache-2.0

// Encodings makes up pods and nodes and writes each as an API server sends it: as JSON, as protobuf, and now and then in a
// list and as an event of a watch. Whoever reads them must make the same of all. One JSON object a line; the same seed gives
// the same bytes.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/framer"
	"k8s.io/apimachinery/pkg/watch"
)

// A recording. List and Frame, where they are there, hold the object as well: one item of a list, an event of a watch
// with its length before it. Both are protobuf.
type recording struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	JSON     string `json:"json"`
	Protobuf []byte `json:"protobuf"`
	List     []byte `json:"list,omitempty"`
	Frame    []byte `json:"frame,omitempty"`
}

func main() {
	seed := flag.Int64("seed", 20260101, "what to make up")
	first := flag.Int64("first", 0, "leave out the objects before this one")
	count := flag.Int64("count", 1000, "how many")
	out := flag.String("o", "", "file to write; default: standard output")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("encodings: unexpected argument %q", flag.Arg(0))
	}
	if err := run(*seed, *first, *count, *out); err != nil {
		log.Fatalf("encodings: %v", err)
	}
}

func run(seed, first, count int64, path string) error {
	var file io.Writer = os.Stdout
	if path != "" {
		created, err := os.Create(path)
		if err != nil {
			return err
		}
		defer created.Close()
		file = created
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	w := &writer{
		json:     jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme, jsonserializer.SerializerOptions{}),
		protobuf: protobuf.NewSerializer(scheme, scheme),
		raw:      protobuf.NewRawSerializer(scheme, scheme),
	}
	buffered := bufio.NewWriter(file)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	for i := first; i < first+count; i++ {
		r, err := w.record(seed, i)
		if err != nil {
			return fmt.Errorf("object %d: %w", i, err)
		}
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

type writer struct {
	json, protobuf, raw runtime.Encoder
}

func (w *writer) record(seed, i int64) (*recording, error) {
	fill := newFiller(seed, i)
	var object, list runtime.Object
	kind := "Pod"
	if i%3 == 2 {
		kind = "Node"
		node := &corev1.Node{}
		fill.Fill(node)
		object = node
		list = &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "17"}, Items: []corev1.Node{*node}}
	} else {
		pod := &corev1.Pod{}
		fill.Fill(pod)
		object = pod
		list = &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "17"}, Items: []corev1.Pod{*pod}}
	}
	version := schema.GroupVersion{Version: "v1"}
	object.GetObjectKind().SetGroupVersionKind(version.WithKind(kind))
	list.GetObjectKind().SetGroupVersionKind(version.WithKind(kind + "List"))

	r := &recording{Name: fmt.Sprintf("object-%d-%d", seed, i), Kind: kind}
	text, err := runtime.Encode(w.json, object)
	if err != nil {
		return nil, err
	}
	r.JSON = string(text)
	if r.Protobuf, err = runtime.Encode(w.protobuf, object); err != nil {
		return nil, err
	}
	if i%8 == 0 {
		if r.List, err = runtime.Encode(w.protobuf, list); err != nil {
			return nil, err
		}
	}
	if i%8 == 1 {
		if r.Frame, err = w.frame(r.Protobuf); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// As an API server writes an event of a watch.
func (w *writer) frame(object []byte) ([]byte, error) {
	event := &metav1.WatchEvent{Type: string(watch.Modified), Object: runtime.RawExtension{Raw: object}}
	body, err := runtime.Encode(w.raw, event)
	if err != nil {
		return nil, err
	}
	var framed bytes.Buffer
	if _, err := framer.NewLengthDelimitedFrameWriter(&framed).Write(body); err != nil {
		return nil, err
	}
	if size := binary.BigEndian.Uint32(framed.Bytes()); int(size) != len(body) {
		return nil, fmt.Errorf("a frame of %d bytes says %d", len(body), size)
	}
	return framed.Bytes(), nil
}
