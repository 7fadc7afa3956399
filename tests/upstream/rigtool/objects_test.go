// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
	"time"
)

func TestArrivalTimes(t *testing.T) {
	for _, random := range []bool{false, true} {
		times := arrivalTimes(10000, 50, random)
		if !slices.IsSorted(times) || times[0] != 0 {
			t.Errorf("random %v: %v comes first", random, times[0])
		}
		if last := times[len(times)-1]; last < 190*time.Second || last > 210*time.Second {
			t.Errorf("random %v: 10,000 at 50 a second take %v", random, last)
		}
		even := (times[101] - times[100] - (times[100] - times[99])).Abs() < time.Microsecond
		if even == random {
			t.Errorf("random %v: the steps are even: %v", random, even)
		}
		if !slices.Equal(times, arrivalTimes(10000, 50, random)) {
			t.Errorf("random %v: other times the second time", random)
		}
	}
	if times := arrivalTimes(3, 0, true); times[2] != 0 {
		t.Errorf("no rate: the last one waits for %v", times[2])
	}
}
