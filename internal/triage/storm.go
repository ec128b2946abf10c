package triage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// maxStormAlerts is how many members the text of a storm lists.
	maxStormAlerts = 50
	// maxStormDetails is how many of them it quotes, and maxStormDetail how much of each.
	maxStormDetails, maxStormDetail = 3, 4000
)

// stormFingerprint identifies the storms of a group.
func stormFingerprint(groupKey string) string {
	sum := sha256.Sum256([]byte("storm\x00" + groupKey))

	return hex.EncodeToString(sum[:16])
}

// stormAlert returns the alert for the session of a storm: the facts that its first members share, and a list of them.
func stormAlert(storm Storm, delivery []Incoming, author string) tarsy.Alert {
	members := make([]Incoming, len(storm.Alerts))
	for i, n := range storm.Alerts {
		members[i] = delivery[n]
	}

	first := members[0]
	facts := commonFacts(members)
	facts.Title = plaintext.Cut("Storm: "+groupTitle(storm.GroupKey, facts), tarsy.MaxTitle)
	facts.Fingerprint, facts.GroupKey = stormFingerprint(storm.GroupKey), storm.GroupKey
	facts.Source, facts.Receiver = first.Session.Source, first.Session.Receiver

	return tarsy.Alert{
		AlertType: first.Session.AlertType, ChainID: first.Stored.ChainID, Data: stormText(storm, facts, members),
		Runbook: first.Stored.Runbook, RunbookURL: first.Stored.RunbookURL, MCPSelection: first.Stored.MCPSelection,
		Author: author, Facts: facts,
	}
}

func alerts(n int) string {
	if n == 1 {
		return "1 alert"
	}

	return fmt.Sprintf("%d alerts", n)
}

// groupTitle returns a title for a group. Its key is the origin followed by what its alerts have in common; a long key is a
// hash.
func groupTitle(key string, facts tarsy.AlertFacts) string {
	_, labels, ok := strings.Cut(key, ":")

	switch {
	case !ok:
		return key
	case strings.HasPrefix(labels, "sha256:"):
		return cmp.Or(labelText(facts.Labels, nil), key)
	case strings.Contains(labels, `"`): // a quoted part may contain a comma
		return labels
	}

	var (
		name   string
		others []string
	)

	for part := range strings.SplitSeq(labels, ",") {
		if value, ok := strings.CutPrefix(part, "alertname="); ok {
			name = value
		} else if !strings.HasSuffix(part, "=") && part != "team="+facts.Team { // the team is shown next to the title
			others = append(others, part)
		}
	}

	switch {
	case name == "":
		return strings.Join(others, ", ")
	case others == nil:
		return name
	default:
		return name + " (" + strings.Join(others, ", ") + ")"
	}
}

// commonFacts returns the facts that all members of a storm share, with the highest severity and the earliest time.
func commonFacts(members []Incoming) tarsy.AlertFacts {
	first := members[0].Session.AlertFacts
	facts := tarsy.AlertFacts{
		Severity: first.Severity, Service: first.Service, Namespace: first.Namespace, Cluster: first.Cluster, Team: first.Team,
		Labels: maps.Clone(first.Labels), Links: slices.Clone(first.Links), StartsAt: first.StartsAt,
	}

	for _, m := range members[1:] {
		s := m.Session.AlertFacts

		if s.Severity.Level() > facts.Severity.Level() {
			facts.Severity = s.Severity
		}

		for _, pair := range []struct {
			common *string
			value  string
		}{{&facts.Service, s.Service}, {&facts.Namespace, s.Namespace}, {&facts.Cluster, s.Cluster}, {&facts.Team, s.Team}} {
			if *pair.common != pair.value {
				*pair.common = ""
			}
		}

		maps.DeleteFunc(facts.Labels, func(name, value string) bool { return s.Labels[name] != value })
		facts.Links = slices.DeleteFunc(facts.Links, func(link tarsy.AlertLink) bool { return !slices.Contains(s.Links, link) })

		if s.StartsAt != nil && (facts.StartsAt == nil || s.StartsAt.Before(*facts.StartsAt)) {
			facts.StartsAt = s.StartsAt
		}
	}

	return facts
}

// stormText describes a storm to the agents.
func stormText(storm Storm, facts tarsy.AlertFacts, members []Incoming) string {
	var text strings.Builder

	fmt.Fprintf(&text, "A storm of alerts of one group: %s so far, and more may follow.\n", alerts(len(members)))
	fmt.Fprintf(&text, "Investigate what they have in common.\n\nGroup: %s\n", storm.GroupKey)

	if storm.Earlier > 0 {
		fmt.Fprintf(&text, "Alerts of the group that are investigated by themselves: %d\n", storm.Earlier)
	}

	if len(facts.Labels) > 0 {
		fmt.Fprintf(&text, "Common labels: %s\n", labelText(facts.Labels, nil))
	}

	text.WriteString("\nAlerts:\n")

	for i, m := range members {
		if i == maxStormAlerts {
			fmt.Fprintf(&text, "- and %d more\n", len(members)-i)

			break
		}

		s := m.Session
		fmt.Fprintf(&text, "- %s", s.Title)

		if s.Severity != "" {
			fmt.Fprintf(&text, " [%s]", s.Severity)
		}

		if s.StartsAt != nil {
			fmt.Fprintf(&text, " since %s", s.StartsAt.UTC().Format(time.RFC3339))
		}

		if own := labelText(s.Labels, facts.Labels); own != "" {
			fmt.Fprintf(&text, " (%s)", plaintext.Cut(own, maxStormDetail))
		}

		text.WriteByte('\n')
	}

	for i, m := range members[:min(len(members), maxStormDetails)] {
		fmt.Fprintf(&text, "\nAlert %d in full:\n%s\n", i+1, plaintext.Cut(m.Session.AlertData, maxStormDetail))
	}

	return text.String()
}

// labelText lists labels except those in common.
func labelText(labels, common map[string]string) string {
	var parts []string

	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if value, ok := common[name]; !ok || value != labels[name] {
			parts = append(parts, name+"="+labels[name])
		}
	}

	return strings.Join(parts, ", ")
}
