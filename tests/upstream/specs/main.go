// SPDX-License-Identifier: Apache-2.0

// specs runs the end-to-end specs of Kubernetes' own sig-scheduling against a cluster, whichever scheduler it has:
//
//	specs --kubeconfig FILE [--ginkgo.focus REGEX] [--ginkgo.skip REGEX] [--ginkgo.dry-run]
//
// Flags are those of ginkgo and of the end-to-end framework.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"

	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/e2e/framework/metrics/init"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
	_ "k8s.io/kubernetes/test/e2e/scheduling"
)

// outcome is told of the end; RunSpecs wants somebody who can fail.
type outcome struct{ failed bool }

func (o *outcome) Fail() { o.failed = true }

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "specs: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	var end outcome
	if !ginkgo.RunSpecs(&end, "sig-scheduling", suite, reporter) || end.failed {
		os.Exit(1)
	}
}
