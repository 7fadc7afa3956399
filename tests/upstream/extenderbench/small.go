// SPDX-License-Identifier: Apache-2.0

// Many small requests over a few connections, with as little work as possible on this side.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// storm asks for `length` over so many connections at a time. It gives the number of requests and the time they took.
func (s *server) storm(path string, body []byte, connections int, length time.Duration) (int, time.Duration, error) {
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, s.address, len(body))
	request = append(request, body...)
	var group sync.WaitGroup
	counts := make([]int, connections)
	errors := make([]error, connections)
	begin := time.Now()
	for i := range connections {
		group.Go(func() { counts[i], errors[i] = s.stormOne(request, begin.Add(length)) })
	}
	group.Wait()
	took := time.Since(begin)
	total := 0
	for i := range connections {
		if errors[i] != nil {
			return 0, 0, fmt.Errorf("%s: %w", s.name, errors[i])
		}
		total += counts[i]
	}
	return total, took, nil
}

func (s *server) stormOne(request []byte, end time.Time) (int, error) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	// The first reply shows how long all are.
	if _, err := conn.Write(request); err != nil {
		return 0, err
	}
	var raw bytes.Buffer
	reply, err := http.ReadResponse(bufio.NewReaderSize(io.TeeReader(conn, &raw), 1), nil)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(io.Discard, reply.Body); err != nil || reply.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %s (%v)", reply.Status, err)
	}
	buffer := make([]byte, raw.Len())
	count := 0
	for ; count%64 != 0 || time.Now().Before(end); count++ {
		if _, err := conn.Write(request); err != nil {
			return count, err
		}
		if _, err := io.ReadFull(conn, buffer); err != nil {
			return count, err
		}
		if !bytes.HasPrefix(buffer, []byte("HTTP/1.1 200 ")) {
			return count, fmt.Errorf("unexpected reply %.80q", buffer)
		}
	}
	return count, nil
}
