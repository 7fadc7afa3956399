// SPDX-License-Identifier: Apache-2.0

// A server under measurement: started, asked, its CPU time and memory read, stopped.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

type server struct {
	name    string
	command *exec.Cmd
	address string
	log     bytes.Buffer
	client  http.Client
}

// startServer runs a program on a free port and waits until it answers. An argument "PORT" is replaced.
func startServer(name string, arguments ...string) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	listener.Close()
	for i, argument := range arguments {
		arguments[i] = strings.ReplaceAll(argument, "PORT", port)
	}
	s := &server{name: name, command: exec.Command(arguments[0], arguments[1:]...), address: "127.0.0.1:" + port}
	s.command.Stdout, s.command.Stderr = &s.log, &s.log
	// One line per call would be measured as well.
	s.command.Env = append(os.Environ(), "LOG_LEVEL=WARN")
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		reply, err := s.client.Get("http://" + s.address + "/healthz")
		if err == nil {
			reply.Body.Close()
			return s, nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("%s did not start: %s", name, s.log.String())
}

// get answers GET; an error unless the status is 200.
func (s *server) get(path string) (string, error) {
	reply, err := s.client.Get("http://" + s.address + path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.name, err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: GET %s: %s: %.300s", s.name, path, reply.Status, text)
	}
	return string(text), err
}

func (s *server) waitReady() error {
	var err error
	for range 400 {
		if _, err = s.get("/readyz"); err == nil {
			return nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	return err
}

func (s *server) stop() {
	_ = s.command.Process.Signal(unix.SIGTERM)
	_ = s.command.Wait()
	s.client.CloseIdleConnections()
}

// cpu is the user and system time of the whole process so far.
func (s *server) cpu() time.Duration {
	var now unix.Timespec
	// The kernel's name for the CPU clock of another process; see clock_getcpuclockid(3).
	if err := unix.ClockGettime(int32(^s.command.Process.Pid<<3|2), &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

// peak is the most memory that was resident so far, in bytes.
func (s *server) peak() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, "VmHWM:"); is {
			kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

// post sends a request. The reply is only kept if `keep`.
func (s *server) post(path string, body []byte, keep bool) ([]byte, error) {
	reply, err := s.client.Post("http://"+s.address+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", s.name, err, s.log.String())
	}
	defer reply.Body.Close()
	var kept bytes.Buffer
	var to io.Writer = io.Discard
	if keep || reply.StatusCode != http.StatusOK {
		to = &kept
	}
	if _, err := io.Copy(to, reply.Body); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %.300s", s.name, reply.Status, kept.Bytes())
	}
	return kept.Bytes(), nil
}
