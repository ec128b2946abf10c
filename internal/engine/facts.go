package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maskFacts cleans and masks the facts of an alert. Links that contain a secret are dropped, because a masked URL is useless.
func maskFacts(facts tarsy.AlertFacts, mask func(string) string) tarsy.AlertFacts {
	facts = cleanFacts(facts)

	// Most alerts contain no secret, and one pass over the whole text is cheaper than one per part.
	if text := factsText(facts); mask(text) == text {
		return facts
	}

	for _, text := range []*string{
		&facts.Title, &facts.Service, &facts.Namespace, &facts.Cluster, &facts.Team, &facts.GroupKey,
	} {
		*text = mask(*text)
	}

	labels := make(map[string]string, len(facts.Labels))
	for name, value := range facts.Labels {
		labels[mask(name)] = maskLabel(name, value, mask)
	}

	facts.Labels = labels
	facts.Links = slices.DeleteFunc(facts.Links, func(link tarsy.AlertLink) bool { return mask(link.URL) != link.URL })

	// The fingerprint must remain distinct from others.
	if mask(facts.Fingerprint) != facts.Fingerprint {
		sum := sha256.Sum256([]byte(facts.Fingerprint))
		facts.Fingerprint = hex.EncodeToString(sum[:])
	}

	return facts
}

// maskLabel masks a value together with its name, because most secrets are recognized by their name.
func maskLabel(name, value string, mask func(string) string) string {
	if masked, ok := strings.CutPrefix(mask(name+": "+value), name+": "); ok {
		return masked
	}

	return mask(value)
}

// factsText returns everything that maskFacts can change, one part per line; empty if the alert has no facts.
func factsText(facts tarsy.AlertFacts) string {
	lines := []string{facts.Title, facts.Service, facts.Namespace, facts.Cluster, facts.Team, facts.GroupKey, facts.Fingerprint}
	for name, value := range facts.Labels {
		lines = append(lines, name+": "+value)
	}

	for _, link := range facts.Links {
		lines = append(lines, link.URL)
	}

	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })

	return strings.Join(lines, "\n")
}

// cleanFacts removes characters that PostgreSQL cannot store. The result shares no memory with the argument.
func cleanFacts(facts tarsy.AlertFacts) tarsy.AlertFacts {
	for _, text := range []*string{
		&facts.Title, &facts.Service, &facts.Namespace, &facts.Cluster, &facts.Team, &facts.Fingerprint, &facts.GroupKey, &facts.Receiver,
	} {
		*text = plaintext.Clean(*text)
	}

	labels := make(map[string]string, len(facts.Labels))
	for _, name := range slices.Sorted(maps.Keys(facts.Labels)) {
		labels[plaintext.Clean(name)] = plaintext.Clean(facts.Labels[name])
	}

	facts.Labels = labels
	facts.Links = slices.Clone(facts.Links)

	for i := range facts.Links {
		facts.Links[i].URL = plaintext.Clean(facts.Links[i].URL)
	}

	if facts.StartsAt != nil {
		at := calendar.Time(*facts.StartsAt)
		facts.StartsAt = &at
	}

	return facts
}
