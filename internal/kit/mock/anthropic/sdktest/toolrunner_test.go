package sdktest_test

import (
	"context"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

type podArguments struct {
	Namespace string `json:"namespace" jsonschema:"required"`
}

// podTool returns a tool for a runner; its result contains its arguments.
func podTool(t *testing.T, name string) sdk.BetaTool {
	t.Helper()

	tool, err := toolrunner.NewBetaToolFromJSONSchema(name, "Lists pods.",
		func(_ context.Context, arguments podArguments) (sdk.BetaToolResultBlockParamContentUnion, error) {
			return sdk.BetaToolResultBlockParamContentUnion{OfText: &sdk.BetaTextBlockParam{Text: "pods of " + arguments.Namespace}}, nil
		})
	require.NoError(t, err)

	return tool
}

func runnerReplies() []script.Reply {
	return []script.Reply{
		{Text: "I look.", ToolCalls: []llm.ToolCall{{Name: "get_pods", Arguments: `{"namespace":"a"}`}, {Name: "get_pods", Arguments: `{"namespace":"b"}`}}},
		{ToolCalls: []llm.ToolCall{{Name: "late", Arguments: `{"namespace":"c"}`}}},
		{Text: "The user asked why; the pods are fine."},
		{Text: "All is fine."},
	}
}

func runnerParams() sdk.BetaToolRunnerParams {
	return sdk.BetaToolRunnerParams{BetaMessageNewParams: sdk.BetaMessageNewParams{
		Model: "claude-opus-5-5", MaxTokens: 64, Messages: []sdk.BetaMessageParam{sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("Why?"))},
	}}
}

// checkRun checks what the script saw of a run with four requests: tools were added after the first, and the conversation was
// compacted after the second.
func checkRun(t *testing.T, s *server) {
	t.Helper()

	require.Equal(t, 4, s.CallCount())

	second := s.Calls()[1].Request
	require.Equal(t, "pods of a", second.Messages[2].Content)
	require.Equal(t, "pods of b", second.Messages[3].Content)
	require.Len(t, second.Messages, 4)
	require.Equal(t, []string{"get_pods", "late"}, []string{second.Tools[0].Name, second.Tools[1].Name})
	require.Equal(t, "pods of c", s.Calls()[2].Request.Messages[5].Content)
	require.Equal(t, []llm.Message{{Role: llm.RoleAssistant, Content: "The user asked why; the pods are fine."}}, s.Calls()[3].Request.Messages)
}

func TestToolRunnerRunsToTheEnd(t *testing.T) {
	t.Parallel()

	s := serve(t, runnerReplies()...)
	client := s.official()
	runner := client.Beta.Messages.NewToolRunner([]sdk.BetaTool{podTool(t, "get_pods")}, runnerParams())

	message, err := runner.NextMessage(t.Context())
	require.NoError(t, err)
	require.Equal(t, sdk.BetaStopReasonToolUse, message.StopReason)
	runner.AddTools(podTool(t, "late"))

	_, err = runner.NextMessage(t.Context())
	require.NoError(t, err)
	runner.CompactBeforeNextTurn(sdk.BetaCompactionConfigUnionParam{})

	message, err = runner.RunToCompletion(t.Context())
	require.NoError(t, err)
	require.Equal(t, "All is fine.", message.Content[0].Text)
	checkRun(t, s)
}

func TestStreamingToolRunnerRunsToTheEnd(t *testing.T) {
	t.Parallel()

	s := serve(t, runnerReplies()...)
	client := s.official()
	runner := client.Beta.Messages.NewToolRunnerStreaming([]sdk.BetaTool{podTool(t, "get_pods")}, runnerParams())
	turn := 0

	for events := range runner.AllStreaming(t.Context()) {
		for _, err := range events {
			require.NoError(t, err)
		}

		switch turn++; turn {
		case 1:
			runner.AddTools(podTool(t, "late"))
		case 2:
			runner.CompactBeforeNextTurn(sdk.BetaCompactionConfigUnionParam{})
		}
	}

	require.NoError(t, runner.Err())
	require.Equal(t, "All is fine.", runner.LastMessage().Content[0].Text)
	checkRun(t, s)
}
