package discord

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

func TestTemplateOfAnApprovalDoesNotHideThatItIsCut(t *testing.T) {
	t.Parallel()

	template, err := message.Parse("`{{.Approval.Arguments}}` {{.Approval.Tool}}", false)
	require.NoError(t, err)

	m := message.Message{Event: message.ApprovalNeeded, Approval: message.Approval{Tool: "a*b", Arguments: "{\"note\": \"` **x**\"}"}}
	require.Equal(t, "`{\"note\": \"ˋ **x**\"}` a\\*b", render(template, m)) //nolint:testifylint // it is no JSON

	m.Approval.Arguments = message.Arguments(strings.Repeat("x", 5000))
	require.True(t, strings.HasSuffix(render(template, m), argumentsCut))
	require.LessOrEqual(t, tarsy.UTF16Len(render(template, m)), maxMessage)
}
