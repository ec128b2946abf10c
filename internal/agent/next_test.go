package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/react"
)

func TestNextTable(t *testing.T) {
	t.Parallel()

	const iterations = 3

	system, user := tarsy.Message{Role: tarsy.RoleSystem}, tarsy.Message{Role: tarsy.RoleUser}
	calls := func(ids ...string) tarsy.Message {
		m := tarsy.Message{Role: tarsy.RoleAssistant}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, tarsy.ToolCall{ID: id})
		}

		return m
	}
	result := func(id string) tarsy.Message { return tarsy.Message{Role: tarsy.RoleTool, ToolCallID: id} }
	observed := func(id string) tarsy.Message { return tarsy.Message{Role: tarsy.RoleUser, ToolCallID: id} }
	long := func(id string) tarsy.Message {
		return tarsy.Message{Role: tarsy.RoleTool, ToolCallID: id, Content: strings.Repeat("x", 41)}
	}
	made := tarsy.LLMInteraction{InteractionType: tarsy.InteractionIteration}
	late := tarsy.LLMInteraction{InteractionType: tarsy.InteractionIteration, ErrorCode: CodeIterationTimeout}
	lateAnswer := tarsy.LLMInteraction{InteractionType: tarsy.InteractionForcedConclusion, ErrorCode: CodeIterationTimeout}
	lateDigest := tarsy.LLMInteraction{InteractionType: tarsy.InteractionSummarization, ErrorCode: CodeIterationTimeout}
	digest := tarsy.LLMInteraction{InteractionType: tarsy.InteractionSummarization}
	lateSynthesis := tarsy.LLMInteraction{InteractionType: tarsy.InteractionSynthesis, ErrorCode: CodeIterationTimeout}
	call := func(id string) tarsy.MCPInteraction {
		return tarsy.MCPInteraction{ToolCallID: id, ServerName: "box", TimelineEventID: "event " + id}
	}
	summary := func(id string, status tarsy.EventStatus) tarsy.TimelineEvent {
		return tarsy.TimelineEvent{
			EventType: tarsy.EventToolSummary, Status: status, Metadata: tarsy.NewMetadata(tarsy.ToolSummaryMetadata{ToolCallEventID: "event " + id}),
		}
	}

	type (
		messages     = []tarsy.Message
		interactions = []tarsy.LLMInteraction
		tools        = []tarsy.MCPInteraction
		timeline     = []tarsy.TimelineEvent
	)

	digests := map[string]Digest{"box": {Threshold: 10}}

	for name, test := range map[string]struct {
		in   Input
		late bool
		want action
	}{
		"nothing is written":                {Input{}, false, actCompose},
		"nothing is written and it is late": {Input{}, true, actCompose},
		"the first question":                {Input{Messages: messages{system, user}}, false, actGenerate},
		"the first question, late":          {Input{Messages: messages{system, user}}, true, actConclude},
		"one time-out":                      {Input{Messages: messages{system, user}, LLMInteractions: interactions{late}}, false, actGenerate},
		"two time-outs in a row":            {Input{Messages: messages{system, user}, LLMInteractions: interactions{late, late}}, false, actFail},
		"two time-outs in a row, late":      {Input{Messages: messages{system, user}, LLMInteractions: interactions{late, late}}, true, actFail},
		"two time-outs, not in a row": {
			Input{Messages: messages{system, user, calls("1"), result("1")}, LLMInteractions: interactions{late, made}}, false, actGenerate,
		},
		"a call asked for":             {Input{Messages: messages{system, user, calls("1")}, LLMInteractions: interactions{made}}, false, actTool},
		"one of two calls made":        {Input{Messages: messages{system, user, calls("1", "2"), result("1")}}, false, actTool},
		"the second of two made first": {Input{Messages: messages{system, user, calls("1", "2"), result("2")}}, false, actTool},
		"all calls made":               {Input{Messages: messages{system, user, calls("1", "2"), result("1"), result("2")}}, false, actGenerate},
		"an action observed":           {Input{Messages: messages{system, user, calls("1"), observed("1")}}, false, actGenerate},
		"an action not yet observed":   {Input{Messages: messages{system, user, calls("0"), observed("0"), calls("1")}}, false, actTool},
		"one of two actions observed": {
			Input{Messages: messages{system, user, calls("1", "2"), observed("1")}}, false, actTool,
		},
		"told what was wrong": {Input{Messages: messages{system, user, calls(), user}}, false, actGenerate},
		"told what was wrong in the last iteration": {
			Input{Messages: messages{system, user, calls(), user}, LLMInteractions: interactions{made, made, made}}, false, actConclude,
		},
		"calls at the limit are still made": {
			Input{Messages: messages{system, user, calls("1")}, LLMInteractions: interactions{made, made, made}}, false, actTool,
		},
		"calls that nobody began are not made when it is late": {Input{Messages: messages{system, user, calls("1")}}, true, actConclude},
		"the second call is not made when it is late": {
			Input{Messages: messages{system, user, calls("1", "2"), result("1")}, MCPInteractions: tools{call("1")}}, true, actConclude,
		},
		"a call that was begun is ended though it is late": {
			Input{Messages: messages{system, user, calls("1")}, MCPInteractions: tools{call("1")}}, true, actTool,
		},
		"the limit reached": {
			Input{Messages: messages{system, user, calls("1"), result("1")}, LLMInteractions: interactions{made, made, made}}, false, actConclude,
		},
		"time-outs count as iterations":       {Input{Messages: messages{system, user}, LLMInteractions: interactions{late, made, late}}, false, actConclude},
		"too many time-outs before the limit": {Input{Messages: messages{system, user}, LLMInteractions: interactions{made, late, late}}, false, actFail},
		"summaries are no iterations":         {Input{Messages: messages{system, user}, LLMInteractions: interactions{made, digest, made, digest}}, false, actGenerate},
		"summaries that ran out of time do not count": {
			Input{Messages: messages{system, user}, LLMInteractions: interactions{made, lateDigest, lateDigest}}, false, actGenerate,
		},
		"summaries do not come between time-outs": {
			Input{Messages: messages{system, user}, LLMInteractions: interactions{late, digest, late}}, false, actFail,
		},
		"told to conclude": {
			Input{
				Messages: messages{system, user, calls("1"), result("1"), user}, LLMInteractions: interactions{made, made, made},
				Execution: tarsy.Execution{ForcedConclusion: tarsy.ForcedIterations},
			}, false, actAnswer,
		},
		"told to conclude by the deadline, and it is late": {
			Input{Messages: messages{system, user, user}, Execution: tarsy.Execution{ForcedConclusion: tarsy.ForcedDeadline}}, true, actAnswer,
		},
		"the conclusion timed out once": {
			Input{
				Messages: messages{system, user, user}, LLMInteractions: interactions{made, made, made, lateAnswer},
				Execution: tarsy.Execution{ForcedConclusion: tarsy.ForcedIterations},
			}, false, actAnswer,
		},
		"the conclusion timed out after another": {
			Input{
				Messages: messages{system, user, user}, LLMInteractions: interactions{made, made, late, lateAnswer},
				Execution: tarsy.Execution{ForcedConclusion: tarsy.ForcedIterations},
			}, false, actFail,
		},
		"a synthesis":       {Input{Spec: Spec{Strategy: Synthesis}, Messages: messages{system, user}}, false, actSynthesise},
		"a synthesis, late": {Input{Spec: Spec{Strategy: Synthesis}, Messages: messages{system, user}}, true, actSynthesise},
		"a synthesis that timed out": {
			Input{Spec: Spec{Strategy: Synthesis}, Messages: messages{system, user}, LLMInteractions: interactions{lateSynthesis}}, false, actSynthesise,
		},
		"a synthesis that timed out twice": {
			Input{Spec: Spec{Strategy: Synthesis}, Messages: messages{system, user}, LLMInteractions: interactions{lateSynthesis, lateSynthesis}},
			false, actFail,
		},
		"a long result": {
			Input{Spec: Spec{Digests: digests}, Messages: messages{system, user, calls("1"), long("1")}, MCPInteractions: tools{call("1")}},
			false, actDigest,
		},
		"a long result before the next call": {
			Input{Spec: Spec{Digests: digests}, Messages: messages{system, user, calls("1", "2"), long("1")}, MCPInteractions: tools{call("1")}},
			false, actDigest,
		},
		"a long result when it is late": {
			Input{Spec: Spec{Digests: digests}, Messages: messages{system, user, calls("1"), long("1")}, MCPInteractions: tools{call("1")}},
			true, actConclude,
		},
		"a long result of another server": {
			Input{
				Spec:     Spec{Digests: map[string]Digest{"other": {Threshold: 10}}},
				Messages: messages{system, user, calls("1"), long("1")}, MCPInteractions: tools{call("1")},
			}, false, actGenerate,
		},
		"a long result of a call that was not made": {
			Input{Spec: Spec{Digests: digests}, Messages: messages{system, user, calls("1"), long("1")}}, false, actGenerate,
		},
		"a summary left streaming": {
			Input{
				Spec: Spec{Digests: digests}, Messages: messages{system, user, calls("1"), long("1")}, MCPInteractions: tools{call("1")},
				Timeline: timeline{summary("1", tarsy.EventStreaming)},
			}, false, actDigest,
		},
		"a summary that failed": {
			Input{
				Spec: Spec{Digests: digests}, Messages: messages{system, user, calls("1"), long("1")}, MCPInteractions: tools{call("1")},
				Timeline: timeline{summary("1", tarsy.EventFailed)},
			}, false, actGenerate,
		},
		"the summary of another call": {
			Input{
				Spec: Spec{Digests: digests}, Messages: messages{system, user, calls("1", "2"), result("1"), long("2")},
				MCPInteractions: tools{call("1"), call("2")}, Timeline: timeline{summary("1", tarsy.EventCompleted)},
			}, false, actDigest,
		},
		"an observation at the threshold": {
			Input{
				Spec:            Spec{Strategy: React, Digests: digests},
				Messages:        messages{system, user, calls("1"), {Role: tarsy.RoleUser, ToolCallID: "1", Content: react.Observation + strings.Repeat("x", 40)}},
				MCPInteractions: tools{call("1")},
			}, false, actGenerate,
		},
		"an observation over the threshold": {
			Input{
				Spec:            Spec{Strategy: React, Digests: digests},
				Messages:        messages{system, user, calls("1"), {Role: tarsy.RoleUser, ToolCallID: "1", Content: react.Observation + strings.Repeat("x", 41)}},
				MCPInteractions: tools{call("1")},
			}, false, actDigest,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			test.in.Spec.MaxIterations = iterations
			require.Equal(t, test.want, next(&test.in, test.late))
		})
	}
}
