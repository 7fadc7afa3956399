// SPDX-License-Identifier: Apache-2.0

// Command enginebench measures kube-scheduler's own scheduling step, without an API server, on workloads in the format of
// scheduler_perf: process CPU per measured pod.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/klog/v2"
)

const usage = `usage: enginebench COMMAND
  run -f FILE --case C --workload W [--percentage P]      run a workload; prints one JSON object
  cut -f FILE --case C --workload W [--param NAME=N,...]  print a file with this workload alone, parameters replaced
  compare --berth PROGRAM --upstream DIR --own DIR [...]  run both sides on the workloads that have figures
`

func main() {
	klog.SetLogger(klog.Logger{})
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	var c comparer
	flags := flag.NewFlagSet(command, flag.ExitOnError)
	file := flags.String("f", "", "a performance-config.yaml")
	testCase := flags.String("case", "", "name of the test case")
	workload := flags.String("workload", "", "name of the workload")
	percentage := flags.Int("percentage", 0, "percentageOfNodesToScore; 0 is upstream's own choice")
	params := flags.String("param", "", "parameters to replace, as name=number, separated by commas")
	flags.StringVar(&c.berth, "berth", "", "compare: the program")
	flags.StringVar(&c.upstream, "upstream", "", "compare: upstream's test/integration/scheduler_perf")
	flags.StringVar(&c.own, "own", "", "compare: Berth's bench/workloads")
	flags.StringVar(&c.only, "only", "", "compare: only this case")
	flags.IntVar(&c.runs, "runs", 3, "compare: runs of each; the median counts")
	flags.IntVar(&c.pods, "pods", 0, "compare: measured pods at most; 0 for all")
	flags.BoolVar(&c.small, "small", false, "compare: small workloads; only the answers are compared")
	if command != "run" && command != "cut" && command != "compare" {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	_ = flags.Parse(os.Args[2:])
	var err error
	same := true
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case command == "compare" && c.runs < 1:
		err = fmt.Errorf("--runs: must be positive, got %d", c.runs)
	case command == "compare" && c.pods < 0:
		err = fmt.Errorf("--pods: must not be negative, got %d", c.pods)
	case command == "compare":
		same, err = c.compare()
	case command == "cut":
		var text []byte
		if text, err = cut(*file, *testCase, *workload, strings.FieldsFunc(*params, func(r rune) bool { return r == ',' })); err == nil {
			_, err = os.Stdout.Write(text)
		}
	default:
		err = runCommand(*file, *testCase, *workload, *percentage)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "enginebench:", err)
	}
	if err != nil || !same {
		os.Exit(1)
	}
}

func runCommand(file, testCase, workload string, percentage int) error {
	if percentage < 0 || percentage > 100 {
		return fmt.Errorf("--percentage: must be between 0 and 100, got %d", percentage)
	}
	p, err := readPlan(file, testCase, workload)
	if err != nil {
		return err
	}
	result, err := runPlan(p, int32(percentage))
	if err != nil {
		return fmt.Errorf("%s/%s: %w", testCase, workload, err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(result)
}
