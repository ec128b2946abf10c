package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneWarningPerCategoryAndServer(t *testing.T) {
	t.Parallel()

	var w warnings

	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	w.set(categoryMCP, "kubernetes", "refused", "", at)
	w.set(categoryMCP, "logs", "refused", "", at)
	w.set(categoryMCP, "kubernetes", "timed out", "", at.Add(time.Minute))
	w.set(categoryConfig, "", "one key", "", at)
	w.set(categoryConfig, "", "another key", "", at)
	w.set(categoryConfig, "", "one key", "", at)

	var messages []string
	for _, o := range w.list() {
		messages = append(messages, o.ServerID+": "+o.Message)
	}

	require.Equal(t, []string{"logs: refused", "kubernetes: timed out", ": another key", ": one key"}, messages)

	w.clear(categoryMCP, "kubernetes")
	require.Len(t, w.list(), 3)
}
