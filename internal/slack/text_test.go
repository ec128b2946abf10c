package slack

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

func TestMarkdownBecomesMrkdwn(t *testing.T) {
	t.Parallel()

	for markdown, want := range map[string]string{
		"# The **cause**\n\ntext":             "*The cause*\n\ntext",
		"**bold** and __bold__ ~~gone~~":      "*bold* and *bold* ~gone~",
		"- one\n  * two\n+ three":             "• one\n  • two\n• three",
		"see [docs](https://example.org)":     "see docs (https://example.org)",
		"![pixel](https://evil.example/p)":    "pixel (https://evil.example/p)",
		"a < b && c > d":                      "a &lt; b &amp;&amp; c &gt; d",
		"```go\nif a < b {}\n```":             "```\nif a &lt; b {}\n```",
		"```**x**```":                         "```\n**x**```",
		"```\n**x** @here":                    "```\n*x* @\u200bhere",
		"ask @here and @Channel, not @hereby": "ask @\u200bhere and @\u200bChannel, not @hereby",
	} {
		require.Equal(t, want, mrkdwn(markdown))
	}
}

func TestHostileTextIsHarmless(t *testing.T) {
	t.Parallel()

	const hostile = "<!channel|x> <@U1> <!subteam^S1> <https://evil.example|safe> @everyone *b* _i_ snake_case `c` \u202etxt\x00"

	for name, shown := range map[string]string{"inert": inert(hostile), "literal": literal(hostile), "mrkdwn": mrkdwn(hostile)} {
		require.NotContains(t, shown, "<", name)
		require.NotContains(t, shown, ">", name)
		require.NotContains(t, shown, "\u202e", name)
		require.NotContains(t, shown, "@everyone", name)
		require.Contains(t, shown, "snake_case", name)
	}

	require.Contains(t, literal(hostile), "\u200b*b\u200b* \u200b_i\u200b_ snake_case \u200b`c\u200b`")
}

func TestCutTextKeepsEntitiesWhole(t *testing.T) {
	t.Parallel()

	for limit := 2; limit < 30; limit++ {
		cut := fit(escape(strings.Repeat("<&", 20)), limit)
		require.LessOrEqual(t, tarsy.UTF16Len(cut), limit)
		require.Empty(t, strings.NewReplacer("&lt;", "", "&amp;", "", "…", "").Replace(cut))
	}

	require.Equal(t, "short", fit("short", 5))
}

func TestQuestionIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()

	require.Equal(t, "why? 1 < 2 & @U2 in #ops, see https://example.org and docs (https://example.org/d) @here",
		plain("<@U1> why? 1 &lt; 2 &amp; <@U2> in <#C1|ops>, see <https://example.org> and <https://example.org/d|docs> <!here>", "U1"))
	require.Empty(t, plain("<@U1> ", "U1"))
}

func newTestSender() *sender {
	return &sender{cfg: Config{
		Client: NewClient(ClientConfig{AppToken: "xapp"}), Approve: []string{"U1"},
		SessionURL: func(id string) string { return "https://tarsy.example.org/sessions/" + id },
	}}
}

// Blocks of long and hostile texts are within Slack's limits, and link to the rest.
func TestLongTextFitsIntoBlocks(t *testing.T) {
	t.Parallel()

	s, long := newTestSender(), strings.Repeat("<&> long ", 5000)
	ended, err := s.sessionContent(message.Message{
		Event: message.Finished, Status: tarsy.SessionCompleted, Title: long, Summary: long, Service: long, Cause: long, Confidence: "high",
		NextSteps: []message.Step{{Title: long}},
	})
	require.NoError(t, err)

	arguments, err := json.Marshal(map[string]string{"text": long})
	require.NoError(t, err)

	call := tarsy.ApprovalRequest{Title: long, AgentName: long, ServerName: long, ToolName: long, ToolArguments: arguments}
	asked, err := s.approvalContent(call, message.Message{}, decision{status: tarsy.ApprovalWaiting})
	require.NoError(t, err)
	rejected, err := s.approvalContent(call, message.Message{}, decision{status: tarsy.ApprovalRejected, author: "ann", reason: long})
	require.NoError(t, err)

	all := append(s.split(mrkdwn(strings.Repeat(long, 20)), "1"), ended, asked, rejected)
	require.Len(t, all, maxParts+3)

	for _, m := range all {
		require.LessOrEqual(t, len(m.blocks), 50)
		require.NotEmpty(t, m.text)

		raw, err := json.Marshal(m.blocks)
		require.NoError(t, err)

		var blocks []struct {
			Type string
			Text struct{ Text string }
		}

		require.NoError(t, json.Unmarshal(raw, &blocks))

		for _, b := range blocks {
			limit := map[string]int{"header": 150}[b.Type]
			if limit == 0 {
				limit = 3000
			}

			require.LessOrEqual(t, len([]rune(b.Text.Text)), limit)
		}
	}

	require.Contains(t, all[maxParts-1].text, "The answer is longer than what is posted here.")
	require.Contains(t, asked.key(), "Read all of them and approve there:")
	require.NotContains(t, asked.key(), approveAction)
	require.Contains(t, asked.key(), rejectAction)
	require.NotContains(t, rejected.key(), approveAction)
}

func TestAnswerIsWrittenInMarkupOfSlack(t *testing.T) {
	t.Parallel()

	markup := answerMarkup()
	require.Equal(t, "Tool call: cluster.get\u200b_\u200b*", markup.Call("cluster.get_*"))
	require.Equal(t, "*Done.*", markup.Text("**Done.**"))
	require.Equal(t, "*The answer failed:* it &lt;broke&gt;", markup.Failed("it <broke>"))
}

func TestBothListsMustAllow(t *testing.T) {
	t.Parallel()

	require.False(t, Access{}.allows("C1", "U1"))
	require.False(t, Access{Channels: []string{"*"}}.allows("C1", "U1"))
	require.False(t, Access{Users: []string{"*"}}.allows("C1", "U1"))
	require.False(t, Access{Channels: []string{"C1"}, Users: []string{"U2"}}.allows("C1", "U1"))
	require.False(t, Access{Channels: []string{"*"}, Users: []string{"*"}}.allows("C1", ""))
	require.True(t, Access{Channels: []string{"*"}, Users: []string{"U1"}}.allows("C1", "U1"))
}
