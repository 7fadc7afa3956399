// SPDX-License-Identifier: Apache-2.0

// Extenderargs makes up requests to a scheduler extender, good and bad, and writes down what Go's encoding/json makes of
// each: the reference for our own decoder. One JSON object a line; the same seed gives the same bytes.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"unicode/utf8"
)

// A recording. Body64 instead of Body where the body is not UTF-8, which JSON cannot hold.
type recording struct {
	Name    string `json:"name"`
	Message string `json:"message"` // args, preemption or binding
	Body    string `json:"body,omitempty"`
	Body64  []byte `json:"body64,omitempty"`
	judgement
}

func main() {
	seed := flag.Uint64("seed", 20260101, "what to make up")
	first := flag.Uint64("first", 0, "leave out the requests before this one")
	count := flag.Uint64("count", 5000, "how many")
	stats := flag.Bool("stats", false, "say how many were refused, and why")
	out := flag.String("o", "", "file to write; default: standard output")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("extenderargs: unexpected argument %q", flag.Arg(0))
	}
	if err := run(*seed, *first, *count, *stats, *out); err != nil {
		log.Fatalf("extenderargs: %v", err)
	}
}

func run(seed, first, count uint64, stats bool, path string) error {
	var file io.Writer = os.Stdout
	if path != "" {
		created, err := os.Create(path)
		if err != nil {
			return err
		}
		defer created.Close()
		file = created
	}
	buffered := bufio.NewWriter(file)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	kinds := map[string]int{}
	for i := first; i < first+count; i++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, i))}
		message := messages[i%uint64(len(messages))]
		body := g.request(message)
		r := recording{Name: fmt.Sprintf("args-%d-%d", seed, i), Message: message, judgement: judge(message, body)}
		if utf8.Valid(body) {
			r.Body = string(body)
		} else {
			r.Body64 = body
		}
		kinds[r.Go]++
		if err := encoder.Encode(&r); err != nil {
			return err
		}
	}
	if stats {
		fmt.Fprintf(os.Stderr, "%d requests: %v\n", count, kinds)
	}
	return buffered.Flush()
}
