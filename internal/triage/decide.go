package triage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/triage/store"
)

// Incoming is an alert of a delivery, with its secrets masked.
type Incoming struct {
	postgres.Prepared

	Resolved bool
	// Stored is the form in which the alert is stored if it is suppressed.
	Stored store.Stored
}

// group returns the group of an alert. An alert without a group key is a group by itself.
func (i Incoming) group() string {
	return cmp.Or(i.Session.GroupKey, "fingerprint="+i.Session.Fingerprint)
}

// Quiet suppresses alerts: a silence or a maintenance window.
type Quiet struct {
	Reason tarsy.SuppressionReason
	// Name is the ID of the silence or the name of the window, Text the reason, for people.
	Name, Text string
	Match      match.Set
}

// Situation is the input of a decision apart from the alerts.
type Situation struct {
	Now      time.Time
	Settings Settings
	Known    store.Known
	// Quiet are the silences and maintenance windows that are active now.
	Quiet []Quiet
}

// Storm is a session to be created for a storm.
type Storm struct {
	SessionID string
	GroupKey  string
	// Alerts are the first members, as indexes into the delivery. Earlier is how many alerts of the group were investigated
	// individually before.
	Alerts  []int
	Earlier int
}

// Decision is the decision about a delivery.
type Decision struct {
	store.Change

	// Create are the indexes of the alerts that get their own session.
	Create []int
	Storms []Storm
	// Results are in the order of the delivery; suppressed has the index in Change.Suppressed of each alert, or -1.
	Results    []tarsy.DeliveredAlert
	suppressed []int
	// Touched are the existing sessions whose counts changed, with their versions.
	Touched map[string]int64
}

// decider is a decision in progress.
type decider struct {
	Situation
	Decision

	alerts []Incoming
	groups map[string]*store.Group
	// sessions are by ID, last has the last session of each fingerprint.
	sessions map[string]*investigation
	last     map[string]*investigation
	kept     map[string][]*kept
	// rows are the indexes into Change.Suppressed.
	rows map[rowKey]int
}

type investigation struct {
	store.Investigation

	changed, created bool
}

// kept is a suppressed alert that fires or is a member of a storm; row is its index in Change.Suppressed if it is new, or -1.
type kept struct {
	store.Kept

	row int
}

type rowKey struct {
	owner, fingerprint string
	reason             tarsy.SuppressionReason
}

// Decide decides about all alerts of a delivery. It is a pure function, except for the IDs of new rows.
func Decide(s Situation, alerts []Incoming) Decision {
	d := newDecider(s, alerts)

	fresh, again := map[string][]int{}, []int{}
	seen := map[string]bool{}

	for n, a := range alerts {
		switch fp := a.Session.Fingerprint; {
		case seen[fp]:
			again = append(again, n) // depends on the decision about the first one
		case d.decideWithoutSession(n):
		default:
			seen[fp] = true
			fresh[a.group()] = append(fresh[a.group()], n)
		}
	}

	for _, key := range slices.Sorted(maps.Keys(fresh)) {
		d.investigate(d.groups[key], fresh[key])
	}

	for _, n := range again {
		d.decideWithoutSession(n)
	}

	return d.finish()
}

func newDecider(s Situation, alerts []Incoming) *decider {
	d := &decider{
		Situation: s, alerts: alerts,
		groups: map[string]*store.Group{}, sessions: map[string]*investigation{}, last: map[string]*investigation{},
		kept: map[string][]*kept{}, rows: map[rowKey]int{},
	}
	d.Results, d.suppressed = make([]tarsy.DeliveredAlert, len(alerts)), make([]int, len(alerts))
	d.Touched = map[string]int64{}

	for _, i := range s.Known.Investigations {
		known := &investigation{Investigation: i}
		d.sessions[i.SessionID] = known

		if before := d.last[i.Fingerprint]; before == nil || before.SessionID < i.SessionID {
			d.last[i.Fingerprint] = known
		}
	}

	for _, k := range s.Known.Kept {
		d.kept[k.Fingerprint] = append(d.kept[k.Fingerprint], &kept{Kept: k, row: -1})
	}

	for _, g := range s.Known.Groups {
		d.refreshGroup(&g)
		d.groups[g.Key] = &g
	}

	for n, a := range alerts {
		d.suppressed[n] = -1
		d.Results[n] = tarsy.DeliveredAlert{Fingerprint: a.Session.Fingerprint, Title: a.Session.Title}
	}

	return d
}

// refreshGroup ends the storm of a group if it is over, and starts a new window if the previous one has ended.
func (d *decider) refreshGroup(g *store.Group) {
	if g.StormSessionID != nil && d.stormOver(d.sessions[*g.StormSessionID], g.LastAt) {
		g.StormSessionID = nil
		g.Created, g.WindowStart = 0, d.Now
	}

	if d.Now.Sub(g.WindowStart) >= d.Settings.StormWindow {
		g.Created, g.WindowStart = 0, d.Now
	}
}

// stormOver reports whether new alerts of a group no longer belong to its storm. Session is nil if it was deleted.
func (d *decider) stormOver(session *investigation, lastAt time.Time) bool {
	switch {
	case session == nil || d.Now.Sub(lastAt) >= d.Settings.StormWindow:
		return true
	case session.CompletedAt == nil:
		return false
	default:
		return session.FiringMembers == 0 || !d.open(session)
	}
}

// open reports whether a session is investigating its alert, or finished a short time ago.
func (d *decider) open(i *investigation) bool {
	return i.CompletedAt == nil || d.Now.Sub(*i.CompletedAt) < d.Settings.Window
}

// decideWithoutSession decides about an alert that needs no session. It returns false if the alert needs one.
func (d *decider) decideWithoutSession(n int) bool {
	a := d.alerts[n]
	if a.Resolved {
		d.resolve(n)

		return true
	}

	if session, member := d.investigated(a.Session.Fingerprint); session != nil {
		d.count(n, session, member)

		return true
	}

	values := match.Values(tarsy.Alert{AlertType: a.Session.AlertType, Data: a.Session.AlertData, Facts: a.Session.AlertFacts})
	for _, q := range d.Quiet {
		if q.Match.Match(values) {
			d.silence(n, q)

			return true
		}
	}

	return false
}

// investigated returns the open session of an alert, and the alert's row there if it is a member of a storm.
func (d *decider) investigated(fingerprint string) (*investigation, *kept) {
	if own := d.last[fingerprint]; own != nil && d.open(own) {
		return own, nil
	}

	for _, k := range d.kept[fingerprint] {
		if storm := d.stormOf(k); storm != nil && d.open(storm) {
			return storm, k
		}
	}

	return nil, nil
}

// stormOf returns the session of the storm that a suppressed alert belongs to, or nil if there is none.
func (d *decider) stormOf(k *kept) *investigation {
	if k.Reason != tarsy.SuppressedStorm || k.SessionID == nil {
		return nil
	}

	return d.sessions[*k.SessionID]
}

// count counts a repeated alert.
func (d *decider) count(n int, session *investigation, member *kept) {
	d.groups[d.alerts[n].group()].LastAt = d.Now
	d.receive(session)

	verb := "is being investigated by this session"
	if session.CompletedAt != nil {
		verb = fmt.Sprintf("was investigated by this session less than %s ago", d.Settings.Window)
	}

	if member == nil {
		d.setFiring(session, true)
		d.setResult(n, tarsy.ActionCount, "The alert "+verb+".", session.SessionID)
		d.suppress(n, tarsy.SuppressedDuplicate, session.SessionID, "")

		return
	}

	if !member.Firing {
		member.Firing = true
		session.FiringMembers++
	}

	d.setFiring(session, true)
	d.setResult(n, tarsy.ActionStorm, "The storm that the alert belongs to "+verb+".", session.SessionID)
	d.suppress(n, tarsy.SuppressedStorm, session.SessionID, "")
}

// silence suppresses an alert.
func (d *decider) silence(n int, q Quiet) {
	d.setResult(n, tarsy.ActionSilence, q.Text, "")
	d.suppress(n, q.Reason, string(q.Reason)+":"+q.Name, q.Name)
}

// resolve records that an alert is resolved.
func (d *decider) resolve(n int) {
	fp, known, session := d.alerts[n].Session.Fingerprint, false, ""

	for _, k := range d.kept[fp] {
		if storm := d.stormOf(k); storm != nil {
			known, session = true, cmp.Or(session, storm.SessionID)

			if k.Firing {
				storm.FiringMembers--
				d.setFiring(storm, storm.FiringMembers > 0)
				storm.changed = true
			}
		}

		if k.Firing {
			known, k.Firing = true, false
			d.recordResolved(n, k)
		}
	}

	// Earlier alerts of this delivery.
	for row := range d.Suppressed {
		if s := &d.Suppressed[row]; s.Fingerprint == fp {
			s.Firing = false
		}
	}

	if own := d.last[fp]; own != nil {
		known, session = true, own.SessionID
		d.setFiring(own, false)
	}

	d.setResult(n, tarsy.ActionResolve, "The alert is resolved.", session)

	if !known {
		d.setResult(n, tarsy.ActionResolve, "The alert is resolved; no session investigates it.", "")
		d.suppress(n, tarsy.SuppressedResolved, string(tarsy.SuppressedResolved), "")
	}
}

// recordResolved records that a suppressed alert no longer fires.
func (d *decider) recordResolved(n int, k *kept) {
	if k.row >= 0 {
		d.suppressed[n] = k.row

		return
	}

	d.Resolved = append(d.Resolved, k.ID)
	d.Results[n].SuppressedID = &k.ID
}

// investigate decides about new alerts of a group: one session for each, or one for all.
func (d *decider) investigate(g *store.Group, alerts []int) {
	g.LastAt = d.Now
	limit := d.Settings.Threshold

	switch {
	case g.StormSessionID != nil:
	case limit == 0 || limit > 1 && g.Created+len(alerts) <= limit:
		for _, n := range alerts {
			d.create(n)
		}

		g.Created += len(alerts)

		return
	default:
		d.beginStorm(g, alerts)
	}

	storm := d.sessions[*g.StormSessionID]
	for _, n := range alerts {
		d.join(n, storm)
	}
}

// create creates a session for an alert.
func (d *decider) create(n int) {
	session := d.alerts[n].Session
	reason := "A new alert."

	earlier := d.earlier(session.Fingerprint)
	if earlier != nil {
		reason = "The alert was investigated before, but not recently."
	}

	d.Create = append(d.Create, n)
	d.setResult(n, tarsy.ActionInvestigate, reason, session.ID)
	d.add(store.Alert{SessionID: session.ID, Fingerprint: session.Fingerprint, GroupKey: session.GroupKey, AlertState: tarsy.AlertState{
		Occurrences: 1, Times: []time.Time{d.Now}, EarlierSessionID: earlier,
	}})
}

// earlier returns the previous session that investigated an alert.
func (d *decider) earlier(fingerprint string) *string {
	id := ""
	if own := d.last[fingerprint]; own != nil {
		id = own.SessionID
	}

	for _, k := range d.kept[fingerprint] {
		if storm := d.stormOf(k); storm != nil {
			id = max(id, storm.SessionID)
		}
	}

	if id == "" {
		return nil
	}

	return &id
}

// add starts the counts of a new session.
func (d *decider) add(alert store.Alert) {
	alert.Firing, alert.LastAt, alert.Changes = true, d.Now, []time.Time{}
	created := &investigation{Investigation: store.Investigation{Alert: alert}, changed: true, created: true}
	d.sessions[alert.SessionID], d.last[alert.Fingerprint] = created, created
}

// beginStorm creates the session for a group's storm.
func (d *decider) beginStorm(g *store.Group, alerts []int) {
	id, fp := ident.New(), stormFingerprint(g.Key)
	d.Storms = append(d.Storms, Storm{SessionID: id, GroupKey: g.Key, Alerts: alerts, Earlier: g.Created})
	d.add(store.Alert{SessionID: id, Fingerprint: fp, GroupKey: g.Key, AlertState: tarsy.AlertState{
		Storm: true, Times: []time.Time{}, EarlierSessionID: d.earlier(fp),
	}})
	g.StormSessionID = &id
}

// join adds an alert to a storm.
func (d *decider) join(n int, storm *investigation) {
	d.receive(storm)
	storm.Members++
	storm.FiringMembers++
	d.setFiring(storm, true)
	d.setResult(n, tarsy.ActionStorm, "Many alerts of this group fire; one session investigates them together.", storm.SessionID)

	row := d.suppress(n, tarsy.SuppressedStorm, storm.SessionID, "")
	fp := d.alerts[n].Session.Fingerprint
	d.kept[fp] = append([]*kept{{row: row, Kept: store.Kept{
		Reason: tarsy.SuppressedStorm, SessionID: &storm.SessionID, Fingerprint: fp, Firing: true,
	}}}, d.kept[fp]...)
}

// receive counts an occurrence.
func (d *decider) receive(i *investigation) {
	i.changed = true
	i.Occurrences++
	i.LastAt = d.Now
	i.Times = appendTime(i.Times, d.Now)
}

// setFiring records whether an alert fires.
func (d *decider) setFiring(i *investigation, firing bool) {
	if i.Firing == firing {
		return
	}

	i.changed, i.Firing, i.ResolvedAt = true, firing, nil
	i.Changes = appendTime(i.Changes, d.Now)

	if !firing {
		now := d.Now
		i.ResolvedAt = &now
	}

	recent := 0

	for _, at := range i.Changes {
		if d.Now.Sub(at) < d.Settings.FlappingWindow {
			recent++
		}
	}

	i.Flapping = recent >= d.Settings.FlappingAfter
}

// appendTime appends a time and keeps only the latest ones.
func appendTime(times []time.Time, at time.Time) []time.Time {
	times = append(slices.Clone(times), at)

	return times[max(0, len(times)-tarsy.MaxAlertTimes):]
}

func (d *decider) setResult(n int, action tarsy.DeliveryAction, reason, session string) {
	result := &d.Results[n]
	result.Action, result.Reason, result.SessionID = action, reason, nil

	if session != "" {
		result.SessionID = &session
	}
}

// suppress lists an alert as suppressed and returns its index there. Alerts with the same owner, fingerprint and reason share a
// row.
func (d *decider) suppress(n int, reason tarsy.SuppressionReason, owner, silence string) int {
	a := d.alerts[n]
	key := rowKey{owner: owner, fingerprint: a.Session.Fingerprint, reason: reason}

	if row, ok := d.rows[key]; ok {
		s := &d.Suppressed[row]
		s.Occurrences++
		s.Times, s.Firing = appendTime(s.Times, d.Now), !a.Resolved
		d.suppressed[n] = row

		return row
	}

	row := store.Suppressed{Owner: owner, Alert: a.Stored, SuppressedAlert: tarsy.SuppressedAlert{
		ID: ident.New(), Reason: reason, SessionID: d.Results[n].SessionID, Silence: silence, AlertType: a.Session.AlertType,
		AlertFacts: a.Session.AlertFacts, Firing: !a.Resolved, Occurrences: 1, FirstAt: d.Now, LastAt: d.Now, Times: []time.Time{d.Now},
	}}

	d.rows[key], d.suppressed[n] = len(d.Suppressed), len(d.Suppressed)
	d.Suppressed = append(d.Suppressed, row)

	return d.rows[key]
}

// finish collects the changes in a deterministic order.
func (d *decider) finish() Decision {
	for _, id := range slices.Sorted(maps.Keys(d.sessions)) {
		i := d.sessions[id]
		if !i.changed {
			continue
		}

		d.Alerts = append(d.Alerts, i.Alert)

		if !i.created {
			d.Touched[id] = i.Version
		}
	}

	for _, key := range slices.Sorted(maps.Keys(d.groups)) {
		d.Groups = append(d.Groups, *d.groups[key])
	}

	return d.Decision
}
