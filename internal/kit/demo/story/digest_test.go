package story_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func summarise(t *testing.T, content string) string {
	t.Helper()

	return generate(t, story.Client(script.Pace{}), &llm.Request{
		Agent: "LogAnalyst", Purpose: string(tarsy.InteractionSummarization), Messages: []llm.Message{{Role: llm.RoleUser, Content: content}},
	}).Text
}

func TestLongResultSummaryCountsLines(t *testing.T) {
	t.Parallel()

	log := use(t, connect(t), llm.ToolCall{
		Name: wirePrefix + "get_pod_logs", Arguments: `{"namespace":"shop","name":"catalog-search-5d8c7f9b6d-x2n4k"}`,
	})
	summary := summarise(t, "What the agent is doing\n\n<!-- TOOL_RESULT_START -->\n"+log+"\n<!-- TOOL_RESULT_END -->\n\nWrite the summary.")

	for _, fact := range []string{
		"248 lines, from 08:31:00 to 09:41:42, 6 ERROR, 147 WARN, 95 INFO.",
		"- 53 times from 08:52:", "`WARN  db pool exhausted waited_ms=", "- 50 times from 08:52:37 to 09:41:37: `INFO  reindex progress done=175374",
		"- `08:49:14 INFO  config reloaded source=configmap/catalog-search-config reindex_workers=16 was=2`",
	} {
		require.Contains(t, summary, fact)
	}

	require.NotContains(t, summary, "What the agent is doing")
	require.Less(t, len(summary), len(log)/6)
}

func TestAnyTextCanBeSummarised(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"nothing": "", "one line": strings.Repeat("é", 100_000), "backticks": "a `b` c\n```\n", "all different": strings.Repeat("a\nb\nab\nba\n", 1000),
	} {
		summary := summarise(t, text)
		require.NotEmpty(t, summary, name)
		require.Less(t, len(summary), 4000, name)
	}
}
