package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// having configures a server with these MCP servers.
func having(servers ...string) func(*Config) {
	return func(c *Config) {
		c.Has = []string{"chain:chain"}
		for _, id := range servers {
			c.Has = append(c.Has, "mcp:"+id)
		}

		c.Server = func(id string) (chain.Server, bool) { return chain.Server{}, slices.Contains(servers, id) }
	}
}

// selecting submits an alert that selects an MCP server.
func (s *server) selecting(id string) string {
	s.fixture.t.Helper()

	session, err := s.intake.Submit(s.fixture.ctx, tarsy.Alert{
		AlertType: "test", Data: "it hurts", MCPSelection: &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: id}}},
	})
	require.NoError(s.fixture.t, err)

	return session.ID
}

func TestSessionIsRunByCapableServer(t *testing.T) {
	t.Parallel()

	const sessions = 20

	h := newFixture(t)
	h.investigated()

	one, two := h.start("one", having("logs")), h.start("two", having("metrics"))
	want := map[string]string{}

	for range sessions {
		// Whichever server accepts the alert, the other may have to run it.
		want[one.selecting("metrics")] = "two"
		want[two.selecting("logs")] = "one"
	}

	for id, server := range want {
		require.Equal(t, server, one.completes(id).PodID)
		h.requireWhole(id)
	}
}

func TestSessionTakenOverKeepsItsRecipe(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.recipe = recipeOf([]string{"first"}, []string{"second"})
	h.recipe.Stages[0].Agents[0].Spec.CustomInstructions = "look at the disk"
	h.recipe.Stages[1].Agents[0].Spec.CustomInstructions = "look at the network"

	expect := func(instructions string) func(*llm.Request) error {
		return func(r *llm.Request) error {
			if !strings.Contains(r.Messages[0].Content, instructions) {
				return fmt.Errorf("the instructions are not those of the recipe: %s", r.Messages[0].Content)
			}

			return nil
		}
	}
	gate := script.NewGate()
	h.forAgent("first", script.Reply{Text: "the disk is full", Gate: gate, Expect: expect("look at the disk")})
	h.forAgent("second", script.Reply{Text: "the network is slow", Expect: expect("look at the network")})
	h.summary(script.Reply{Text: "in short"})

	one := h.start("one", nil)
	id := one.submit()
	h.wait(gate.Reached(), "the first agent")

	h.configure(func() {
		h.recipe = recipeOf([]string{"first"})
		h.recipe.Stages[0].Name = "another name"
		h.recipe.Stages[0].Agents[0].Spec.CustomInstructions = "look at nothing"
	})
	one.stop()
	gate.Open()

	two := h.start("two", func(c *Config) { c.Chain = func(string) (chain.Chain, bool) { return chain.Chain{}, false } })
	detail := two.completes(id)
	require.Equal(t, "the network is slow", detail.FinalAnalysis)
	require.Len(t, detail.Stages, 2)
	require.Equal(t, "stage of first", detail.Stages[0].StageName)
	require.Equal(t, "two", detail.PodID)
	require.Empty(t, h.model.Unexpected())
	h.requireWhole(id)
}

func TestUnrunnableSessionFailsAfterTimeout(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	h.investigated()

	s := h.start("one", func(c *Config) {
		having("box")(c)
		c.UnrunnableTimeout = time.Minute
	})
	id := s.selecting("gone")

	// The server claims and runs other sessions and leaves this one alone.
	for range 2 {
		s.completes(s.submit())
		clock.Advance(30*time.Second - time.Millisecond)
	}

	s.completes(s.submit())
	require.Equal(t, tarsy.SessionPending, s.detail(id).Status)

	clock.Advance(2 * time.Millisecond)
	wake(s.slots)
	require.Equal(t, []string{"pending", "failed"}, s.ended(id))

	detail := s.detail(id)
	require.Equal(t, "not_configured", detail.ErrorCode)
	require.Equal(t, `no running server has configured MCP server "gone", which this session needs; add it to the configuration and re-run the alert`,
		detail.ErrorMessage)
	h.requireWhole(id)
}

func TestSessionOfNewerEngineIsNotRun(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigated()

	idle := h.open("one", func(c *Config) { c.Workers = 0 })
	newer := idle.submit()
	h.exec(`UPDATE sessions SET engine_version = $2 WHERE id = $1`, newer, Version+1)

	s := h.start("two", nil)
	s.completes(s.submit())
	require.Equal(t, tarsy.SessionPending, s.detail(newer).Status)

	s.cancel(newer)
	require.Contains(t, s.ended(newer), "cancelled", "any server can cancel it")
}

// The previous release checks only the version to answer, and does not know tool limits.
func TestSessionWithLimitedChatIsKeptFromEarlierEngines(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.chat()
	idle := h.open("one", func(c *Config) { c.Workers = 0 })
	version := func(id string) int { return query[int](h, `SELECT engine_version FROM sessions WHERE id = $1`, id) }
	require.Equal(t, 1, version(idle.submit()), "earlier releases may run it")

	h.recipe.Chat.ToolRules = []agent.ToolRule{{AnyOf: []agent.ToolGrant{{Servers: []string{"box"}}}}}
	require.Equal(t, 2, version(idle.submit()))
}

func TestQuestionUsesStoredRecipeWhenChainIsGone(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigated()
	h.chat(script.Reply{Text: "because"})

	one := h.start("one", nil)
	id := one.submit()
	one.completes(id)
	one.stop()

	two := h.start("two", func(c *Config) {
		having()(c)
		c.Chain = func(string) (chain.Chain, bool) { return chain.Chain{}, false }
	})
	two.intake.cfg.TakesQuestions = func(string) (takes, known bool) { return false, false }
	stage := two.answers(id, "why?")
	require.Equal(t, "answerer", stage.Executions[0].AgentName)
	h.requireWhole(id)
}

func TestRecipeIsReadFromDatabaseOnce(t *testing.T) {
	t.Parallel()

	var asked [][]string

	r := recipes{
		read: func(_ context.Context, hashes []string) (map[string]json.RawMessage, error) {
			asked = append(asked, hashes)

			return map[string]json.RawMessage{"a": json.RawMessage(`{"chain": {"id": "x"}}`)}, nil
		},
		logger: slog.New(slog.DiscardHandler),
	}
	settings := &Settings{Decode: (&fixture{}).decode}
	claims := []postgres.Claim{{RecipeHash: "a"}, {RecipeHash: ""}, {RecipeHash: "a"}, {RecipeHash: "gone"}}

	for range 2 {
		found, err := r.find(t.Context(), settings, claims)
		require.NoError(t, err)
		require.Equal(t, "x", found["a"].Chain.ID)
		require.Nil(t, found[""])
		require.Nil(t, found["gone"], "it follows the configuration")
	}

	require.Equal(t, [][]string{{"a", "gone"}}, asked)

	// Decoding depends on the models of the configuration, so new settings decode again.
	_, err := r.find(t.Context(), &Settings{Decode: settings.Decode}, claims)
	require.NoError(t, err)
	require.Len(t, asked, 2)

	r.read = func(context.Context, []string) (map[string]json.RawMessage, error) {
		return nil, errors.New("no database")
	}
	_, err = r.find(t.Context(), settings, []postgres.Claim{{RecipeHash: "b"}})
	require.Error(t, err)
}

func TestFreshlyStartedServerAbandonsNothing(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	h.investigated()

	id := h.open("intake", nil).selecting("gone")
	clock.Advance(time.Hour) // all servers were down

	s := h.start("one", func(c *Config) {
		having("box")(c)
		c.UnrunnableTimeout = time.Minute
	})
	s.completes(s.submit())
	require.Equal(t, tarsy.SessionPending, s.detail(id).Status, "the server that can run it may be starting too")

	clock.Advance(time.Minute + time.Second)
	wake(s.slots)
	require.Equal(t, []string{"pending", "failed"}, s.ended(id))
}
