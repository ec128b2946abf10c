package triage_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/triage"
)

func TestRepeatedAlertIsCountedOnItsSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(firing("disk", "a"))

	f.clock.Advance(time.Minute)
	again := f.receive(firing("disk", "a"), firing("disk", "a"))
	require.Equal(t, []tarsy.DeliveryAction{tarsy.ActionCount, tarsy.ActionCount}, actions(again))
	require.Equal(t, id, *again[0].SessionID)
	require.Equal(t, 1, f.sessions())

	state := f.alert(id)
	require.Equal(t, int64(3), state.Occurrences)
	require.Equal(t, []time.Time{epoch(), epoch().Add(time.Minute), epoch().Add(time.Minute)}, state.Times)
	require.Equal(t, epoch().Add(time.Minute), state.LastAt)
	require.True(t, state.Firing)

	rows := f.suppressed()
	require.Len(t, rows, 1, "repetitions are one row")
	require.Equal(t, tarsy.SuppressedDuplicate, rows[0].Reason)
	require.Equal(t, int64(2), rows[0].Occurrences)
	require.Equal(t, id, *rows[0].SessionID)
	require.Equal(t, rows[0].ID, *again[0].SuppressedID)

	// A third delivery adds to the same row, and only the latest times are kept.
	for range 30 {
		f.clock.Advance(time.Second)
		f.receive(firing("disk", "a"))
	}

	require.Len(t, f.suppressed(), 1)
	require.Equal(t, int64(32), f.suppressed()[0].Occurrences)
	require.Len(t, f.suppressed()[0].Times, tarsy.MaxAlertTimes)
	require.Len(t, f.alert(id).Times, tarsy.MaxAlertTimes)
	require.Equal(t, f.clock.Now(), f.alert(id).Times[tarsy.MaxAlertTimes-1])
}

func TestAlertAfterTheWindowIsInvestigatedAgain(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	first := f.session(firing("disk", "a"))
	f.clock.Advance(3 * time.Hour)
	require.Equal(t, tarsy.ActionCount, f.receive(firing("disk", "a"))[0].Action, "its session is not over")
	f.end()

	f.clock.Advance(time.Hour - time.Microsecond)
	require.Equal(t, tarsy.ActionCount, f.receive(firing("disk", "a"))[0].Action, "its session ended within the window")

	f.clock.Advance(time.Microsecond)

	second := f.session(firing("disk", "a"))
	require.NotEqual(t, first, second)
	require.Equal(t, &first, f.alert(second).EarlierSessionID)
	require.Equal(t, int64(1), f.alert(second).Occurrences)
	require.Equal(t, int64(3), f.alert(first).Occurrences)
}

func TestDeliveryRepeatedWithinTenMinutesChangesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	delivery := tarsy.Delivery{Key: []byte("key"), Source: tarsy.SourceAlertmanager, Alerts: []tarsy.Alert{firing("disk", "a"), resolved("disk", "b")}}

	first, err := f.Receive(t.Context(), delivery)
	require.NoError(t, err)
	require.False(t, first.Repeated)

	f.clock.Advance(10*time.Minute - time.Microsecond)

	second, err := f.Receive(t.Context(), delivery)
	require.NoError(t, err)
	require.True(t, second.Repeated)
	require.Equal(t, first.Alerts, second.Alerts)
	require.Equal(t, int64(1), f.alert(*first.Alerts[0].SessionID).Occurrences)
	require.Equal(t, int64(1), f.suppressed()[0].Occurrences)

	f.clock.Advance(time.Microsecond)

	third, err := f.Receive(t.Context(), delivery)
	require.NoError(t, err)
	require.False(t, third.Repeated)
	require.Equal(t, int64(2), f.alert(*first.Alerts[0].SessionID).Occurrences)

	// Adding a key removes old ones.
	f.clock.Advance(time.Hour)
	delivery.Key = []byte("another")
	_, err = f.Receive(t.Context(), delivery)
	require.NoError(t, err)
	require.Equal(t, 1, f.count(`SELECT count(*) FROM deliveries`))
}

// A script that reports no time posts the same body each time its alert fires.
func TestEqualBodyIsNewAfterItsAlertChanged(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"investigated", "silenced"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t)
			if name == "silenced" {
				f.silence(`instance="a"`)
			}

			repeated := func(key string, alert tarsy.Alert) bool {
				t.Helper()

				result, err := f.Receive(t.Context(), tarsy.Delivery{Key: []byte(key), Source: tarsy.SourceGeneric, Alerts: []tarsy.Alert{alert}})
				require.NoError(t, err)

				return result.Repeated
			}

			for range 2 {
				require.False(t, repeated("down", firing("disk", "a")))
				require.True(t, repeated("down", firing("disk", "a")))
				require.False(t, repeated("up", resolved("disk", "a")))
				require.True(t, repeated("up", resolved("disk", "a")))
			}
		})
	}

	f := newFixture(t)
	at := f.clock.Now()
	dated := func(a tarsy.Alert) tarsy.Delivery {
		a.Facts.StartsAt = &at

		return tarsy.Delivery{Key: []byte("dated"), Source: tarsy.SourceGeneric, Alerts: []tarsy.Alert{a}}
	}

	_, err := f.Receive(t.Context(), dated(firing("disk", "a")))
	require.NoError(t, err)
	f.receive(resolved("disk", "a"))

	late, err := f.Receive(t.Context(), dated(firing("disk", "a")))
	require.NoError(t, err)
	require.True(t, late.Repeated)
}

func TestConcurrentDeliveriesOfOneAlertCreateOneSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	other := f.server(0)
	config := f.config
	config.DB, config.Intake = other, f.intake(other)

	desks, results := []*triage.Desk{f.Desk, triage.New(config)}, make([]tarsy.DeliveryResult, 12)

	var all sync.WaitGroup

	for i := range results {
		all.Go(func() {
			delivery := tarsy.Delivery{Alerts: []tarsy.Alert{firing("disk", "a"), firing("net", "b")}}
			if i%2 == 0 {
				delivery.Alerts = []tarsy.Alert{firing("net", "b"), firing("disk", "a")}
			}

			if i < 6 {
				delivery.Key = []byte("the same")
				delivery.Alerts = []tarsy.Alert{firing("disk", "a"), firing("net", "b")}
			}

			var err error
			results[i], err = desks[i%len(desks)].Receive(t.Context(), delivery)
			require.NoError(t, err)
		})
	}

	all.Wait()
	require.Equal(t, 2, f.sessions())
	require.Equal(t, 14, f.count(`SELECT sum(occurrences) FROM session_alerts`), "six of one key count once")

	repeated := 0
	for _, r := range results {
		if r.Repeated {
			repeated++
		}
	}

	require.Equal(t, 5, repeated)
}

func TestRefusedDeliveryLeavesNothingBehind(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.session(firing("other", "before"))

	small := f.server(2)
	config := f.config
	config.DB, config.Intake = small, f.intake(small)
	desk := triage.New(config)

	tables := func() []int {
		return []int{
			f.sessions(), f.count(`SELECT count(*) FROM session_alerts`), f.count(`SELECT count(*) FROM suppressed_alerts`),
			f.count(`SELECT count(*) FROM deliveries`), f.count(`SELECT count(*) FROM alert_groups`), f.count(`SELECT count(*) FROM events`),
			f.count(`SELECT sum(occurrences) FROM session_alerts`),
		}
	}
	before := tables()

	delivery := tarsy.Delivery{Key: []byte("key"), Alerts: []tarsy.Alert{firing("other", "before"), firing("disk", "a"), firing("disk", "b")}}
	_, err := desk.Receive(t.Context(), delivery)
	require.Equal(t, tarsy.CodeOverloaded, tarsy.CodeOf(err), "there is room for one of two: %v", err)
	require.Equal(t, before, tables())

	delivery.Alerts[1].AlertType = "unknown"
	_, err = desk.Receive(t.Context(), delivery)
	require.Equal(t, tarsy.CodeUnknownAlertType, tarsy.CodeOf(err))
	require.Equal(t, before, tables())

	// Alerts that need no session are accepted, and the rejected delivery does not count as a repetition when it fits later.
	_, err = desk.Receive(t.Context(), tarsy.Delivery{Alerts: []tarsy.Alert{firing("other", "before")}})
	require.NoError(t, err)

	delivery.Alerts = []tarsy.Alert{firing("disk", "a")}
	result, err := desk.Receive(t.Context(), delivery)
	require.NoError(t, err)
	require.False(t, result.Repeated)
	require.Equal(t, 2, f.sessions())
}

func TestEverythingOfAnAlertIsMasked(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	hidden := func(a *tarsy.Alert) {
		a.Data += secret
		a.Runbook, a.SlackMessageFingerprint = "use "+secret, secret
		a.Facts.Title += secret
		a.Facts.Service, a.Facts.Namespace, a.Facts.Cluster, a.Facts.Team = secret, secret, secret, secret
		a.Facts.Labels["password"] = secret
		a.Facts.Links = []tarsy.AlertLink{{Kind: tarsy.LinkRunbook, URL: "https://x/" + secret}, {Kind: tarsy.LinkRunbook, URL: "https://x/y"}}
		a.Facts.Fingerprint += secret
		a.Facts.GroupKey += secret
	}

	id := f.session(firing("disk", "a", hidden))
	require.Equal(t, tarsy.ActionCount, f.receive(firing("disk", "a", hidden))[0].Action)
	require.Equal(t, tarsy.ActionStorm, f.receive(
		firing("disk", "b", hidden), firing("disk", "c", hidden), firing("disk", "d", hidden))[0].Action)

	require.Len(t, f.detail(id).Links, 1, "a link with a secret is left out")
	require.Equal(t, "[MASKED]", f.detail(id).Labels["password"])

	for _, table := range []string{"sessions", "session_alerts", "suppressed_alerts", "alert_groups", "events", "session_list", "deliveries"} {
		require.Zero(t, f.count(`SELECT count(*) FROM `+table+` x WHERE x::text LIKE '%'||$1||'%'`, secret), table)
	}
}

func TestDisallowedRunbookIsDropped(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(firing("disk", "a", func(a *tarsy.Alert) { a.RunbookURL = "https://elsewhere/x" }))
	require.Empty(t, f.detail(id).RunbookURL)
}

func TestCountChangeNotifiesReaders(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(firing("disk", "a"))

	watch := f.db.Signals().WatchSessions(10)
	defer watch.Close()

	for _, alert := range []tarsy.Alert{firing("disk", "a"), resolved("disk", "a")} {
		f.receive(alert)
		<-watch.C

		changes, _ := watch.Take()
		require.Equal(t, []postgres.Change{{SessionID: id, Version: f.detail(id).Version}}, changes)
	}
}
