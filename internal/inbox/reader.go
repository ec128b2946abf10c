package inbox

import (
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
)

// Reader turns what senders post into complete and routed alerts. It stores nothing.
type Reader struct {
	Config *config.Config
	Chains *chain.Catalog
	// AllowsRunbook reports whether a runbook can be fetched from a URL.
	AllowsRunbook func(url string) bool
}

// Read parses a body posted to a receiver. The matches correspond to the alerts, in order.
func (r Reader) Read(receiver config.Receiver, body []byte) (tarsy.Delivery, []chain.RouteMatch, error) {
	delivery, err := alert.Read(receiver, body, r.Config.Alerts.Fields, r.Config.Alerts.GroupBy)
	if err != nil {
		return tarsy.Delivery{}, nil, err
	}

	matches := make([]chain.RouteMatch, len(delivery.Alerts))

	for i := range delivery.Alerts {
		if matches[i], err = r.route(&delivery.Alerts[i]); err != nil {
			return tarsy.Delivery{}, nil, err
		}
	}

	return delivery, matches, nil
}

// Complete derives the facts of an alert and applies the routes. Call it once per alert.
func (r Reader) Complete(a *tarsy.Alert) (chain.RouteMatch, error) {
	r.deriveFacts(a)

	return r.route(a)
}

func (r Reader) deriveFacts(a *tarsy.Alert) {
	alert.Complete(a, r.Config.Alerts.Fields, r.Config.Alerts.GroupBy)
}

// route applies the routes. An alert without a runbook then uses the one it links to, if fetching that is allowed.
func (r Reader) route(a *tarsy.Alert) (chain.RouteMatch, error) {
	found, err := r.Chains.ApplyRoutes(a)
	if err != nil || a.Runbook != "" || a.RunbookURL != "" {
		return found, err
	}

	i := slices.IndexFunc(a.Facts.Links, func(l tarsy.AlertLink) bool {
		return l.Kind == tarsy.LinkRunbook && r.AllowsRunbook(l.URL)
	})
	if i >= 0 {
		a.RunbookURL = a.Facts.Links[i].URL
	}

	return found, nil
}
