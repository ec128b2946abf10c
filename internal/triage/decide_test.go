package triage_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/triage"
	"tarsy.dev/tarsy/internal/triage/store"
)

// model is an in-memory version of triage's tables.
type model struct {
	now      time.Time
	settings triage.Settings
	groups   map[string]store.Group
	sessions map[string]store.Investigation
	rows     map[string]*store.Suppressed
	quiet    []triage.Quiet
	// created is how many alerts got their own session, over how many were only recorded as resolved, and received the number
	// of all alerts.
	created, over, received int64
}

// known returns what the store would find.
func (m *model) known() store.Known {
	return store.Known{
		Groups: slices.Collect(maps.Values(m.groups)), Investigations: slices.Collect(maps.Values(m.sessions)), Kept: m.kept(),
	}
}

func (m *model) kept() []store.Kept {
	var kept []store.Kept

	for _, key := range slices.Sorted(maps.Keys(m.rows)) {
		if r := m.rows[key]; r.Firing || r.Reason == tarsy.SuppressedStorm {
			kept = append(kept, store.Kept{ID: key, Reason: r.Reason, SessionID: r.SessionID, Fingerprint: r.Fingerprint, Firing: r.Firing})
		}
	}

	return kept
}

// receive decides about a delivery and stores the result.
func (m *model) receive(t require.TestingT, alerts []triage.Incoming) {
	for _, a := range alerts {
		if _, ok := m.groups[a.Session.GroupKey]; !ok {
			m.groups[a.Session.GroupKey] = store.Group{Key: a.Session.GroupKey, WindowStart: m.now, LastAt: m.now}
		}
	}

	d := triage.Decide(triage.Situation{Now: m.now, Settings: m.settings, Known: m.known(), Quiet: m.quiet}, alerts)
	m.received += int64(len(alerts))
	m.created += int64(len(d.Create))

	for _, g := range d.Groups {
		m.groups[g.Key] = g
	}

	for _, a := range d.Alerts {
		old := m.sessions[a.SessionID]
		old.Alert = a
		m.sessions[a.SessionID] = old
	}

	for _, id := range d.Resolved {
		m.rows[id].Firing = false
	}

	listed := int64(0)

	for _, s := range d.Suppressed {
		listed += s.Occurrences
		key := fmt.Sprint(s.Owner, " ", s.Fingerprint, " ", s.Reason)

		if old := m.rows[key]; old != nil {
			old.Occurrences += s.Occurrences
			old.Firing = s.Firing
		} else {
			m.rows[key] = &s
		}
	}

	for i, r := range d.Results {
		require.NotEmpty(t, r.Action, "alert %d was dropped", i)
		require.NotEmpty(t, r.Reason)
	}

	m.over += int64(len(alerts)) - int64(len(d.Create)) - listed
}

// check compares the counts of sessions with the rows that they count.
func (m *model) check(t require.TestingT) {
	var listed int64

	type sums struct{ rows, firing, occurrences int64 }

	byOwner := map[string]sums{}

	for _, r := range m.rows {
		listed += r.Occurrences
		s := byOwner[r.Owner]
		s.rows++
		s.occurrences += r.Occurrences

		if r.Firing {
			s.firing++
		}

		byOwner[r.Owner] = s
	}

	require.Equal(t, m.received, m.created+listed+m.over, "every alert is investigated, listed, or recorded as over")

	open := map[string]int{}

	for id, s := range m.sessions {
		counted := byOwner[id]

		if s.Storm {
			require.Equal(t, sums{s.Members, s.FiringMembers, s.Occurrences}, counted, "the members of a storm")
			require.Equal(t, s.FiringMembers > 0, s.Firing)
		} else {
			require.Equal(t, s.Occurrences, counted.occurrences+1, "the repetitions of an alert")
		}

		if s.CompletedAt == nil && !s.Storm {
			open[s.Fingerprint]++
			require.Equal(t, 1, open[s.Fingerprint], "two sessions investigate one alert")
		}
	}
}

func incoming(group, name string, over bool) triage.Incoming {
	return triage.Incoming{Resolved: over, Prepared: postgres.Prepared{Session: tarsy.Session{ID: ident.New(), AlertFacts: tarsy.AlertFacts{
		Title: name, Fingerprint: name, GroupKey: group, Labels: map[string]string{"alertname": name},
	}}}}
}

func TestNoAlertIsDroppedAndCountsEqualRows(t *testing.T) {
	t.Parallel()

	silence := triage.Quiet{Reason: tarsy.SuppressedSilence, Name: "s", Text: "silenced", Match: matchers(t, `alertname=~"b."`)}

	rapid.Check(t, func(t *rapid.T) {
		m := &model{
			now: epoch(), settings: settings(), groups: map[string]store.Group{}, sessions: map[string]store.Investigation{},
			rows: map[string]*store.Suppressed{},
		}
		m.settings.Threshold = rapid.IntRange(0, 4).Draw(t, "threshold")

		t.Repeat(map[string]func(*rapid.T){
			"deliver": func(t *rapid.T) {
				alerts := make([]triage.Incoming, rapid.IntRange(1, 6).Draw(t, "alerts"))
				for i := range alerts {
					group := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "group")
					name := group + rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}).Draw(t, "name")
					alerts[i] = incoming(group, name, rapid.IntRange(0, 3).Draw(t, "resolved") == 0)
				}

				m.receive(t, alerts)
			},
			"wait": func(t *rapid.T) {
				m.now = m.now.Add(rapid.SampledFrom([]time.Duration{time.Minute, 9 * time.Minute, 30 * time.Minute, time.Hour}).Draw(t, "time"))
			},
			"end": func(*rapid.T) {
				for id, s := range m.sessions {
					if s.CompletedAt == nil {
						at := m.now
						s.CompletedAt = &at
						m.sessions[id] = s
					}
				}
			},
			"silence": func(*rapid.T) {
				if m.quiet == nil {
					m.quiet = []triage.Quiet{silence}
				} else {
					m.quiet = nil
				}
			},
			"": func(t *rapid.T) { m.check(t) },
		})
	})
}
