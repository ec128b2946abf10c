package alert

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/match"
)

// origin names the source of an alert. Two senders can use the same fingerprint or group for different problems.
func origin(f tarsy.AlertFacts) string {
	if f.Receiver == "" {
		return string(f.Source)
	}

	return string(f.Source) + "/" + f.Receiver
}

// senderFingerprint returns a fingerprint chosen by the sender, prefixed with the origin.
func senderFingerprint(f tarsy.AlertFacts, own string) string {
	if own == "" || strings.HasPrefix(own, origin(f)+":") && len(own) <= 2*maxFact {
		return oneLine(own, 2*maxFact)
	}

	clean := oneLine(own, maxFact)
	if clean != own {
		clean = "sha256:" + digest(own)
	}

	return origin(f) + ":" + clean
}

// fingerprint returns the fingerprint of an alert: the one that is set; else one derived from the labels, if a webhook
// delivered the alert and it has any; else one derived from the alert type and the text.
func fingerprint(a tarsy.Alert) string {
	f := a.Facts
	people := f.Source == tarsy.SourceAPI || f.Source == tarsy.SourceDiscord || f.Source == tarsy.SourceSlack

	switch {
	case f.Fingerprint != "":
		return senderFingerprint(f, f.Fingerprint)
	case !people && len(f.Labels) > 0:
		return origin(f) + ":labels:" + digest(pairs(f.Labels)...)
	default:
		return origin(f) + ":text:" + digest(a.AlertType, normalize(a.Data))
	}
}

// normalize makes texts equal that differ only in white space or in the order of JSON keys.
func normalize(text string) string {
	var value any
	if len(text) <= textLimit && depth([]byte(text)) <= maxDepth && json.Unmarshal([]byte(text), &value) == nil {
		if raw, err := json.Marshal(value); err == nil {
			return string(raw)
		}
	}

	return strings.Join(strings.Fields(text), " ")
}

// groupKey returns a readable key for the group of an alert. Alerts without a name would all share one group, so the service or
// else the title is used instead. Alerts of different teams never share a group: the session of a storm belongs to one team.
func groupKey(a tarsy.Alert, groupBy []string) string {
	const longest = 500

	value := match.Values(a)

	if !slices.ContainsFunc(groupBy, func(name string) bool { return value(name) != "" }) {
		groupBy = []string{"alertname"}
	}

	parts := make([]string, 0, len(groupBy)+1)

	for _, name := range groupBy {
		if name == "alertname" {
			name = firstWithValue(value, "alertname", "service", "title")
		}

		parts = append(parts, keyPart(name)+"="+keyPart(value(name)))
	}

	if team := a.Facts.Team; team != "" && (!slices.Contains(groupBy, "team") || value("team") != team) {
		parts = append(parts, "team="+keyPart(team))
	}

	prefix, key := origin(a.Facts)+":", strings.Join(parts, ",")
	if len(prefix)+len(key) > longest {
		key = "sha256:" + digest(key)
	}

	return prefix + key
}

// firstWithValue returns the first name that has a value, or else the last name.
func firstWithValue(value func(string) string, names ...string) string {
	i := slices.IndexFunc(names, func(name string) bool { return value(name) != "" })
	if i < 0 {
		i = len(names) - 1
	}

	return names[i]
}

// keyPart quotes a string that contains a separator of the key.
func keyPart(s string) string {
	if strings.ContainsAny(s, `,="\`) {
		return strconv.Quote(s)
	}

	return s
}

// deliveryKey identifies a delivery of a receiver.
func deliveryKey(f tarsy.AlertFacts, content []byte) []byte {
	sum := sha256.Sum256(frame(string(f.Source), f.Receiver, string(content)))

	return sum[:]
}

func pairs(labels map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, name, labels[name])
	}

	return all
}

// digest hashes parts without ambiguity about where one ends and the next begins.
func digest(parts ...string) string {
	const bytes = 16 // enough to rule out collisions, accidental or deliberate

	sum := sha256.Sum256(frame(parts...))

	return hex.EncodeToString(sum[:bytes])
}

func frame(parts ...string) []byte {
	var out []byte
	for _, part := range parts {
		out = append(binary.AppendUvarint(out, uint64(len(part))), part...)
	}

	return out
}
