// SPDX-License-Identifier: Apache-2.0

// Command oracle asks kube-scheduler's own code what it thinks of a case: it judges given clusters, makes up new ones, and plays
// stories and sequences.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/klog/v2"
)

const usage = `usage: oracle COMMAND
  gen --family F[,F...]|all --seed S --count N [-o FILE]   make up N cases of each family and judge them
  judge [--all] < cases.jsonl > out.jsonl                  fill in what upstream expects (--all: anew for every case)
  judge-dir DIR                                            judge a folder of objects, pod and config.yaml
  sequences --seed S --count N [-o FILE]                   make up sequences of placings and changes
  sequences --judge < placed.jsonl [-o FILE]               judge every placing of sequences whose placements are known
  stories --kind written|volumes|generated|replay [...]    play stories and record what the scheduling queue makes of them
`

func main() {
	klog.SetLogger(klog.Logger{})
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "gen":
		err = runGen(os.Args[2:])
	case "judge":
		err = runJudge(os.Args[2:])
	case "judge-dir":
		err = runJudgeDir(os.Args[2:])
	case "sequences":
		err = runSequences(os.Args[2:])
	case "stories":
		err = runStories(os.Args[2:])
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

// runGen writes count judged cases of every family asked for, in family order.
func runGen(args []string) error {
	fs := flag.NewFlagSet("gen", flag.ExitOnError)
	family := fs.String("family", "all", "families, separated by commas, or all")
	seed := fs.Uint64("seed", 1, "seed of the whole run")
	count := fs.Int("count", 20, "cases per family")
	first := fs.Int("first", 0, "number of the first case: with --count 1 this makes one case of a run again")
	out := fs.String("o", "", "file to write (standard output without)")
	stats := fs.Bool("stats", false, "print the balance of each family on standard error")
	if err := fs.Parse(args); err != nil {
		return err
	}
	names := familyNames()
	if *family != "all" {
		names = strings.Split(*family, ",")
	}
	w, err := openOutput(*out)
	if err != nil {
		return err
	}
	defer w.Close()
	buf := bufio.NewWriter(w)
	for _, name := range names {
		if err := generate(buf, name, *seed, *first, *count, *stats); err != nil {
			return err
		}
	}
	return buf.Flush()
}

// runJudge reads cases from standard input and writes them back with expected and unstable filled in.
func runJudge(args []string) error {
	fs := flag.NewFlagSet("judge", flag.ExitOnError)
	all := fs.Bool("all", false, "judge anew even where expected is given")
	if err := fs.Parse(args); err != nil {
		return err
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			var c Case
			if err := json.Unmarshal(line, &c); err != nil {
				return err
			}
			if *all || c.Expected == nil {
				if err := c.judge(); err != nil {
					return fmt.Errorf("%s: %w", c.ID, err)
				}
			}
			if err := writeCase(out, &c); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// openOutput creates the file to write; standard output without a name. The caller closes it.
func openOutput(name string) (*os.File, error) {
	if name == "" {
		return os.Stdout, nil
	}
	return os.Create(name)
}
