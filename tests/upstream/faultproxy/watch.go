// SPDX-License-Identifier: Apache-2.0

// Watches are passed on event by event, so that one can be ended, or told 410, between two of them.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
)

// What an open watch can be told.
const (
	orderCut    = "cut"
	orderExpire = "expire"
	orderEnd    = "end" // as after its timeout
)

type openWatch struct {
	uri    string
	orders chan string
}

type watches struct {
	mutex  sync.Mutex
	open   map[*openWatch]bool
	opened atomic.Int64
}

func (w *watches) add(uri string) *openWatch {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.open == nil {
		w.open = map[*openWatch]bool{}
	}
	one := &openWatch{uri, make(chan string, 1)}
	w.open[one] = true
	w.opened.Add(1)
	return one
}

func (w *watches) remove(one *openWatch) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.open, one)
}

// command says how many watches were told.
func (w *watches) command(order string, path *regexp.Regexp) int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	told := 0
	for one := range w.open {
		if !path.MatchString(one.uri) {
			continue
		}
		select {
		case one.orders <- order:
			told++
		default: // it has been told something already
		}
	}
	return told
}

func (p *proxy) watch(w http.ResponseWriter, r *http.Request, response *http.Response, f *fault) {
	binaryFrames := strings.Contains(response.Header.Get("Content-Type"), "protobuf")
	one := p.watches.add(r.URL.RequestURI())
	defer p.watches.remove(one)
	copyHeader(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	flush(w)
	switch f.Action {
	case actExpire:
		one.orders <- orderExpire
	case actLose:
		cut(r)
	}

	frames := make(chan []byte, 64)
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer close(frames)
		reader := bufio.NewReaderSize(response.Body, 64<<10)
		for {
			frame, err := readFrame(reader, binaryFrames)
			if err != nil {
				return
			}
			select {
			case frames <- frame:
			case <-done:
				return
			}
		}
	}()
	for {
		select {
		case frame, ok := <-frames:
			if !ok {
				return
			}
			switch f.Action {
			case actTrickle:
				pause(r, f.delay)
			case actHalf:
				_, _ = w.Write(frame[:len(frame)/2])
				flush(w)
				cut(r)
			}
			if _, err := w.Write(frame); err != nil {
				return
			}
			// What comes in a crowd is flushed when net/http's buffer is full, and when there is a gap.
			if len(frames) == 0 {
				flush(w)
			}
		case order := <-one.orders:
			switch order {
			case orderCut:
				cut(r)
			case orderExpire:
				_, _ = w.Write(expiredFrame(binaryFrames))
				flush(w)
			}
			return
		case <-r.Context().Done():
			return
		}
	}
}

// readFrame: one event with what separates it from the next.
func readFrame(reader *bufio.Reader, binaryFrames bool) ([]byte, error) {
	if !binaryFrames {
		return reader.ReadBytes('\n')
	}
	frame := make([]byte, 4)
	if _, err := io.ReadFull(reader, frame); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(frame)
	if size > 16<<20 {
		return nil, fmt.Errorf("an event of %d bytes", size)
	}
	frame = append(frame, make([]byte, size)...)
	_, err := io.ReadFull(reader, frame[4:])
	return frame, err
}

// expiredFrame is what a watch says whose version is too old.
func expiredFrame(binaryFrames bool) []byte {
	status := injected(http.StatusGone, "")
	status.Message = "too old resource version: 1 (2)"
	if !binaryFrames {
		line, _ := json.Marshal(map[string]any{"type": watch.Error, "object": status}) // a plain struct
		return append(line, '\n')
	}
	scheme := runtime.NewScheme()
	raw, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), &status)
	if err != nil {
		panic(err) // a Status can be encoded
	}
	event := metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: raw}}
	body, err := event.Marshal()
	if err != nil {
		panic(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}
