package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// alertOf stores a session with an alert.
func (f *fixture) alertOf(t *testing.T, db *postgres.DB, data string) string {
	t.Helper()

	return f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) { s.AlertType, s.AlertData = "kubernetes", data })
}

func TestSearchFindsWordsPrefixesAndIdentifiers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.alertOf(t, db, `Pod "checkout-7d9f8c-x2x1z" (ns/payments) was OOMKilled. Node: ip-10-0-3-12, address 10.0.3.12:8080;
image=registry.local/shop/checkout@sha256:9f86d081884c7d659a2feaa0c55ad015 in /var/log/app_1.log, user ann@example.org, Größe «groß»—Ende.`)
	f.alertOf(t, db, "something else: 10.0.3.1, checkout-8 and /var/lib")

	for _, search := range []string{
		"oomkilled", "OOMKILLED", "oomk", "checkout-7d9f8c-x2x1z", "checkout-7d9", "7d9f8c", "x2x", "payments", "ns/payments", "10.0.3.12", "10.0.3.12:8080",
		"8080", "sha256:9f86d081", "9f86d081884c7d659a2feaa0c55ad015", "9f86d0", "app_1.log", "/var/log/app_1", "log", "ann@example.org", "example.org",
		"größe", "oomkilled*", "groß", "ende", "oomkilled 10.0.3.12 payments", `"oomkilled"`, `"was oomkilled" pay`, "oom* node", "image=registry.local",
	} {
		require.Equal(t, []string{id}, listed(t, db, tarsy.SessionFilter{Search: search}), search)
	}

	for _, search := range []string{
		"oomkilledx", "omkilled", `"oomk"`, "oomk node", "10.0.4", "checkout-9", "x2x1z-checkout", "payments nothing", "…", "***", `"`, "' | 'a", "!oomkilled & x",
	} {
		require.Empty(t, listed(t, db, tarsy.SessionFilter{Search: search}), search)
	}
}

func TestSearchFindsFinalAnalysis(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	session := claim.State.Session
	require.Empty(t, listed(t, db, tarsy.SessionFilter{Search: "unbounded"}))

	session.Status, session.CompletedAt = tarsy.SessionCompleted, new(f.Clock.Now())
	session.FinalAnalysis, session.ExecutiveSummary = "The cache is unbounded.", "Out of memory."
	commit(t, db, claim, progress.Step{Session: &session})

	for _, search := range []string{"unbounded", "memory", "unbounded memory " + session.AlertType, "unbounded " + session.AlertData} {
		require.Equal(t, []string{session.ID}, listed(t, db, tarsy.SessionFilter{Search: search}), search)
	}

	f.Exec(t, `UPDATE sessions SET deleted_at = created_at WHERE id = $1`, session.ID)
	require.Empty(t, listed(t, db, tarsy.SessionFilter{Search: "unbounded"}))
	require.Empty(t, listed(t, db, tarsy.SessionFilter{}))
}

// A title counts like the alert type, before and after the end of the session, which keeps the words of labels too.
func TestSearchRanksTitlesFirst(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	titled := f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) {
		s.Title, s.Labels = "Checkout latency above 2s", map[string]string{"env": "prod"}
	})
	text := f.alertOf(t, db, "checkout latency")

	check := func() {
		t.Helper()

		items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Search: "latency", Limit: 10})
		require.NoError(t, err)
		require.Equal(t, []string{titled, text}, idsOf(items))
		require.Equal(t, "title", items[0].Match.Field)
		require.Equal(t, []string{titled}, listed(t, db, tarsy.SessionFilter{Labels: map[string]string{"env": "prod"}, Search: "checkout"}))
	}

	check()

	claim := f.Claim(t, db, storetest.ServerA, 1)[0]
	require.Equal(t, titled, claim.SessionID)

	session := claim.State.Session
	session.Status, session.CompletedAt, session.FinalAnalysis = tarsy.SessionCompleted, new(f.Clock.Now()), "The cache is cold."
	commit(t, db, claim, progress.Step{Session: &session})
	check()
	require.Equal(t, []string{titled}, listed(t, db, tarsy.SessionFilter{Search: "cold"}))

	// A server that indexes old sessions stores the same words.
	f.Exec(t, `UPDATE session_list SET words = NULL`)
	require.Empty(t, listed(t, db, tarsy.SessionFilter{Search: "latency"}))
	require.NoError(t, db.Fill(t.Context()))
	check()
}

// The cause is written when the session ends, and counts like its title.
func TestSearchFindsCauseAndListsOutcomeOnceSessionEnds(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	session := claim.State.Session
	text := f.alertOf(t, db, "the pool is exhausted")

	session.Status, session.CompletedAt = tarsy.SessionCompleted, new(f.Clock.Now())
	session.Outcome, session.Cause, session.ExecutiveSummary = tarsy.OutcomeCauseFound, "connection pool exhausted by migrate-7", "Too many connections."
	commit(t, db, claim, progress.Step{Session: &session})

	check := func() {
		t.Helper()

		items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Search: "pool exhausted", Limit: 10})
		require.NoError(t, err)
		require.Equal(t, []string{session.ID, text}, idsOf(items))
		require.Equal(t, &tarsy.SearchMatch{Field: "cause", Snippet: []tarsy.SnippetPart{
			{Text: "connection "}, {Text: "pool", Match: true}, {Text: " "}, {Text: "exhausted", Match: true}, {Text: " by migrate-7"},
		}}, items[0].Match)
		require.Equal(t, tarsy.OutcomeCauseFound, items[0].Outcome)
		require.Equal(t, "connection pool exhausted by migrate-7", items[0].Cause)
		require.Equal(t, []string{session.ID}, listed(t, db, tarsy.SessionFilter{Search: "migrate-7", Outcomes: []tarsy.Outcome{tarsy.OutcomeCauseFound}}))
		require.Empty(t, listed(t, db, tarsy.SessionFilter{Search: "migrate-7", Outcomes: []tarsy.Outcome{tarsy.OutcomeInconclusive}}))
		require.Equal(t, []string{session.ID}, listed(t, db, tarsy.SessionFilter{Outcomes: []tarsy.Outcome{tarsy.OutcomeCauseFound}}))
	}

	check()

	// A server that indexes old sessions stores the same words.
	f.Exec(t, `UPDATE session_list SET words = NULL`)
	require.NoError(t, db.Fill(t.Context()))
	check()
}

// Sessions whose alert type, summary or error matches come first, then the others, each newest first; each page continues where
// the previous one ended, in both ways of searching.
func TestSearchIsOrderedByRelevanceAndPaged(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	var title, text []string

	for i := range 40 {
		id := f.put(t, db, tarsy.SessionFailed, func(s *tarsy.Session) {
			s.AlertData = "kafka lag"
			if i%3 == 0 {
				s.ErrorMessage = "no answer from Kafka"
			}
		})

		if i%3 == 0 {
			title = append([]string{id}, title...)
		} else {
			text = append([]string{id}, text...)
		}
	}

	want := slices.Concat(title, text)

	for _, few := range []float64{1000, 0} {
		for _, limit := range []int{1, 7, 13, 14, 40, 41} {
			var (
				met   []string
				after *tarsy.SessionCursor
			)

			for {
				items, err := db.SearchExpecting(t.Context(), few, tarsy.SessionFilter{Search: "kafka", Limit: limit, After: after})
				require.NoError(t, err)

				if len(items) == 0 {
					break
				}

				met = append(met, idsOf(items)...)
				last := items[len(items)-1]
				after = &tarsy.SessionCursor{Tier: &last.Match.Tier, CreatedAt: last.CreatedAt, ID: last.ID}
			}

			require.Equal(t, want, met, "in pages of %d, expecting few: %v", limit, few > 0)
		}
	}
}

func TestSearchCombinesWithEveryFilter(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	var ids []string

	for _, status := range tarsy.SessionStatuses() {
		for _, name := range []string{"a", "b"} {
			ids = append(ids, f.put(t, db, status, func(s *tarsy.Session) {
				s.AlertType, s.ChainID, s.Author, s.AlertData = "type-"+name, "chain-"+name, name, "disk needle "+string(status)
			}))
		}
	}

	f.alertOf(t, db, "hay")

	after, before := storetest.Epoch().Add(2*time.Minute), storetest.Epoch().Add(5*time.Minute)

	for _, test := range []struct {
		filter tarsy.SessionFilter
		want   []string
	}{
		{tarsy.SessionFilter{AlertType: "type-a", Statuses: []tarsy.SessionStatus{tarsy.SessionFailed}}, []string{ids[8]}},
		{tarsy.SessionFilter{ChainID: "chain-b", Statuses: []tarsy.SessionStatus{tarsy.SessionInProgress, tarsy.SessionCompleted}}, []string{ids[7], ids[3]}},
		{tarsy.SessionFilter{Author: "a", Statuses: []tarsy.SessionStatus{tarsy.SessionPending}}, []string{ids[0]}},
		{tarsy.SessionFilter{CreatedAfter: &after, CreatedBefore: &before}, []string{ids[3], ids[2], ids[1]}},
		{tarsy.SessionFilter{Author: "nobody"}, []string{}},
	} {
		test.filter.Search, test.filter.Limit = "needle", 100

		for _, few := range []float64{1000, 0} {
			items, err := db.SearchExpecting(t.Context(), few, test.filter)
			require.NoError(t, err)
			require.Equal(t, test.want, idsOf(items), "%+v", test.filter)
		}
	}
}

func TestSearchShowsWhatMatched(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	f.alertOf(t, db, strings.Repeat("padding ", 100)+"<script>alert(1)</script> Checkout-7d9f\nfailed at «ANGER» "+strings.Repeat("more ", 100))

	items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Search: "anger checkout-7d", Limit: 1})
	require.NoError(t, err)
	require.Len(t, items, 1)
	require.Equal(t, "alert_data", items[0].Match.Field)

	var shown strings.Builder
	for _, part := range items[0].Match.Snippet {
		if part.Match {
			shown.WriteString("[" + part.Text + "]")
		} else {
			shown.WriteString(part.Text)
		}
	}

	require.Contains(t, shown.String(), "<script>alert(1)</script> [Checkout-7d]9f failed at «[ANGER]» more")
	require.Less(t, len(shown.String()), 300)
	require.True(t, strings.HasPrefix(shown.String(), "… padding"))
	require.True(t, strings.HasSuffix(shown.String(), "…"))

	items, err = db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 1})
	require.NoError(t, err)
	require.Nil(t, items[0].Match)
}

// Intake stores an alert whatever it contains.
func TestHostileTextFailsNeitherIntakeNorCompletion(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	var lines strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&lines, "key%d=%s ", i, ident.New())
	}

	for name, text := range map[string]string{
		"one long word": strings.Repeat("x", 1<<20), "many words": lines.String(), "many wide words": strings.Repeat("漢字-𠜎𠜱 ", 1<<16),
		"quotes": strings.Repeat(`'\"`, 1<<16), "control characters": "a\x01b\x1fc\x7f\u0085\u2028d", "separators": strings.Repeat("-._", 1<<16),
		"long identifier": strings.Repeat("a-", 1<<16), "empty": "",
	} {
		id := f.alertOf(t, db, text)
		claim := f.Claim(t, db, storetest.ServerA, 1)[0]
		require.Equal(t, id, claim.SessionID, name)

		session := claim.State.Session
		session.Status, session.CompletedAt, session.FinalAnalysis, session.ExecutiveSummary = tarsy.SessionCompleted, new(f.Clock.Now()), text, text
		commit(t, db, claim, progress.Step{Session: &session, Release: true})
	}

	require.Len(t, listed(t, db, tarsy.SessionFilter{Search: "kubernetes"}), 8)
}

// What the previous release stored is listed immediately, and found once a server has indexed it.
func TestSessionsOlderThanSearchAreFound(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	require.NoError(t, postgres.MigrateTo(t.Context(), address, 8))

	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	for i, status := range []string{"completed", "failed", "pending"} {
		_, err = conn.Exec(t.Context(), `
INSERT INTO sessions (id, alert_type, alert_data, chain_id, status, author, final_analysis, created_at, completed_at)
VALUES ($1, 'disk', 'volume needle-' || $2::int, 'c', $3::text, 'ann', 'full', $4::timestamptz, CASE WHEN $3::text <> 'pending' THEN $4::timestamptz END)`, ident.New(), i, status, storetest.Epoch())
		require.NoError(t, err)
	}

	_, err = conn.Exec(t.Context(), `
INSERT INTO llm_interactions (id, session_id, interaction_type, model_name, provider, usage, created_at)
SELECT gen_random_uuid(), id, 'iteration', 'm', 'p', '{"input_tokens": 2, "total_tokens": 2, "cost_usd": 0.5}', created_at FROM sessions`)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `
INSERT INTO mcp_interactions (id, session_id, stage_id, execution_id, timeline_event_id, tool_call_id, server_name, tool_name, status, created_at)
SELECT gen_random_uuid(), s.id, gen_random_uuid(), s.id, gen_random_uuid(), 'c', 's', 't', 'completed', s.created_at FROM sessions s`)
	require.NoError(t, err)
	require.NoError(t, postgres.Migrate(t.Context(), address))

	f := newFixture(t)
	db := f.ServerAt(t, address)
	require.Len(t, listed(t, db, tarsy.SessionFilter{AlertType: "disk"}), 3)
	require.Len(t, listed(t, db, tarsy.SessionFilter{Statuses: []tarsy.SessionStatus{tarsy.SessionPending}}), 1)

	spent, err := db.SpentSince(t.Context(), storetest.Epoch())
	require.NoError(t, err)
	require.Equal(t, tarsy.Spend{Usage: tarsy.Usage{InputTokens: 6, TotalTokens: 6, CostUSD: 1.5}, ToolCalls: 3}, spent)

	wait.Until(t, "the session to be found", func() bool { return len(listed(t, db, tarsy.SessionFilter{Search: "needle-1 full"})) == 1 })
	require.Len(t, listed(t, db, tarsy.SessionFilter{Search: "disk"}), 3)
}
