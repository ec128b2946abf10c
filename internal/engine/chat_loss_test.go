package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// freezer blocks the first goroutine that passes the place at.
type freezer struct {
	at     string
	frozen atomic.Bool
	inside chan struct{}
	thaw   chan struct{}
}

func (f *freezer) pass(place string) {
	if f.at == place && f.frozen.CompareAndSwap(false, true) {
		close(f.inside)
		<-f.thaw
	}
}

// blockRenewals makes lease renewals of a server have no effect, as if it could not reach the database.
func (h *fixture) blockRenewals(server string) {
	h.t.Helper()
	h.exec(fmt.Sprintf(`CREATE FUNCTION block_renewals() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF OLD.pod_id = '%s' AND NEW.fence = OLD.fence AND NEW.lease_until > OLD.lease_until THEN
        NEW.lease_until := OLD.lease_until;
    END IF;
    RETURN NEW; END $$`, server))
	h.exec(`CREATE TRIGGER block_renewals BEFORE UPDATE OF lease_until ON sessions FOR EACH ROW EXECUTE FUNCTION block_renewals()`)
}

// The server becomes unreachable in each phase of a chat: its lease expires, another server continues, and the first one changes nothing
// when it comes back.
func TestAnswerOfLostServerIsCompletedByAnother(t *testing.T) {
	t.Parallel()

	// A round plans once: it begins the stage, runs the agent, ends the stage. The model is called twice.
	for _, place := range []string{"round 1", "round 2", "round 3", "model 0", "tool", "model 1"} {
		for _, cancelled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, cancelled %v", place, cancelled), func(t *testing.T) {
				t.Parallel()

				h := newFixture(t)
				h.noRecipes = true
				clock := h.fakeClock()
				freezer := &freezer{at: place, inside: make(chan struct{}), thaw: make(chan struct{})}
				h.investigated()
				h.chat()

				h.model.RouteFunc(func(r *llm.Request) bool { return r.Agent == "answerer" }, func(r *llm.Request, _ int) script.Reply {
					turn := 0

					for _, m := range r.Messages {
						if m.Role == llm.RoleAssistant {
							turn++
						}
					}

					freezer.pass(fmt.Sprintf("model %d", turn))

					return []script.Reply{{ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}}, {Text: "because"}}[turn]
				})

				h.tools.during = func(context.Context, agent.Call) error {
					freezer.pass("tool")

					return nil
				}

				id := h.over(1)[0]
				round := 0

				h.blockRenewals("frozen")

				frozen := h.start("frozen", func(c *Config) {
					c.RenewEvery = 24 * time.Hour
					c.Chain = func(string) (chain.Chain, bool) {
						round++
						freezer.pass(fmt.Sprintf("round %d", round))

						return h.recipe, true
					}
				})
				thaw := sync.OnceFunc(func() { close(freezer.thaw) })
				t.Cleanup(thaw) // a stopping server waits for it

				before := frozen.detail(id)
				lost := frozen.logged.watch("lost the lease; another server continues")
				question := frozen.ask(id, "why?")
				h.wait(freezer.inside, place)

				want := tarsy.StatusCompleted

				if cancelled {
					want = tarsy.StatusCancelled
					_, err := frozen.DB.AddCancel(h.ctx, tarsy.Request{ID: ident.New(), SessionID: id, Author: "somebody", CreatedAt: clock.Now()})
					require.NoError(t, err)
				}

				other := h.start("other", func(c *Config) { c.RenewEvery = 24 * time.Hour })
				clock.Advance(other.Lease + time.Second)
				wake(other.cancels)

				stage := other.answered(id, question)
				require.Equal(t, want, stage.Status, stage.ErrorMessage)
				require.Equal(t, "other", other.detail(id).PodID)

				footprint := h.footprint(id)

				thaw()
				h.wait(lost, "the loss to be noticed")
				require.Equal(t, footprint, h.footprint(id))
				requireUntouched(t, before, other.detail(id))
				h.requireWhole(id)
				require.Equal(t, 1, h.countEvents(id, tarsy.TypeChatCreated))
				require.Equal(t, 1, h.countEvents(id, tarsy.TypeChatUserMessage))
				other.answers(id, "and now?")
			})
		}
	}
}

func TestCommitErrorStillGivesOneAnswer(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		fault  string
		writes map[string]int
	}{
		"a statement is refused": {
			`RAISE EXCEPTION 'refused by the test'`,
			map[string]int{"chats": 2, "chat_user_messages": 1, "stages": 2, "executions": 2, "messages": 4, "mcp_interactions": 2, "requests": 1},
		},
		"the connection breaks": {
			`PERFORM pg_terminate_backend(pg_backend_pid())`, map[string]int{"chat_user_messages": 1, "stages": 2, "messages": 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			h.investigated()
			h.chat(script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}}, script.Reply{Text: "because"})

			s := h.start("one", nil)
			id := s.submit()
			before := s.completes(id)
			asked := 0

			for table, writes := range test.writes {
				for n := range writes {
					where := fmt.Sprintf("write %d to %s", n+1, table)

					// The first write to the requests is the asker's own.
					at := n + 1
					if table == "requests" {
						at++
					}

					h.fault(table, at, test.fault)

					reloaded := s.logged.watch("a step failed; reloading the session")
					stage := s.answers(id, where)
					asked++

					h.wait(reloaded, where)
					require.Len(t, stage.Executions, 1, where)
					require.Equal(t, 1, h.countEvents(id, tarsy.TypeChatCreated), where)
					require.Equal(t, asked, h.countEvents(id, tarsy.TypeChatUserMessage), where)
					h.requireWhole(id)
				}
			}

			requireUntouched(t, before, s.detail(id))
		})
	}
}
