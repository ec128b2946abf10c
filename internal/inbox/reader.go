package inbox

import (
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
)

// Reader makes alerts of what senders post: complete and routed. It stores nothing.
type Reader struct {
	Config *config.Config
	Chains *chain.Catalog
	// AllowsRunbook reports whether a runbook may be fetched from a URL.
	AllowsRunbook func(url string) bool
}

// Read reads a body that was posted to a receiver. The matches are those of the alerts, in their order.
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

// Complete derives what an alert is about and applies the routes. It is called once for an alert.
func (r Reader) Complete(a *tarsy.Alert) (chain.RouteMatch, error) {
	r.deriveFacts(a)

	return r.route(a)
}

func (r Reader) deriveFacts(a *tarsy.Alert) {
	alert.Complete(a, r.Config.Alerts.Fields, r.Config.Alerts.GroupBy)
}

// route applies the routes. An alert that has no runbook then gets the one that it links to, if that may be fetched.
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
