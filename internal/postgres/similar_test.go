package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// alike returns the sessions similar to one, as "reason id".
func alike(t *testing.T, db *postgres.DB, id string, limit int) []string {
	t.Helper()

	similar, err := db.Similar(t.Context(), id, tarsy.Visibility{}, limit)
	require.NoError(t, err)

	found := []string{}
	for _, s := range similar {
		found = append(found, string(s.Likeness)+" "+s.ID)
	}

	return found
}

func crashLoop(fingerprint string, labels ...string) func(*tarsy.Session) {
	return func(s *tarsy.Session) {
		s.Title, s.Fingerprint = "Pod is crash looping", fingerprint
		s.Labels = map[string]string{"alertname": "KubePodCrashLooping"}

		for _, label := range labels {
			name, value, _ := strings.Cut(label, "=")
			s.Labels[name] = value
		}
	}
}

func TestSimilarSessionsAreOrderedByReasonThenNewest(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	text := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.Title = "crash of a looping pod" })
	analysed := f.put(t, db, tarsy.SessionTimedOut, func(s *tarsy.Session) {
		s.Title, s.FinalAnalysis = "Restarts", "A pod is in a crash loop, looping for ever."
	})
	labels := f.put(t, db, tarsy.SessionCompleted, crashLoop("b", "namespace=shop", "cluster=eu", "pod=checkout-2"))
	same := f.put(t, db, tarsy.SessionFailed, crashLoop("a", "namespace=shop", "cluster=eu", "pod=checkout-1"))
	again := f.put(t, db, tarsy.SessionCompleted, crashLoop("a", "namespace=shop", "cluster=eu", "pod=checkout-1"))

	// Unfinished, deleted, another rule, too few labels, a single word.
	f.put(t, db, tarsy.SessionPending, crashLoop("a", "namespace=shop", "cluster=eu"))
	f.put(t, db, tarsy.SessionInProgress, crashLoop("a", "namespace=shop", "cluster=eu"))
	f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) {
		crashLoop("a", "namespace=shop", "cluster=eu")(s)
		s.DeletedAt = new(f.Clock.Now())
	})
	f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) {
		crashLoop("c", "namespace=shop", "cluster=eu", "pod=checkout-1")(s)
		s.Title, s.Labels["alertname"] = "Certificate expires", "CertificateExpiry"
	})
	f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) {
		crashLoop("d", "namespace=other", "cluster=eu", "pod=api-1")(s)
		s.Title = "Something else"
	})
	f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.Title = "pod evicted" })

	id := f.put(t, db, tarsy.SessionInProgress, crashLoop("a", "namespace=shop", "cluster=eu", "pod=checkout-1"))
	want := []string{"fingerprint " + again, "fingerprint " + same, "labels " + labels, "text " + analysed, "text " + text}

	require.Equal(t, want, alike(t, db, id, 20))
	require.Equal(t, want[:3], alike(t, db, id, 3))
	require.Equal(t, want[:1], alike(t, db, id, 1))

	f.Exec(t, `ANALYZE session_list`)
	require.Equal(t, want, alike(t, db, id, 20), "with statistics")

	_, err := db.Similar(t.Context(), ident.New(), tarsy.Visibility{}, 5)
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
}

func TestSimilarSessionHasItsVerdictAndSharedLabels(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	past := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) {
		crashLoop("b", "namespace=shop", "pod=checkout-2")(s)
		s.Severity, s.Outcome, s.Cause = tarsy.SeverityHigh, tarsy.OutcomeCauseFound, "The memory limit is too low."
	})
	at := f.Clock.Now()
	f.Exec(t, `INSERT INTO verdicts (id, session_id, outcome, cause, confidence, confidence_reason, impact, next_steps, not_checked, created_at)
VALUES ($1, $2, 'cause_found', '{}', 'high', '{}', '{}', '[]', '[]', $3)`, ident.New(), past, at)

	for _, opinion := range []struct{ author, rating, cause string }{
		{"ann", "partly", "The limit is right, the cache leaks."}, {"bob", "right", ""}, {"cy", "wrong", "A memory leak."},
	} {
		f.Exec(t, `INSERT INTO feedback (id, session_id, author, rating, why, real_cause, created_at, updated_at) VALUES ($1, $2, $3, $4, '', $5, $6, $6)`,
			ident.New(), past, opinion.author, opinion.rating, opinion.cause, f.Clock.Now())
		f.Clock.Advance(time.Second)
	}

	id := f.put(t, db, tarsy.SessionCompleted, crashLoop("a", "namespace=shop", "pod=checkout-1"))

	similar, err := db.Similar(t.Context(), id, tarsy.Visibility{}, 5)
	require.NoError(t, err)
	storetest.RequireSame(t, []tarsy.SimilarSession{{
		ID: past, AlertType: "test", Title: "Pod is crash looping", Severity: "high", Status: tarsy.SessionCompleted, Likeness: tarsy.LikenessLabels,
		SharedLabels: map[string]string{"alertname": "KubePodCrashLooping", "namespace": "shop"},
		Outcome:      tarsy.OutcomeCauseFound, Cause: "The memory limit is too low.", Confidence: tarsy.ConfidenceHigh,
		Rating: tarsy.RatingWrong, RealCause: "A memory leak.",
		CreatedAt: at, CompletedAt: &at,
	}}, similar)
}

// Alerts from people have no labels and no name: the words of their text are compared, without ids and filler words.
func TestSimilarTextsShareHalfOfTheirWords(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	slow := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) {
		s.Title, s.AlertData = "checkout is slow again", "checkout is slow again, p99 of 4 s"
	})
	pod := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.Title, s.AlertData = "checkout-7d9f8c-x2x1z slow", "see the deploy" })
	f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) {
		s.Title, s.AlertData = "the queue is full since this night", "the disk of the queue"
	})

	id := f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) {
		s.Title, s.AlertData = "checkout is slow since the deploy", "checkout is slow since the deploy"
	})
	require.Equal(t, []string{"text " + pod, "text " + slow}, alike(t, db, id, 5))
}

// The labels of an alert are as hostile as its text.
func TestHostileLabelsAndTextsAreCompared(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	hostile := func(s *tarsy.Session) {
		s.Title = `' | !'a' & \ ':* <-> crash loops`
		s.Labels = map[string]string{"alertname": `it's \ '| "x"`, `a'b\`: `' & !'`, "long": strings.Repeat("漢", 1000)}
	}
	past := f.put(t, db, tarsy.SessionCompleted, hostile)
	require.Equal(t, []string{"labels " + past}, alike(t, db, f.put(t, db, tarsy.SessionCompleted, hostile), 5))
}

func TestPastSessionsAreFoundByAllOrHalfOfTheWords(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	memory := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.Title, s.FinalAnalysis = "checkout killed", "The memory limit is too low." })
	half := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.Title = "checkout out of memory" })
	f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.Title = "checkout is slow" })
	f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) { s.Title = "checkout memory limit" })
	own := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.Title = "checkout memory limit" })

	past, err := db.SearchPast(t.Context(), own, "checkout memory limit", tarsy.Visibility{}, 5)
	require.NoError(t, err)
	require.Len(t, past, 2)
	require.Equal(t, []string{memory, half}, []string{past[0].ID, past[1].ID})

	past, err = db.SearchPast(t.Context(), own, "checkout memory limit", tarsy.Visibility{}, 1)
	require.NoError(t, err)
	require.Len(t, past, 1)

	for _, search := range []string{"", "…", "nothing"} {
		past, err = db.SearchPast(t.Context(), own, search, tarsy.Visibility{}, 5)
		require.NoError(t, err)
		require.Empty(t, past, search)
	}
}

// However many sessions match, no more are read than the index finds quickly, or else the newest ones.
func TestSimilarSessionsCostIsBounded(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	f.Exec(t, `INSERT INTO sessions (id, alert_type, alert_data, chain_id, status, author, title, fingerprint, labels, created_at, completed_at)
SELECT gen_random_uuid(), 'test', 'x', 'chain', 'completed', 'ann', 'Pod is crash looping', 'f' || i, '{"alertname": "Crash", "cluster": "eu"}', at, at
FROM (SELECT i, $1::timestamptz - i * interval '1 second' AS at FROM generate_series(1, 9000) AS i) AS s`, storetest.Epoch())
	f.Exec(t, `ANALYZE session_list`)

	id := f.put(t, db, tarsy.SessionPending, func(s *tarsy.Session) {
		s.Title, s.Labels = "Pod is crash looping", map[string]string{"alertname": "Crash", "cluster": "eu"}
	})

	require.Len(t, alike(t, db, id, 20), 20, "the newest ones")

	few, err := db.AlikePlan(t.Context(), true)
	require.NoError(t, err)
	require.Contains(t, few, "Bitmap Index Scan on session_list_words", few)
	require.NotContains(t, few, "Seq Scan on session_list", few)

	many, err := db.AlikePlan(t.Context(), false)
	require.NoError(t, err)
	require.Contains(t, many, "Index Scan Backward using session_list_created", many)
	require.NotContains(t, many, "Bitmap Index Scan", many)
}
