// SPDX-License-Identifier: Apache-2.0

// Rigtool does for the scripts around a control plane what a shell does badly: certificates, free ports, a look at an
// endpoint, a scheduler configuration made to fit, thousands of objects, and what must be so after each scenario.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

const usage = `usage: rigtool ports N                                N free loopback ports on a line
       rigtool certificates DIR                       an authority and what it signed, into an empty folder
       rigtool kubeconfig DIR USER SERVER             a kubeconfig of one of those users, on stdout
       rigtool get DIR URL                            succeeds if the answer is 200; as user admin
       rigtool call METHOD URL [DIR [USER [HEADER...]]]
                                                      body on stdin, status and answer on stdout; with https, DIR has the
                                                      authority, USER's certificate is shown; a HEADER is "Name: value"
       rigtool scheduler-config FILE KUBECONFIG       FILE with that kubeconfig if it names none, on stdout
       rigtool nodes|pods|heartbeat|churn|clear|disks|provision|clear-volumes|check|check-volumes|audit|measure|sample|compare-metrics|compare-json|compare-objects|rights --help`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rigtool:", err)
		os.Exit(1)
	}
}

// What has options of its own, each in a file of that name or beside those it works with.
var commands = map[string]func(args []string) error{
	"nodes":           makeNodes,
	"heartbeat":       heartbeat,
	"pods":            makePods,
	"churn":           churn,
	"clear":           clearCluster,
	"disks":           makeDisks,
	"provision":       provision,
	"clear-volumes":   clearVolumes,
	"check":           check,
	"check-volumes":   checkVolumes,
	"audit":           audit,
	"measure":         measure,
	"sample":          sample,
	"compare-metrics": compareMetrics,
	"compare-json":    compareJSON,
	"compare-objects": compareObjects,
	"rights":          rights,
}

func run(args []string) error {
	if len(args) > 0 {
		if command, ok := commands[args[0]]; ok {
			return command(args[1:])
		}
	}
	switch {
	case len(args) == 2 && args[0] == "ports":
		return printPorts(args[1])
	case len(args) == 2 && args[0] == "certificates":
		return writeCertificates(args[1])
	case len(args) == 4 && args[0] == "kubeconfig":
		return printKubeconfig(args[1], args[2], args[3])
	case len(args) == 3 && args[0] == "get":
		return get(args[1], args[2])
	case len(args) >= 3 && args[0] == "call":
		return call(args[1], args[2], args[3:])
	case len(args) == 3 && args[0] == "scheduler-config":
		return printSchedulerConfig(args[1], args[2])
	}
	return errors.New(usage)
}

// printPorts looks below the range that the kernel gives to outgoing connections, so that none of those takes a port
// between our look and the server's start.
func printPorts(text string) error {
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > 100 {
		return fmt.Errorf("ports: want a number from 1 to 100, got %q", text)
	}
	var ports []string
	for tries := 0; len(ports) < count; tries++ {
		if tries == 1000 {
			return errors.New("ports: found no free loopback ports from 20000 to 29999")
		}
		port := strconv.Itoa(20000 + rand.IntN(10000))
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		defer listener.Close() // held until all are found: no port twice
		ports = append(ports, port)
	}
	fmt.Println(strings.Join(ports, " "))
	return nil
}

// newClient trusts the authority in dir and shows the certificate of user, each where it is not empty.
func newClient(dir, user string) (*http.Client, error) {
	config := &tls.Config{}
	if dir != "" {
		authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(authority)
	}
	if user != "" {
		certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, user+".crt"), filepath.Join(dir, user+".key"))
		if err != nil {
			return nil, err
		}
		// Shown whatever authorities the server names: tests show wrong ones, too.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	}
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: config}}, nil
}

func get(dir, url string) error {
	client, err := newClient(dir, "admin")
	if err != nil {
		return err
	}
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, response.Status, body)
	}
	return nil
}

// call prints the status on a line, then the answer; JSON with sorted keys and no blanks, so that a shell can compare it.
func call(method, url string, rest []string) error {
	rest = append(rest, "", "")
	client, err := newClient(rest[0], rest[1])
	if err != nil {
		return err
	}
	sent, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	for _, header := range rest[2:] {
		if name, value, ok := strings.Cut(header, ": "); ok {
			request.Header.Add(name, value)
		} else if header != "" {
			return fmt.Errorf("call: want a header \"Name: value\", got %q", header)
		}
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return err
	}
	var value any
	if json.Unmarshal(body, &value) == nil {
		if sorted, err := json.Marshal(value); err == nil {
			body = sorted
		}
	}
	fmt.Printf("%d\n%s\n", response.StatusCode, bytes.TrimSpace(body))
	return nil
}

// printSchedulerConfig exists because kube-scheduler passes over --kubeconfig when it is given a --config.
func printSchedulerConfig(file, kubeconfig string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	config := map[string]any{}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if kind := config["kind"]; kind != "KubeSchedulerConfiguration" {
		return fmt.Errorf("%s: kind: want KubeSchedulerConfiguration, got %v", file, kind)
	}
	if config["clientConnection"] == nil {
		config["clientConnection"] = map[string]any{}
	}
	connection, ok := config["clientConnection"].(map[string]any)
	if !ok {
		return fmt.Errorf("%s: clientConnection: want an object, got %v", file, config["clientConnection"])
	}
	if value := connection["kubeconfig"]; value == nil || value == "" {
		connection["kubeconfig"] = kubeconfig
	}
	out, err := yaml.Marshal(config)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(out)
	return err
}
