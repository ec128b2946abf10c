package alert

import (
	"bytes"
	"encoding/json"
	"strconv"
	"text/template"
	"time"

	"tarsy.dev/tarsy"
)

// Sample returns a sender's body for a made-up alert that has been firing for five minutes, or nil for sources that are not
// webhooks. The alert is always the same, so a second sample counts as a repetition. The generic sample uses well-known names;
// a receiver with a mapping may not find its facts in it.
func Sample(source tarsy.AlertSource, now time.Time) []byte {
	from, ok := Find(source)
	if !ok {
		return nil
	}

	const since = 5 * time.Minute

	var out bytes.Buffer

	err := template.Must(template.New("").Parse(from.Sample)).Execute(&out, map[string]string{
		"Now":   now.UTC().Format(time.RFC3339Nano),
		"Since": now.Add(-since).UTC().Format(time.RFC3339Nano),
		"ID":    "tarsy-test-" + strconv.FormatInt(now.UnixNano(), 36),
	})
	if err != nil || !json.Valid(out.Bytes()) {
		return nil // unreachable: a test reads every sample
	}

	return out.Bytes()
}
