package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/nearest"
)

const (
	defaultLimit = 50
	maxLimit     = 200
	maxSearch    = 200
)

// checkQuery refuses parameters that the route does not know, that come twice unless they may, or that no database could hold.
func checkQuery(r *http.Request, known, repeatable []string) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return tarsy.Errorf(tarsy.CodeInvalidParameter, "the parameters after \"?\" are not URL-encoded")
	}

	for name, given := range values {
		switch {
		case !slices.Contains(known, name):
			return parameterErrorf(shown(name), "there is no parameter %q; %s", shown(name), nearest.Hint(name, known, "parameters"))
		case len(given) > 1 && !slices.Contains(repeatable, name):
			return parameterErrorf(name, "%s is given more than once", name)
		case slices.ContainsFunc(given, func(value string) bool { return value != tarsy.CleanText(value) }):
			return parameterErrorf(name, "%s is not text in UTF-8", name)
		}
	}

	return nil
}

func parameterErrorf(name, format string, args ...any) error {
	return tarsy.FieldErrorf(tarsy.CodeInvalidParameter, name, format, args...)
}

// integer and moment are parameters that arrive as text, because their errors are ours, and are documented as what
// they mean.
type (
	integer string
	moment  string
)

// Schema implements huma.SchemaProvider.
func (integer) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(maxLimit)

	return &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most, Default: defaultLimit}
}

// Schema implements huma.SchemaProvider.
func (moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// filter turns the parameters of the session list into a filter.
func (in *listInput) filter() (tarsy.SessionFilter, error) {
	f := tarsy.SessionFilter{
		AlertType: in.AlertType, ChainID: in.ChainID, Author: in.Author, Search: in.Search,
		Service: in.Service, Namespace: in.Namespace, Cluster: in.Cluster, Team: in.Team, Fingerprint: in.Fingerprint,
	}

	if utf8.RuneCountInString(in.Search) > maxSearch {
		return f, parameterErrorf("search", "search is longer than %d characters", maxSearch)
	}

	var err error

	f.Statuses, err = parseValues("status", in.Status, tarsy.SessionStatuses())
	if err != nil {
		return f, err
	}

	f.Outcomes, err = parseValues("outcome", in.Outcome, tarsy.Outcomes())
	if err != nil {
		return f, err
	}

	if in.Approvals != "" {
		f.Approvals, err = oneOfParameter("approvals", in.Approvals, tarsy.ApprovalWaiting)
		if err != nil {
			return f, err
		}
	}

	if in.Severity != "" {
		f.Severity, err = oneOfParameter("severity", in.Severity, tarsy.Severities()...)
		if err != nil {
			return f, err
		}
	}

	f.Labels, err = parseLabels(in.Label)
	if err != nil {
		return f, err
	}

	f.CreatedAfter, err = parseMoment("created_after", in.CreatedAfter)
	if err != nil {
		return f, err
	}

	f.CreatedBefore, err = parseMoment("created_before", in.CreatedBefore)
	if err != nil {
		return f, err
	}

	f.Limit, err = pageLimit(in.Limit)
	if err != nil {
		return f, err
	}

	f.Order, err = oneOfParameter("order", in.Order, tarsy.OrderNewest, tarsy.OrderAttention)
	if err != nil {
		return f, err
	}

	if f.Search != "" {
		f.Order = tarsy.OrderRelevance
	}

	if in.Cursor != "" {
		f.After, err = parseCursor(in.Cursor, f.Order)
	}

	return f, err
}

// parseLabels reads the labels that an alert must have.
func parseLabels(texts []string) (map[string]string, error) {
	if len(texts) > tarsy.MaxLabels {
		return nil, parameterErrorf("label", "label is given more than %d times", tarsy.MaxLabels)
	}

	labels := make(map[string]string, len(texts))

	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, parameterErrorf("label", "label must be name=value, not %q", shown(text))
		}

		if earlier, given := labels[name]; given && earlier != value {
			return nil, parameterErrorf("label", "label %q is given with two values; all labels must match", shown(name))
		}

		labels[name] = value
	}

	return labels, nil
}

// parseNumber reads a parameter that is a number from one to most.
func parseNumber(name, text string, most int) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > most {
		return 0, parameterErrorf(name, "%s must be a number from 1 to %d", name, most)
	}

	return number, nil
}

// oneOfParameter reads a parameter that has few values; the first is meant where it is left out.
func oneOfParameter[S ~string](name, text string, values ...S) (S, error) {
	switch {
	case text == "":
		return values[0], nil
	case !slices.Contains(values, S(text)):
		return "", parameterErrorf(name, "%s must be one of %s, not %q", name, listed(names(values)), shown(text))
	default:
		return S(text), nil
	}
}

// parseValues reads a parameter that is a list of values, separated by commas; each counts once.
func parseValues[S ~string](name, text string, values []S) ([]S, error) {
	if text == "" {
		return nil, nil
	}

	var chosen []S

	for part := range strings.SplitSeq(text, ",") {
		value := S(strings.TrimSpace(part))
		if !slices.Contains(values, value) {
			return nil, parameterErrorf(name, "there is no %s %q; there are %s", name, shown(part), listed(names(values)))
		}

		if !slices.Contains(chosen, value) {
			chosen = append(chosen, value)
		}
	}

	return chosen, nil
}

// parseIDParameter checks a parameter that is an id, or left out.
func parseIDParameter(name, text string) error {
	if text == "" || tarsy.ValidID(text) {
		return nil
	}

	return parameterErrorf(name, "%s must be an id", name)
}

// pageLimit reads how many rows a page has.
func pageLimit(limit integer) (int, error) {
	if limit == "" {
		return defaultLimit, nil
	}

	return parseNumber("limit", string(limit), maxLimit)
}

func names[S ~string](values []S) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}

	return texts
}

func parseMoment(name string, text moment) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // not being there is an answer
	}

	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return nil, parameterErrorf(name, "%s must be a time such as 2026-11-15T10:00:00Z", name)
	}

	return &at, nil
}

// formatCursor makes the place after an item.
func formatCursor(last tarsy.SessionItem, order tarsy.SessionOrder) (string, error) {
	return encodeCursor(*cursorAfter(last, order))
}

func cursorAfter(last tarsy.SessionItem, order tarsy.SessionOrder) *tarsy.SessionCursor {
	cursor := &tarsy.SessionCursor{CreatedAt: last.CreatedAt, ID: last.ID}

	switch order {
	case tarsy.OrderAttention:
		cursor.Rank = new(last.Rank())
	case tarsy.OrderRelevance:
		cursor.Tier = &last.Match.Tier
	case tarsy.OrderNewest:
	}

	return cursor
}

// parseCursor reads a place in a list of one order. A place of the other order means nothing there.
func parseCursor(text string, order tarsy.SessionOrder) (*tarsy.SessionCursor, error) {
	wrong := tarsy.FieldErrorf(tarsy.CodeInvalidCursor, "cursor",
		"cursor must be the next_cursor of the page before, unchanged, and the order must be the same")

	var cursor tarsy.SessionCursor

	if !decodeCursor(text, &cursor) || cursor.CreatedAt.IsZero() || !tarsy.ValidID(cursor.ID) ||
		(cursor.Rank != nil) != (order == tarsy.OrderAttention) || cursor.Rank != nil && !isRank(*cursor.Rank) ||
		(cursor.Tier != nil) != (order == tarsy.OrderRelevance) || cursor.Tier != nil && *cursor.Tier != 0 && *cursor.Tier != 1 {
		return nil, wrong
	}

	return &cursor, nil
}

func isRank(rank int) bool {
	return rank == tarsy.RankApproval || slices.ContainsFunc(tarsy.SessionStatuses(), func(status tarsy.SessionStatus) bool { return status.Rank() == rank })
}
