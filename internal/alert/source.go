package alert

import (
	"encoding/json"
	"net/http"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// Source is a kind of sender: how its webhooks are parsed and verified, a sample, and how to connect it. A source is a file in
// this package, an entry in the list below and a name in tarsy.WebhookSources.
type Source struct {
	Name tarsy.AlertSource
	// Sample is the body of a made-up alert: a template with the times Now and Since, and an ID.
	Sample string
	// Connect returns the configuration or instructions for the sender.
	Connect func(Endpoint) string

	read func(r config.Receiver, body []byte) (reading, error)
	// recognizes reports whether a body submitted as a single alert is from this sender. It requires that a receiver of the
	// source always exists.
	recognizes func(object map[string]json.RawMessage) bool
	signing    signing
}

// reading is the parsed body.
type reading struct {
	reports []report
	// id identifies the delivery at its sender; empty if only its content identifies it.
	id string
	// other describes a body without alerts in one sentence.
	other string
}

// sources returns all kinds of senders. The first one that recognizes a body wins.
func sources() []Source {
	return []Source{grafana(), alertmanager(), pagerDuty(), sentry(), datadog(), cloudWatch(), generic()}
}

// Find returns the source with this name.
func Find(name tarsy.AlertSource) (Source, bool) {
	all := sources()
	i := slices.IndexFunc(all, func(s Source) bool { return s.Name == name })

	if i < 0 {
		return Source{}, false
	}

	return all[i], true
}

func sourceOf(r config.Receiver) (Source, error) {
	s, ok := Find(tarsy.AlertSource(r.Source))
	if !ok {
		return s, tarsy.Errorf(tarsy.CodeNotFound, "There is no kind of receiver with the name %q.", oneLine(r.Source, maxFact))
	}

	return s, nil
}

// signing is how a sender signs with a shared secret: HMAC-SHA256, hex encoded.
type signing struct {
	// headers may contain the signature, the usual one first.
	headers []string
	// prefix precedes the digits, for example sha256=.
	prefix string
	// bare allows the digits without the prefix.
	bare bool
	// also returns texts that may precede the body in the signed content.
	also func(http.Header) []string
}

// signedByProxies is for senders that do not sign by themselves; a proxy or script in front of them does.
func signedByProxies() signing {
	return signing{headers: []string{"X-Signature-256", "X-Hub-Signature-256", "X-Signature"}, prefix: "sha256=", bare: true}
}
