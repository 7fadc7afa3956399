// SPDX-License-Identifier: Apache-2.0

// What a scheduler's process costs, and how fast it gets through the pods that wait for it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

const ticksPerSecond = 100 // USER_HZ of every Linux that we run on

// process is what /proc says of one.
type process struct {
	cpu   time.Duration // user and system, all threads
	began time.Time
	rssKB int64
	hwmKB int64
}

func readProcess(pid int) (process, error) {
	var p process
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	// The name in parentheses may have blanks. Of what follows it, the state is the first.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" {
		return p, fmt.Errorf("process %d has ended", pid)
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(fields[i], 10, 64) // the kernel writes numbers there
		return n
	}
	p.cpu = time.Duration(number(11)+number(12)) * time.Second / ticksPerSecond
	boot, err := bootTime()
	if err != nil {
		return p, err
	}
	p.began = boot.Add(time.Duration(number(19)) * time.Second / ticksPerSecond)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return p, err
	}
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		words := strings.Fields(rest)
		if len(words) == 0 {
			continue
		}
		switch name {
		case "VmRSS":
			p.rssKB, _ = strconv.ParseInt(words[0], 10, 64)
		case "VmHWM":
			p.hwmKB, _ = strconv.ParseInt(words[0], 10, 64)
		}
	}
	return p, nil
}

func bootTime() (time.Time, error) {
	uptime, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseFloat(strings.Fields(string(uptime))[0], 64)
	if err != nil {
		return time.Time{}, err
	}
	return time.Now().Add(-time.Duration(seconds * float64(time.Second))), nil
}

// measure waits until every pod of a namespace has its Scheduled event. That event follows the binding, and its time is
// when the scheduler heard that the binding was done. Asking for one event tells how many there are, and costs the API
// server next to nothing, which a watch of 20,000 of them would not.
func measure(args []string) error {
	f := newFlags("measure")
	pid := f.Int("pid", 0, "the scheduler")
	pods := f.Int("pods", 0, "so many events are waited for")
	patience := f.Duration("patience", 10*time.Minute, "for so long")
	client, err := f.connect(args)
	if err != nil {
		return err
	}
	if *pods <= 0 {
		return fmt.Errorf("--pods: want a number above 0, got %d", *pods)
	}
	deadline := time.Now().Add(*patience)
	var last time.Time
	var end process
	for {
		count, err := countEvents(client, *f.namespace)
		if err != nil {
			return err
		}
		last = time.Now()
		if end, err = readProcess(*pid); err != nil {
			return fmt.Errorf("%w, after %d events", err, count)
		}
		if count >= *pods {
			first, scheduled, err := scheduledEvents(client, *f.namespace)
			if err != nil {
				return err
			}
			// Others, of pods that failed to be scheduled, may have been among those that were counted.
			if scheduled >= *pods {
				span := last.Sub(first)
				fmt.Printf("pods_per_s %.1f\ncpu_us_per_pod %.1f\npeak_mb %.1f\nfirst_binding_s %.3f\nall_s %.3f\n",
					float64(*pods)/span.Seconds(), float64(end.cpu.Microseconds())/float64(*pods), float64(end.hwmKB)/1024,
					first.Sub(end.began).Seconds(), last.Sub(end.began).Seconds())
				return nil
			}
			time.Sleep(time.Second)
		}
		if last.After(deadline) {
			return fmt.Errorf("after %v there are %d of %d events", *patience, count, *pods)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func countEvents(client kubernetes.Interface, namespace string) (int, error) {
	list, err := client.CoreV1().Events(namespace).List(context.Background(), metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, err
	}
	count := len(list.Items)
	if list.RemainingItemCount != nil {
		count += int(*list.RemainingItemCount)
	}
	return count, nil
}

// scheduledEvents says when the scheduler heard that the first pod is bound, and of how many it has heard it.
func scheduledEvents(client kubernetes.Interface, namespace string) (first time.Time, pods int, err error) {
	events, err := client.CoreV1().Events(namespace).List(context.Background(), metav1.ListOptions{
		FieldSelector: fields.Set{"reason": "Scheduled"}.String()})
	if err != nil {
		return first, 0, err
	}
	names := map[string]bool{}
	for i := range events.Items {
		at := events.Items[i].EventTime.Time
		names[events.Items[i].InvolvedObject.Name] = true
		if at.IsZero() {
			return first, 0, errors.New("an event has no eventTime")
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first, len(names), nil
}

// sample prints memory and CPU of a process over time, and both over all of it at the end.
func sample(args []string) error {
	f := newFlags("sample")
	pid := f.Int("pid", 0, "the process")
	every := f.Duration("every", 10*time.Second, "a line is printed")
	seconds := f.Float64("seconds", 60, "for so long")
	if err := f.parse(args); err != nil {
		return err
	}
	if *every <= 0 {
		return fmt.Errorf("--every: want a duration above 0, got %v", *every)
	}
	first, err := readProcess(*pid)
	if err != nil {
		return err
	}
	began, before, last := time.Now(), time.Now(), first
	end := began.Add(time.Duration(*seconds * float64(time.Second)))
	for before.Before(end) {
		time.Sleep(min(*every, time.Until(end)))
		now, err := readProcess(*pid)
		if err != nil {
			return err
		}
		at := time.Now()
		fmt.Printf("%.0f s rss_mb %.1f cpu_percent %.2f\n", at.Sub(began).Seconds(), float64(now.rssKB)/1024,
			100*(now.cpu-last.cpu).Seconds()/at.Sub(before).Seconds())
		before, last = at, now
	}
	fmt.Printf("rss_mb %.1f\npeak_mb %.1f\ncpu_percent %.3f\n", float64(last.rssKB)/1024, float64(last.hwmKB)/1024,
		100*(last.cpu-first.cpu).Seconds()/before.Sub(began).Seconds())
	return nil
}
