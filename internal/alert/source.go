package alert

import (
	"encoding/json"
	"net/http"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// Source is a kind of sender: how its webhooks are read and verified, what one looks like, and how people connect it. A source is a file in
// this package, a value in the list below and a name in tarsy.WebhookSources.
type Source struct {
	Name tarsy.AlertSource
	// Sample is a body for a made-up alert: a template of the times Now and Since, and of an ID.
	Sample string
	// Connect is what people paste or do at the sender.
	Connect func(Endpoint) string

	// read reads a body.
	read func(r config.Receiver, body []byte) (reading, error)
	// recognizes reports whether a body that was sent as one alert is one of this sender. It needs a receiver that always exists.
	recognizes func(object map[string]json.RawMessage) bool
	signing    signing
}

// reading is what a body says.
type reading struct {
	reports []report
	// id identifies the delivery at its sender; empty if only its content does.
	id string
	// other is what a body without alerts reports, in a sentence.
	other string
}

// sources are all kinds of senders. Of those that recognize a body the first is taken.
func sources() []Source {
	return []Source{grafana(), alertmanager(), pagerDuty(), sentry(), datadog(), cloudWatch(), generic()}
}

// Find returns the source with a name.
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

// signing is how a sender signs, with a secret that it has in common with the receiver: HMAC-SHA256 in hexadecimal digits.
type signing struct {
	// headers are where the signature is, the usual one first.
	headers []string
	// prefix stands before the digits, such as sha256=.
	prefix string
	// bare tells that the digits may also stand alone.
	bare bool
	// also are texts before the body that may be signed with it.
	also func(http.Header) []string
}

// signedByProxies is for senders that do not sign: proxies and scripts in front of them do.
func signedByProxies() signing {
	return signing{headers: []string{"X-Signature-256", "X-Hub-Signature-256", "X-Signature"}, prefix: "sha256=", bare: true}
}
