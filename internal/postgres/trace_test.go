package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// tokens returns a usage whose counts all differ; usages of different powers of two add up to different sums.
func tokens(n int) tarsy.Usage {
	return tarsy.Usage{InputTokens: n, OutputTokens: 2000 * n, ThinkingTokens: 3000 * n, CachedTokens: 4000 * n, TotalTokens: 5001 * n}
}

func typed(stage tarsy.Stage, name string, kind tarsy.StageType) tarsy.Stage {
	stage.StageName, stage.StageType = name, kind
	if kind == tarsy.StageChat {
		stage.ChatID, stage.ChatUserMessageID = new(ident.New()), new(ident.New())
	}

	return stage
}

// commit commits a step of a claimed session.
func commit(t *testing.T, db *postgres.DB, claim postgres.Claim, step progress.Step) {
	t.Helper()

	_, err := db.Hold(claim.Lease).Commit(t.Context(), step)
	require.NoError(t, err)
}

func llmItem(i tarsy.LLMInteraction) tarsy.LLMInteractionItem {
	return tarsy.LLMInteractionItem{
		ID: i.ID, InteractionType: i.InteractionType, Provider: i.Provider, ModelName: i.ModelName, MessageCount: i.MessageCount,
		Usage: i.Usage, DurationMs: i.DurationMs, ErrorCode: i.ErrorCode, ErrorMessage: i.ErrorMessage, CreatedAt: i.CreatedAt,
	}
}

func mcpItem(i tarsy.MCPInteraction, summarized bool) tarsy.MCPInteractionItem {
	return tarsy.MCPInteractionItem{
		ID: i.ID, TimelineEventID: i.TimelineEventID, ToolCallID: i.ToolCallID, ServerName: i.ServerName, ToolName: i.ToolName,
		Status: i.Status, IsError: i.IsError, Attempt: i.Attempt, ReadOnly: i.ReadOnly, DurationMs: i.DurationMs,
		ErrorMessage: i.ErrorMessage, CreatedAt: i.CreatedAt, CompletedAt: i.CompletedAt, Summarized: summarized,
	}
}

func traced(e tarsy.Execution, usage tarsy.Usage, llm []tarsy.LLMInteractionItem, mcp []tarsy.MCPInteractionItem) tarsy.TraceExecution {
	return tarsy.TraceExecution{
		ExecutionID: e.ID, AgentName: e.AgentName, AgentIndex: e.AgentIndex, IterationStrategy: e.IterationStrategy,
		LLMProvider: e.LLMProvider, Status: e.Status, Usage: usage, LLMInteractions: llm, MCPInteractions: mcp,
	}
}

func TestTraceGroupsInteractionsByExecutionAndSumsUsage(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	// Another session with the same shape: none of its rows may show up.
	other := f.Hold(t, db)
	strange := typed(storetest.NewStage(other.SessionID, 1, storetest.Epoch()), "look", tarsy.StageInvestigation)
	stranger := storetest.NewExecution(strange, 1, storetest.Epoch())
	commit(t, db, other, progress.Step{
		Stages: []tarsy.Stage{strange}, Executions: []tarsy.Execution{stranger},
		LLMInteractions: []tarsy.LLMInteraction{
			storetest.NewLLMInteraction(other.SessionID, &stranger, tokens(512), 1), storetest.NewLLMInteraction(other.SessionID, nil, tokens(512), 2),
		},
		MCPInteractions: []tarsy.MCPInteraction{storetest.NewMCPInteraction(stranger, "call", 1)},
	})

	claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)
	id := claim.SessionID
	look, synthesis := typed(storetest.NewStage(id, 1, storetest.Epoch()), "look", tarsy.StageInvestigation), typed(storetest.NewStage(id, 2, storetest.Epoch()), "merge", tarsy.StageSynthesis)
	chat, empty := typed(storetest.NewStage(id, 3, storetest.Epoch()), "chat", tarsy.StageChat), typed(storetest.NewStage(id, 4, storetest.Epoch()), "next", tarsy.StageInvestigation)
	second, first := storetest.NewExecution(look, 2, storetest.Epoch()), storetest.NewExecution(look, 1, storetest.Epoch())
	merge, reply := storetest.NewExecution(synthesis, 1, storetest.Epoch()), storetest.NewExecution(chat, 1, storetest.Epoch())
	first.AgentName, first.LLMProvider, first.Status = "Optimist", "google", tarsy.StatusCompleted

	one, two := storetest.NewLLMInteraction(id, &first, tokens(1), 2), storetest.NewLLMInteraction(id, &first, tokens(2), 5)
	shortened := storetest.NewLLMInteraction(id, &first, tokens(4), 4)
	shortened.InteractionType, shortened.LLMRequest = tarsy.InteractionSummarization, json.RawMessage(`[]`)
	refused := storetest.NewLLMInteraction(id, &second, tokens(8), 1)
	refused.ErrorCode, refused.ErrorMessage = "llm_error", "no quota"
	merged, replied := storetest.NewLLMInteraction(id, &merge, tokens(16), 6), storetest.NewLLMInteraction(id, &reply, tokens(32), 8)
	merged.InteractionType = tarsy.InteractionSynthesis
	summed := storetest.NewLLMInteraction(id, nil, tokens(64), 7)
	summed.InteractionType, summed.LLMRequest = tarsy.InteractionExecutiveSummary, json.RawMessage(`[]`)

	long, begun := storetest.NewMCPInteraction(first, "call-1", 3), storetest.NewMCPInteraction(first, "call-2", 5)
	begun.Status, begun.CompletedAt, begun.Summary, begun.ToolResult = tarsy.CallStarted, nil, "", ""
	failed := storetest.NewMCPInteraction(second, "call-1", 2)
	failed.Status, failed.IsError, failed.ErrorMessage, failed.Summary = tarsy.CallFailed, true, "gone", ""

	commit(t, db, claim, progress.Step{
		Stages: []tarsy.Stage{empty, chat, synthesis, look}, Executions: []tarsy.Execution{reply, second, merge, first},
		LLMInteractions: []tarsy.LLMInteraction{summed, replied, two, refused, merged, shortened, one},
		MCPInteractions: []tarsy.MCPInteraction{begun, failed, long},
		Events:          storetest.NewEvents("event", 2),
	})

	got := storetest.WholeTrace(t, db, id)

	items := func(all ...tarsy.LLMInteraction) (list []tarsy.LLMInteractionItem) {
		for _, i := range all {
			list = append(list, llmItem(i))
		}

		return list
	}
	stage := func(s tarsy.Stage, usage tarsy.Usage, executions ...tarsy.TraceExecution) tarsy.TraceStage {
		return tarsy.TraceStage{
			StageID: s.ID, StageName: s.StageName, StageType: s.StageType, StageIndex: s.StageIndex, Status: s.Status,
			Usage: usage, Executions: executions,
		}
	}

	storetest.RequireSame(t, &tarsy.Trace{
		SessionID: id, Version: 3, Usage: tokens(127), SessionInteractions: items(summed), Interruptions: []tarsy.Interruption{},
		Stages: []tarsy.TraceStage{
			stage(look, tokens(15),
				traced(first, tokens(7), items(one, shortened, two), []tarsy.MCPInteractionItem{mcpItem(long, true), mcpItem(begun, false)}),
				traced(second, tokens(8), items(refused), []tarsy.MCPInteractionItem{mcpItem(failed, false)})),
			stage(synthesis, tokens(16), traced(merge, tokens(16), items(merged), nil)),
			stage(chat, tokens(32), traced(reply, tokens(32), items(replied), nil)),
			stage(empty, tokens(0)),
		},
	}, got)
}

func TestTraceOfNewSessionHasEmptyArrays(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	session := f.Create(t, db)

	got := storetest.WholeTrace(t, db, session.ID)
	require.Equal(t, &tarsy.Trace{
		SessionID: session.ID, Stages: []tarsy.TraceStage{}, SessionInteractions: []tarsy.LLMInteractionItem{}, Interruptions: []tarsy.Interruption{},
	}, got)
}

func TestLLMInteractionShowsConversation(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	id := claim.SessionID
	stage := typed(storetest.NewStage(id, 1, storetest.Epoch()), "look", tarsy.StageInvestigation)
	execution, neighbour := storetest.NewExecution(stage, 1, storetest.Epoch()), storetest.NewExecution(stage, 2, storetest.Epoch())

	calls := []tarsy.ToolCall{{ID: "call-1", Name: "server__tool", Arguments: `{"a":1}`}}
	messages := []tarsy.Message{
		storetest.NewMessage(execution, 1, "You are an agent.", storetest.Epoch()), storetest.NewMessage(execution, 2, "The pod is down.", storetest.Epoch()),
		storetest.NewMessage(execution, 3, "I look.", storetest.Epoch()), storetest.NewMessage(execution, 4, "a long result", storetest.Epoch()),
		storetest.NewMessage(execution, 5, "It is the disk.", storetest.Epoch()),
		storetest.NewMessage(neighbour, 1, "You are another agent.", storetest.Epoch()), storetest.NewMessage(neighbour, 2, "The pod is down, too.", storetest.Epoch()),
	}
	for i, role := range []tarsy.Role{
		tarsy.RoleSystem, tarsy.RoleUser, tarsy.RoleAssistant, tarsy.RoleTool, tarsy.RoleAssistant, tarsy.RoleSystem, tarsy.RoleUser,
	} {
		messages[i].Role, messages[i].ToolCalls = role, nil
	}

	messages[2].ToolCalls = calls
	messages[3].ToolCallID, messages[3].ToolName = "call-1", "server__tool"

	asks, ends := storetest.NewLLMInteraction(id, &execution, tokens(1), 2), storetest.NewLLMInteraction(id, &execution, tokens(1), 4)
	asks.LLMResponse = json.RawMessage(`{"text":"I look.","tool_calls":[{"id":"call-1","name":"server__tool","arguments":"{\"a\":1}"}]}`)
	ends.LLMResponse = json.RawMessage(`{"text":"It is the disk.","tool_calls":[]}`)
	commit(t, db, claim, progress.Step{
		Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution, neighbour}, Messages: messages,
		LLMInteractions: []tarsy.LLMInteraction{asks, ends},
	})

	// The result was summarised before the model saw it.
	messages[3].Content = "a summary"
	commit(t, db, claim, progress.Step{Messages: messages[3:4]})

	seen := []tarsy.TraceMessage{
		{Role: tarsy.RoleSystem, Content: "You are an agent.", ToolCalls: []tarsy.ToolCall{}},
		{Role: tarsy.RoleUser, Content: "The pod is down.", ToolCalls: []tarsy.ToolCall{}},
		{Role: tarsy.RoleAssistant, Content: "I look.", ToolCalls: calls},
		{Role: tarsy.RoleTool, Content: "a summary", ToolCalls: []tarsy.ToolCall{}, ToolCallID: "call-1", ToolName: "server__tool"},
		{Role: tarsy.RoleAssistant, Content: "It is the disk.", ToolCalls: []tarsy.ToolCall{}},
	}

	got, err := db.LLMInteraction(t.Context(), id, asks.ID)
	require.NoError(t, err)
	storetest.RequireSame(t, asks, got.LLMInteraction)
	require.Equal(t, seen[:2], got.Conversation)
	require.Equal(t, &seen[2], got.Response)

	got, err = db.LLMInteraction(t.Context(), id, ends.ID)
	require.NoError(t, err)
	storetest.RequireSame(t, ends, got.LLMInteraction)
	require.Equal(t, seen[:4], got.Conversation)
	require.Equal(t, &seen[4], got.Response)
}

func TestSelfContainedCallShowsItsOwnRequest(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	stage := typed(storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), "look", tarsy.StageInvestigation)
	execution := storetest.NewExecution(stage, 1, storetest.Epoch())
	commit(t, db, claim, progress.Step{
		Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution},
		Messages: []tarsy.Message{storetest.NewMessage(execution, 1, "not sent", storetest.Epoch()), storetest.NewMessage(execution, 2, "not sent", storetest.Epoch())},
	})

	said := &tarsy.TraceMessage{Role: tarsy.RoleAssistant, Content: "Short.", ToolCalls: []tarsy.ToolCall{}}
	silent := &tarsy.TraceMessage{Role: tarsy.RoleAssistant, ToolCalls: []tarsy.ToolCall{}}

	for name, test := range map[string]struct {
		request, response, code string
		of                      *tarsy.Execution
		conversation            []tarsy.TraceMessage
		said                    *tarsy.TraceMessage
	}{
		"of an execution": {
			request:  `[{"role":"system","content":"Sum up."},{"role":"user","content":"A «long» <text>."}]`,
			response: `{"text":"Short.","tool_calls":[]}`, of: &execution, said: said,
			conversation: []tarsy.TraceMessage{
				{Role: tarsy.RoleSystem, Content: "Sum up.", ToolCalls: []tarsy.ToolCall{}},
				{Role: tarsy.RoleUser, Content: "A «long» <text>.", ToolCalls: []tarsy.ToolCall{}},
			},
		},
		"of the session": {
			request: `[{"role":"user","content":"Sum up."}]`, response: `{"text":"Short."}`, said: said,
			conversation: []tarsy.TraceMessage{{Role: tarsy.RoleUser, Content: "Sum up.", ToolCalls: []tarsy.ToolCall{}}},
		},
		"no answer":                        {request: `[]`, response: `{"text":"","tool_calls":[]}`, said: silent},
		"failed before any answer":         {request: `[]`, response: `{"text":"","tool_calls":[]}`, code: "llm_error"},
		"failed in the middle":             {request: `[]`, response: `{"text":"Short."}`, code: "llm_error", said: said},
		"a request that is no list":        {request: `{"role":"user"}`, response: `{"text":"Short."}`, said: said},
		"nothing written down":             {},
		"an answer that is not an object":  {request: `[]`, response: `"Short."`},
		"a request that is a list of text": {request: `["Sum up."]`, response: `{"text":"Short."}`, said: said},
	} {
		call := storetest.NewLLMInteraction(claim.SessionID, test.of, tokens(1), 2)
		call.InteractionType, call.ErrorCode = tarsy.InteractionSummarization, test.code
		call.LLMRequest, call.LLMResponse = nil, nil

		if test.request != "" {
			call.LLMRequest, call.LLMResponse = json.RawMessage(test.request), json.RawMessage(test.response)
		}

		if test.conversation == nil {
			test.conversation = []tarsy.TraceMessage{}
		}

		commit(t, db, claim, progress.Step{LLMInteractions: []tarsy.LLMInteraction{call}})

		got, err := db.LLMInteraction(t.Context(), claim.SessionID, call.ID)
		require.NoError(t, err, name)
		storetest.RequireSame(t, call, got.LLMInteraction)
		require.Equal(t, test.conversation, got.Conversation, name)
		require.Equal(t, test.said, got.Response, name)
	}
}

func TestMCPInteractionIsShownInFull(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	stage := typed(storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), "look", tarsy.StageInvestigation)
	execution := storetest.NewExecution(stage, 1, storetest.Epoch())
	full, bare := storetest.NewMCPInteraction(execution, "call-1", 1), storetest.NewMCPInteraction(execution, "call-2", 2)
	bare.ToolArguments, bare.AvailableTools, bare.CompletedAt, bare.Status = nil, nil, nil, tarsy.CallStarted
	commit(t, db, claim, progress.Step{
		Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, MCPInteractions: []tarsy.MCPInteraction{full, bare},
	})

	for _, want := range []tarsy.MCPInteraction{full, bare} {
		got, err := db.MCPInteraction(t.Context(), claim.SessionID, want.ID)
		require.NoError(t, err)
		storetest.RequireSame(t, &want, got)
		require.NotNil(t, got.AvailableTools, "JSON shows an empty list")
	}
}

func TestInteractionsAreFoundOnlyInTheirSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	held := func() (sessionID, llm, mcp string) {
		claim := f.Hold(t, db)
		stage := typed(storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), "look", tarsy.StageInvestigation)
		execution := storetest.NewExecution(stage, 1, storetest.Epoch())
		llmCall, mcpCall := storetest.NewLLMInteraction(claim.SessionID, &execution, tokens(1), 1), storetest.NewMCPInteraction(execution, "call", 1)
		commit(t, db, claim, progress.Step{
			Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution},
			LLMInteractions: []tarsy.LLMInteraction{llmCall}, MCPInteractions: []tarsy.MCPInteraction{mcpCall},
		})

		return claim.SessionID, llmCall.ID, mcpCall.ID
	}

	mine, llm, mcp := held()
	other, otherLLM, otherMCP := held()
	deleted, deletedLLM, deletedMCP := held()
	f.Exec(t, `UPDATE sessions SET deleted_at = created_at WHERE id = $1`, deleted)

	ask := func(session, llm, mcp string) (codes []tarsy.Code) {
		_, llmErr := db.LLMInteraction(t.Context(), session, llm)
		_, mcpErr := db.MCPInteraction(t.Context(), session, mcp)

		for _, err := range []error{llmErr, mcpErr} {
			if err == nil {
				codes = append(codes, "")
			} else {
				codes = append(codes, tarsy.CodeOf(err))
			}
		}

		return codes
	}
	both := func(code tarsy.Code) []tarsy.Code { return []tarsy.Code{code, code} }

	require.Equal(t, both(""), ask(mine, llm, mcp))
	require.Equal(t, both(""), ask(other, otherLLM, otherMCP))
	require.Equal(t, both(tarsy.CodeInteractionNotFound), ask(mine, otherLLM, otherMCP), "of another session")
	require.Equal(t, both(tarsy.CodeInteractionNotFound), ask(mine, mcp, llm), "of the other kind")
	require.Equal(t, both(tarsy.CodeInteractionNotFound), ask(mine, "no-id", ""))
	require.Equal(t, both(tarsy.CodeSessionNotFound), ask(ident.New(), llm, mcp))
	require.Equal(t, both(tarsy.CodeSessionNotFound), ask("no-id", llm, mcp))
	require.Equal(t, both(tarsy.CodeSessionNotFound), ask(deleted, deletedLLM, deletedMCP))

	for _, id := range []string{deleted, ident.New(), "no-id", ""} {
		_, err := db.Trace(t.Context(), id, tarsy.TraceQuery{Limit: 1})
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	}
}

// TestTraceIsOneSnapshot reads while a holder commits one stage with one call of each kind at a time: the numbers agree in every read.
func TestTraceIsOneSnapshot(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	writer, reader := f.Server(t), f.Server(t)
	claim := f.Hold(t, writer)
	written := make(chan struct{})

	var group errgroup.Group

	group.Go(func() error {
		defer close(written)

		holder := writer.Hold(claim.Lease)

		for n := 1; n <= 80; n++ {
			stage := typed(storetest.NewStage(claim.SessionID, n, storetest.Epoch()), "look", tarsy.StageInvestigation)
			execution := storetest.NewExecution(stage, 1, storetest.Epoch())

			if _, err := holder.Commit(context.Background(), progress.Step{
				Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, Events: storetest.NewEvents("event", 1),
				LLMInteractions: []tarsy.LLMInteraction{storetest.NewLLMInteraction(claim.SessionID, &execution, tokens(1), n)},
				MCPInteractions: []tarsy.MCPInteraction{storetest.NewMCPInteraction(execution, "call", n)},
			}); err != nil {
				return err
			}
		}

		return nil
	})

	for range 2 {
		group.Go(func() error {
			for {
				select {
				case <-written:
					return nil
				default:
				}

				trace, err := reader.Trace(context.Background(), claim.SessionID, tarsy.TraceQuery{Limit: 1000})
				if err != nil {
					return err
				}

				calls := 0
				for _, s := range trace.Stages {
					calls += len(s.Executions[0].MCPInteractions)
				}

				if n := int(trace.Version); len(trace.Stages) != n || calls != n || trace.Usage != tokens(n) {
					return fmt.Errorf("version %d has %d stages, %d MCP calls and used %+v", n, len(trace.Stages), calls, trace.Usage)
				}
			}
		})
	}

	require.NoError(t, group.Wait())
}

func TestTraceListsTakeoversOfUnresponsiveServers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	claim := f.Hold(t, a)

	f.Clock.Advance(time.Second)

	seen := f.Clock.Now()
	_, err := a.Renew(t.Context(), []postgres.Lease{claim.Lease}, seen.Add(storetest.Lease))
	require.NoError(t, err)

	f.Clock.Advance(storetest.Lease + time.Minute)

	taken := f.Claim(t, b, storetest.ServerB, 1)
	require.Len(t, taken, 1)
	require.NoError(t, b.HandOver(t.Context(), taken[0].Lease))
	require.Len(t, f.Claim(t, a, storetest.ServerA, 1), 1)

	interruptions := storetest.WholeTrace(t, b, claim.SessionID).Interruptions
	require.Len(t, interruptions, 1, "a server that hands over has not died")
	require.Equal(t, storetest.ServerA, interruptions[0].ServerID)
	require.Equal(t, storetest.ServerB, interruptions[0].ResumedBy)
	require.WithinDuration(t, seen, interruptions[0].LastSeenAt, 0)
	require.WithinDuration(t, f.Clock.Now(), interruptions[0].ResumedAt, 0)
}
