package engine

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestUnstorableSessionIsAbandoned(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigate()
	h.exec(`ALTER TABLE mcp_interactions ADD CHECK (status <> 'completed') NOT VALID`)

	s := h.start("one", nil)
	id := s.submit()
	require.Equal(t, []string{"pending", "in_progress", "failed"}, s.ended(id))

	detail := s.detail(id)
	require.Equal(t, "internal", detail.ErrorCode)
	require.Equal(t, "the results of the session could not be stored", detail.ErrorMessage)
	h.requireWhole(id)
	require.LessOrEqual(t, h.tools.made("look"), maxUnstorable+1)
	require.Zero(t, h.tools.made("change"))
}

// A temporarily full database rejects valid steps: the session waits and is not given up.
func TestTemporarilyFullDatabaseOnlyDelaysSession(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigate()
	h.exec(`CREATE SEQUENCE refusals`)
	h.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('refusals') <= 6 THEN
        RAISE EXCEPTION 'no space left on device' USING ERRCODE = 'disk_full';
    END IF;
    RETURN NEW;
END $$`)
	h.exec(`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON mcp_interactions
FOR EACH ROW WHEN (NEW.status = 'completed') EXECUTE FUNCTION refuse()`)
	require.Greater(t, 6, maxUnstorable)

	s := h.start("one", nil)
	id := s.submit()
	require.Equal(t, []string{"pending", "in_progress", "completed"}, s.ended(id))
	h.requireWhole(id)
}

func TestTooDeeplyNestedArgumentsDoNotStopSession(t *testing.T) {
	t.Parallel()

	// The maximum depth that JSON decoders accept.
	const depth = 10_000

	h := newFixture(t)
	h.forAgent("investigator",
		script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", strings.Repeat("[", depth)+strings.Repeat("]", depth))}},
		script.Reply{Text: "the root cause"})
	h.summary(script.Reply{Text: "in short"})

	s := h.start("one", nil)
	id := s.submit()
	s.completes(id)
	h.requireWhole(id)
}

// The signature and usage that a provider reports are stored whatever they contain.
func TestNoProviderReportStopsSession(t *testing.T) {
	t.Parallel()

	const depth = 9_000 // of nested arrays

	h := newFixture(t)

	var replies []script.Reply

	for _, data := range []string{
		`"a\u0000b"`, `"\ud800"`, `{"n":1e400000}`, strings.Repeat("[", depth) + strings.Repeat("]", depth),
	} {
		replies = append(replies, script.Reply{Chunks: []llm.Chunk{
			llm.ToolCallChunk{Call: call("", "look", "{}")},
			llm.UsageChunk{InputTokens: math.MaxInt, OutputTokens: -5, ThinkingTokens: math.MaxInt},
			llm.EndChunk{Reason: "why\x00not", Signature: &llm.Signature{By: "b\x00y", Data: json.RawMessage(data)}},
		}})
	}

	h.forAgent("investigator", append(replies, script.Reply{Text: "the root cause"})...)
	h.summary(script.Reply{Text: "in short"})

	s := h.start("one", nil)
	id := s.submit()
	s.completes(id)
	h.requireWhole(id)

	list, err := s.DB.Sessions(t.Context(), tarsy.SessionFilter{Limit: 1})
	require.NoError(t, err)
	require.Positive(t, list[0].Usage.TotalTokens)
}

// A text that makes the program panic would do so on every server that takes the session over.
func TestPanicInExecutiveSummaryOnlyLosesSummary(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.forAgent("investigator", script.Reply{Text: "the root cause"})
	h.model.RouteFunc(func(r *llm.Request) bool { return r.Agent == "ExecSummaryAgent" }, func(*llm.Request, int) script.Reply {
		panic("an answer that nobody thought of")
	})

	s := h.start("one", nil)
	detail := s.completes(s.submit())
	require.Equal(t, "the root cause", detail.FinalAnalysis)
	require.Equal(t, "something went wrong in the server", detail.ExecutiveSummaryError)
	h.requireWhole(detail.ID)
}

func TestSessionPanickingEveryRoundFailsAndServerContinues(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.noRecipes = true
	h.investigated()

	var broken atomic.Bool

	broken.Store(true)

	s := h.start("one", func(c *Config) {
		configured := c.Chain
		c.Chain = func(id string) (chain.Chain, bool) {
			if broken.Load() {
				panic("a chain that nobody thought of")
			}

			return configured(id)
		}
	})
	id := s.submit()
	require.Equal(t, []string{"pending", "failed"}, s.ended(id))

	detail := s.detail(id)
	require.Equal(t, "internal", detail.ErrorCode)
	require.Equal(t, "something went wrong in the server", detail.ErrorMessage)
	h.requireWhole(id)

	broken.Store(false)
	s.completes(s.submit())
}

func TestPanicEndsOnlyItsExecution(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.forAgent("investigator", script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", "{}")}})

	h.tools.during = func(context.Context, agent.Call) error { panic("a result that nobody thought of") }

	s := h.start("one", nil)
	id := s.submit()
	require.Equal(t, []string{"pending", "in_progress", "failed"}, s.ended(id))

	detail := s.detail(id)
	require.Equal(t, "internal", detail.ErrorCode)
	require.NotContains(t, detail.ErrorMessage, "nobody thought of", "what panicked is for the log")
	h.requireWhole(id)
}
