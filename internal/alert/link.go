package alert

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxURL is the maximum length of a link. Prometheus links contain the whole expression of a rule.
const maxURL = 4096

// linkNames are the annotations and fields that links are read from, in display order.
var linkNames = []struct {
	kind  tarsy.AlertLinkKind
	names []string
}{
	{tarsy.LinkGenerator, []string{"generator_url", "generatorURL"}},
	{tarsy.LinkDashboard, []string{"dashboard_url", "dashboardURL", "dashboard"}},
	{tarsy.LinkPanel, []string{"panel_url", "panelURL"}},
	{tarsy.LinkRunbook, []string{"runbook_url", "runbookURL", "runbook"}},
	{tarsy.LinkSilence, []string{"silence_url", "silenceURL"}},
	{tarsy.LinkIncident, []string{"incident_url", "incidentURL", "html_url"}},
}

// cleanLinks returns the safe links, deduplicated and bounded; it is never nil.
func cleanLinks(links []tarsy.AlertLink) []tarsy.AlertLink {
	clean := []tarsy.AlertLink{}

	for _, link := range links {
		address, ok := cleanURL(link.URL)
		link.URL = address

		if ok && isLinkKind(link.Kind) && !slices.Contains(clean, link) && len(clean) < tarsy.MaxAlertLinks {
			clean = append(clean, link)
		}
	}

	slices.SortStableFunc(clean, func(a, b tarsy.AlertLink) int { return linkOrder(a.Kind) - linkOrder(b.Kind) })

	return clean
}

func isLinkKind(kind tarsy.AlertLinkKind) bool { return linkOrder(kind) >= 0 }

func linkOrder(kind tarsy.AlertLinkKind) int {
	for i, known := range linkNames {
		if known.kind == kind {
			return i
		}
	}

	return -1
}

// cleanURL returns an absolute http or https URL. It rejects credentials in the URL: they would be shown to everyone.
func cleanURL(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxURL || strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || plaintext.Invisible(r) || r == unicode.ReplacementChar || r == '\\'
	}) {
		return "", false
	}

	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}

	return u.String(), true
}
