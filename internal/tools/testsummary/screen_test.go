package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTerminalProgressIsRewrittenBelowResults(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	s := newScreen(&out, true)
	s.progress("1/3 packages", time.Second)
	s.progress("2/3 packages", 2*time.Second)
	_, _ = s.Write([]byte("--- a TestBad\n"))
	s.progress("3/3 packages", 3*time.Second)
	s.clear()

	const erase = "\r\x1b[K"

	require.Equal(t, "1/3 packages"+erase+"2/3 packages"+erase+"--- a TestBad\n3/3 packages"+erase, out.String())
}

func TestPipeProgressIsAtMostALineInHalfAMinute(t *testing.T) {
	t.Parallel()

	var (
		out  strings.Builder
		seen []time.Duration
	)

	s := newScreen(&out, false)

	for after := time.Duration(0); after <= 20*time.Minute; after += 250 * time.Millisecond {
		before := out.Len()
		s.progress("x", after)

		if out.Len() > before {
			seen = append(seen, after)
		}
	}

	require.Equal(t, []time.Duration{
		30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 13 * time.Minute, 18 * time.Minute,
	}, seen)
	require.NotContains(t, out.String(), "\r")
}
