package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// concluded is a finished session, as a test created it.
type concluded struct {
	session tarsy.Session
	agents  []string
	models  []string
	cost    *float64
	alerts  int
	ratings map[string]tarsy.Rating
	deleted bool
}

// qualityRun is one case of the property: what was stored, and by which server.
type qualityRun struct {
	*fixture

	db       *postgres.DB
	sessions []*concluded
}

// TestQualityAgreesWithRows ends sessions, gives and withdraws feedback, asks questions, grows storms and deletes sessions in any
// order, and compares the counts with the stored rows.
func TestQualityAgreesWithRows(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	rapid.Check(t, func(rt *rapid.T) {
		f.Exec(rt, `DELETE FROM sessions`)
		f.Exec(rt, `DELETE FROM session_alerts`)

		run := &qualityRun{fixture: f, db: db}
		begin := f.Clock.Now()

		run.complete(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"complete": run.complete,
			"fail":     run.fail,
			"rate":     run.rate,
			"withdraw": run.withdraw,
			"ask":      run.chat,
			"storm":    run.storm,
			"delete":   run.remove,
			"time":     func(rt *rapid.T) { f.Clock.Advance(time.Duration(rapid.IntRange(1, 30).Draw(rt, "hours")) * time.Hour) },
			"":         func(rt *rapid.T) { run.compare(rt, begin) },
		})
	})
}

// complete takes a session to its end.
func (r *qualityRun) complete(rt *rapid.T) {
	one := &concluded{session: storetest.NewSession(r.Clock.Now()), alerts: 1, ratings: map[string]tarsy.Rating{}}
	one.session.ChainID = rapid.SampledFrom([]string{"chain-a", "chain-b"}).Draw(rt, "chain")
	one.session.AlertType = rapid.SampledFrom([]string{"disk", "cpu"}).Draw(rt, "type")

	claim := r.take(rt, one)
	now := r.Clock.Now()
	stage := storetest.NewStage(one.session.ID, 1, now)
	step := progress.Step{Release: true}

	if rapid.Bool().Draw(rt, "replicas") {
		stage.ParallelType = new(tarsy.ParallelReplica)
		one.agents = []string{"agent"}
		step.Executions = []tarsy.Execution{named(storetest.NewExecution(stage, 1, now), "agent-1"), named(storetest.NewExecution(stage, 2, now), "agent-2")}
	} else {
		one.agents = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"agent", "agent-1", "other"}), 1, 3, rapid.ID).Draw(rt, "agents")
		for n, agent := range one.agents {
			step.Executions = append(step.Executions, named(storetest.NewExecution(stage, n+1, now), agent))
		}
	}

	for range rapid.IntRange(0, 3).Draw(rt, "calls") {
		call := storetest.NewLLMInteraction(one.session.ID, &step.Executions[0], tarsy.Usage{CostUSD: cost().Draw(rt, "cost")}, 1)
		call.ModelName = rapid.SampledFrom([]string{"", "small", "large"}).Draw(rt, "model")
		step.LLMInteractions = append(step.LLMInteractions, call)

		if call.ModelName != "" && !slices.Contains(one.models, call.ModelName) {
			one.models = append(one.models, call.ModelName)
		}

		if call.Usage.CostUSD > 0 {
			one.cost = new(call.Usage.CostUSD + orNone(one.cost))
		}
	}

	r.Clock.Advance(time.Duration(rapid.IntRange(0, 90_000).Draw(rt, "milliseconds")) * time.Millisecond)

	ends := r.Clock.Now()
	session := claim.State.Session
	session.Status, session.CompletedAt = tarsy.SessionCompleted, &ends
	session.Outcome = rapid.SampledFrom(append(tarsy.Outcomes(), tarsy.OutcomeNone)).Draw(rt, "outcome")
	step.Session, step.Stages = &session, []tarsy.Stage{storetest.Ended(stage, ends)}

	_, err := r.db.Hold(claim.Lease).Commit(context.Background(), step)
	require.NoError(rt, err)

	one.session = session
	r.sessions = append(r.sessions, one)
}

// take stores a session and claims it.
func (r *qualityRun) take(rt *rapid.T, one *concluded) postgres.Claim {
	require.NoError(rt, r.db.CreateSession(context.Background(), one.session, postgres.Terms{}, storetest.NewEvents("intake", 1)...))

	claims, err := r.db.Claim(context.Background(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:chain-a", "chain:chain-b"}, ServerID: storetest.ServerA, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease,
	})
	require.NoError(rt, err)
	require.Len(rt, claims, 1)

	return claims[0]
}

// fail ends a session without a conclusion: neither it nor feedback on it counts.
func (r *qualityRun) fail(rt *rapid.T) {
	one := &concluded{session: storetest.NewSession(r.Clock.Now())}
	one.session.ChainID = "chain-a"
	claim := r.take(rt, one)
	now := r.Clock.Now()
	session := claim.State.Session
	session.Status, session.CompletedAt = tarsy.SessionFailed, &now

	_, err := r.db.Hold(claim.Lease).Commit(context.Background(), progress.Step{Session: &session, Release: true})
	require.NoError(rt, err)

	_, err = r.db.PutFeedback(context.Background(), newFeedback(session.ID, "ana", tarsy.RatingWrong, now))
	require.NoError(rt, err)
}

func (r *qualityRun) one(rt *rapid.T) *concluded {
	return rapid.SampledFrom(r.sessions).Draw(rt, "session")
}

func (r *qualityRun) rate(rt *rapid.T) {
	one, author := r.one(rt), rapid.SampledFrom([]string{"ana", "bob", "eve"}).Draw(rt, "author")
	rating := rapid.SampledFrom(tarsy.Ratings()).Draw(rt, "rating")

	_, err := r.db.PutFeedback(context.Background(), newFeedback(one.session.ID, author, rating, r.Clock.Now()))
	if one.deleted {
		require.Equal(rt, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

		return
	}

	require.NoError(rt, err)

	one.ratings[author] = rating
}

func (r *qualityRun) withdraw(rt *rapid.T) {
	one, author := r.one(rt), rapid.SampledFrom([]string{"ana", "bob", "eve"}).Draw(rt, "author")
	_, err := r.db.DeleteFeedback(context.Background(), one.session.ID, tarsy.Person{Name: author})
	_, given := one.ratings[author]
	require.Equal(rt, given && !one.deleted, err == nil, "%v", err)
	delete(one.ratings, author)
}

// chat asks a question, whose cost is not part of the conclusion.
func (r *qualityRun) chat(rt *rapid.T) {
	one := r.one(rt)
	if one.deleted {
		return
	}

	ok, err := storetest.AddRequest(r.db, context.Background(), storetest.NewRequest(one.session.ID, tarsy.RequestChat, r.Clock.Now()))
	require.NoError(rt, err)
	require.True(rt, ok)

	claims, err := r.db.Claim(context.Background(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:chain-a", "chain:chain-b"}, ServerID: storetest.ServerA, Chats: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease,
	})
	require.NoError(rt, err)
	require.Len(rt, claims, 1)

	stage := r.Begin(rt, r.db, claims[0])
	execution := named(storetest.NewExecution(stage, 1, r.Clock.Now()), "chat-agent")
	_, err = r.db.Hold(claims[0].Lease).Commit(context.Background(), progress.Step{
		Stages: []tarsy.Stage{storetest.Ended(stage, r.Clock.Now())}, Executions: []tarsy.Execution{execution},
		LLMInteractions: []tarsy.LLMInteraction{storetest.NewLLMInteraction(one.session.ID, &execution, tarsy.Usage{CostUSD: 5}, 1)}, Release: true,
	})
	require.NoError(rt, err)

	if rapid.Bool().Draw(rt, "measured again") {
		r.Exec(rt, `SELECT record_quality(ARRAY[$1::uuid])`, one.session.ID)
	}
}

func (r *qualityRun) storm(rt *rapid.T) {
	one, members := r.one(rt), rapid.IntRange(0, 9).Draw(rt, "members")
	r.Exec(rt, `INSERT INTO session_alerts (session_id, fingerprint, group_key, last_at, storm, members) VALUES ($1, '', '', now(), true, $2)
ON CONFLICT (session_id) DO UPDATE SET members = excluded.members`, one.session.ID, members)

	one.alerts = max(1, members)
}

func (r *qualityRun) remove(rt *rapid.T) {
	one := r.one(rt)
	if one.deleted {
		return
	}

	require.NoError(rt, r.db.DeleteSession(context.Background(), one.session.ID))

	one.deleted = true
}

// compare counts a random period, grouped in every way.
func (r *qualityRun) compare(rt *rapid.T, begin time.Time) {
	from := begin.Add(time.Duration(rapid.IntRange(-1, 40).Draw(rt, "from")) * time.Hour)
	to := from.Add(time.Duration(rapid.IntRange(1, 100).Draw(rt, "hours")) * time.Hour)

	var in []*concluded

	for _, one := range r.sessions {
		if at := *one.session.CompletedAt; !one.deleted && !at.Before(from) && at.Before(to) {
			in = append(in, one)
		}
	}

	keys := map[tarsy.QualityBy]func(*concluded) []string{
		tarsy.QualityByChain:     func(c *concluded) []string { return []string{c.session.ChainID} },
		tarsy.QualityByAlertType: func(c *concluded) []string { return []string{c.session.AlertType} },
		tarsy.QualityByAgent:     func(c *concluded) []string { return c.agents },
		tarsy.QualityByModel:     func(c *concluded) []string { return c.models },
	}

	for _, by := range tarsy.QualityBys() {
		got, err := r.db.Quality(context.Background(), from, to, by)
		require.NoError(rt, err)

		rows, days := countedBy(in, keys[by]), countedBy(in, func(c *concluded) []string { return []string{c.session.CompletedAt.Format(time.DateOnly)} })
		slices.SortFunc(rows, func(a, b tarsy.QualityRow) int {
			return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Key, b.Key))
		})
		slices.SortFunc(days, func(a, b tarsy.QualityRow) int { return cmp.Compare(a.Key, b.Key) })

		want := tarsy.Quality{From: from, To: to, By: by, Total: counted("", in), Rows: rows, Days: days}
		requireTimesAbout(rt, want, got)
		require.Equal(rt, withoutTimes(want), withoutTimes(rounded(got)), "by %s", by)
	}
}

func countedBy(in []*concluded, keys func(*concluded) []string) []tarsy.QualityRow {
	groups := map[string][]*concluded{}

	for _, one := range in {
		for _, key := range keys(one) {
			groups[key] = append(groups[key], one)
		}
	}

	rows := []tarsy.QualityRow{}
	for key, group := range groups {
		rows = append(rows, counted(key, group))
	}

	return rows
}

// counted counts sessions one by one.
func counted(key string, in []*concluded) tarsy.QualityRow {
	row := tarsy.QualityRow{Key: key, Sessions: len(in), Outcomes: map[tarsy.Outcome]int{}}
	for _, outcome := range tarsy.Outcomes() {
		row.Outcomes[outcome] = 0
	}

	var (
		times  []int64
		cost   *float64
		alerts int
	)

	for _, one := range in {
		if one.session.Outcome != tarsy.OutcomeNone {
			row.Outcomes[one.session.Outcome]++
		}

		for _, rating := range one.ratings {
			*map[tarsy.Rating]*int{tarsy.RatingRight: &row.Right, tarsy.RatingPartly: &row.Partly, tarsy.RatingWrong: &row.Wrong}[rating]++
		}

		times = append(times, one.session.CompletedAt.Sub(one.session.CreatedAt).Milliseconds())

		if one.cost != nil {
			cost, alerts = new(orNone(cost)+*one.cost), alerts+one.alerts
		}
	}

	if all := row.Right + row.Partly + row.Wrong; all > 0 {
		row.Agreement = new(float64(row.Right) / float64(all))
	}

	if len(times) > 0 {
		slices.Sort(times)
		row.TimeToVerdictP50MS, row.TimeToVerdictP95MS = nearestRank(times, 0.5), nearestRank(times, 0.95)
	}

	if cost != nil {
		row.CostUSD, row.CostPerAlertUSD = cost, new(*cost/float64(alerts))
	}

	return roundedRow(row)
}

// nearestRank returns the smallest value that is at least as large as a share of the values.
func nearestRank(sorted []int64, share float64) *int64 {
	return new(sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)])
}

// rounded removes differences that come from adding up in another order.
func rounded(q tarsy.Quality) tarsy.Quality {
	q.Total = roundedRow(q.Total)

	for n := range q.Rows {
		q.Rows[n] = roundedRow(q.Rows[n])
	}

	for n := range q.Days {
		q.Days[n] = roundedRow(q.Days[n])
	}

	return q
}

// requireTimesAbout allows times to exceed the exact ones by as much as the durations within a cell differ.
func requireTimesAbout(rt *rapid.T, want, got tarsy.Quality) {
	wants, gots := qualityRows(want), qualityRows(got)
	require.Len(rt, gots, len(wants))

	for n, row := range wants {
		for _, times := range [][2]*int64{
			{row.TimeToVerdictP50MS, gots[n].TimeToVerdictP50MS}, {row.TimeToVerdictP95MS, gots[n].TimeToVerdictP95MS},
		} {
			exact, about := times[0], times[1]
			require.Equal(rt, exact == nil, about == nil)

			if exact != nil {
				require.InDelta(rt, *exact, *about, 0.02*float64(*exact+1), "%q", row.Key)
			}
		}
	}
}

func withoutTimes(q tarsy.Quality) tarsy.Quality {
	q.Total.TimeToVerdictP50MS, q.Total.TimeToVerdictP95MS = nil, nil

	for _, row := range qualityRows(q)[1:] {
		row.TimeToVerdictP50MS, row.TimeToVerdictP95MS = nil, nil
	}

	return q
}

func qualityRows(q tarsy.Quality) []*tarsy.QualityRow {
	rows := []*tarsy.QualityRow{&q.Total}
	for n := range q.Rows {
		rows = append(rows, &q.Rows[n])
	}

	for n := range q.Days {
		rows = append(rows, &q.Days[n])
	}

	return rows
}

func roundedRow(row tarsy.QualityRow) tarsy.QualityRow {
	for _, number := range []**float64{&row.Agreement, &row.CostUSD, &row.CostPerAlertUSD} {
		if *number != nil {
			*number = new(math.Round(**number*1e9) / 1e9)
		}
	}

	return row
}

func named(execution tarsy.Execution, agent string) tarsy.Execution {
	execution.AgentName = agent

	return execution
}

// cost draws the cost of a call; zero means that no price is known.
func cost() *rapid.Generator[float64] { return rapid.SampledFrom([]float64{0, 0.25, 1.5}) }

func orNone(cost *float64) float64 {
	if cost == nil {
		return 0
	}

	return *cost
}

// Sessions that were over before their table existed are counted immediately; servers add agents, models and cost.
func TestSessionsOfEarlierReleasesAreMeasured(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.finishedWithAllRows(t, db)

	whole := func(by tarsy.QualityBy) tarsy.Quality {
		quality, err := db.Quality(t.Context(), f.Clock.Now().Add(-time.Hour), f.Clock.Now().Add(time.Hour), by)
		require.NoError(t, err)

		return quality
	}
	want := whole(tarsy.QualityByAgent)
	require.Len(t, want.Rows, 1)

	// The state that the migration leaves.
	f.Exec(t, `UPDATE session_quality SET agents = NULL, models = NULL, cost_usd = NULL WHERE session_id = $1`, id)
	require.Equal(t, 1, whole(tarsy.QualityByChain).Total.Sessions)
	require.Empty(t, whole(tarsy.QualityByAgent).Rows)

	require.NoError(t, db.Measure(t.Context()))
	require.Equal(t, want, whole(tarsy.QualityByAgent))
	require.Equal(t, "gemini", whole(tarsy.QualityByModel).Rows[0].Key)
	require.Equal(t, 0, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM session_quality WHERE agents IS NULL`), fmt.Sprint(id))
}
