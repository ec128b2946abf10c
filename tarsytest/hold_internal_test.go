package tarsytest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestHeldStreamWithoutReaderFails(t *testing.T) {
	t.Parallel()

	model := script.New(script.Options{})
	model.Add(script.Reply{Text: "Hm."}, script.Reply{ToolCalls: []llm.ToolCall{{Name: "look", Arguments: "{}"}}})

	held := newHolder(model, time.Millisecond)
	req := &llm.Request{SessionID: ident.New(), ExecutionID: ident.New(), Agent: "Investigator"}

	_, err := llm.Collect(held.Generate(t.Context(), req), nil)
	require.ErrorContains(t, err, "Options.HoldStreams needs one")

	_, err = llm.Collect(held.Generate(t.Context(), req), nil)
	require.NoError(t, err, "a call without text is not held")
}
