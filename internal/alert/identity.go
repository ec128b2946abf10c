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

// origin names where alerts come from. Two senders may use the same fingerprints and groups for different problems.
func origin(f tarsy.AlertFacts) string {
	if f.Receiver == "" {
		return string(f.Source)
	}

	return string(f.Source) + "/" + f.Receiver
}

// senderFingerprint is a fingerprint that the sender chose, with the origin as its prefix.
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

// fingerprint returns the fingerprint of an alert: as it is set; else, for alerts of senders that have labels, made of them; else
// of the alert type and the text.
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

// groupKey returns what the group of an alert is made of, for people to read. Alerts without a name would all be one group: their
// service, or else their title, stands for it. Alerts of different teams are never one group: the session of a storm belongs to one team.
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

// firstWithValue returns the first name that has a value, else the last.
func firstWithValue(value func(string) string, names ...string) string {
	i := slices.IndexFunc(names, func(name string) bool { return value(name) != "" })
	if i < 0 {
		i = len(names) - 1
	}

	return names[i]
}

// keyPart quotes what could be mistaken for the next part.
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

// digest is a hash that tells apart where one part ends and the next begins.
func digest(parts ...string) string {
	const bytes = 16 // enough that nobody meets a second text by chance or within reason

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
