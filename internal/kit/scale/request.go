package scale

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// Request is a request that people make again and again.
type Request struct {
	Name string
	// Path returns what follows /api/v1/ in the n-th request: each uses other values of the same filter.
	Path func(n int) string
}

// Requests returns the lists and filters of the dashboard, for a database that Load has filled up to now.
// TestEveryFilterHasRequest in e2e compares them with the parameters of the API.
func Requests(now time.Time) []Request {
	day := func(n int) string { return now.AddDate(0, 0, -n%90).UTC().Format(time.RFC3339) }

	return []Request{
		sessions("list, newest first", ""),
		sessions("list, attention first (the dashboard)", "order=attention"),
		sessions("list, 200 of a page", "order=attention&limit=200"),
		sessions("status: failed or timed out", "order=attention&status=failed,timed_out"),
		sessions("status: cancelled", "status=cancelled"),
		sessions("status: in progress", "status=in_progress"),
		sessions("status: pending", "order=attention&status=pending"),
		sessions("alert type", "order=attention&alert_type=type-%d", modulo(20)),
		sessions("alert type, newest first", "alert_type=type-%d", modulo(20)),
		sessions("chain", "chain_id=chain-%d", modulo(5)),
		sessions("author", "author=user-%d", modulo(50)),
		sessions("alert type, author and status", "alert_type=type-%d&author=user-7&status=completed", modulo(20)),
		sessions("severity", "order=attention&severity=%s", one("critical", "high", "warning", "info")),
		sessions("service", "order=attention&service=%s", one("checkout", "payments", "search", "cart")),
		sessions("namespace", "order=attention&namespace=namespace-%d", modulo(40)),
		sessions("cluster", "order=attention&cluster=cluster-%d", modulo(3)),
		sessions("team", "order=attention&team=team-%d", modulo(12)),
		sessions("service and team", "order=attention&service=checkout&team=team-%d", modulo(12)),
		sessions("fingerprint", "fingerprint=%s", hashed(16)),
		sessions("label: one that many have", "order=attention&label=env%%3Dprod"),
		sessions("label: one that few have", "order=attention&label=pod%%3D%s", hashed(10)),
		sessions("outcome", "order=attention&outcome=%s", one("cause_found", "probable_cause", "inconclusive", "false_alarm", "needs_human")),
		sessions("approvals", "order=attention&approvals=waiting"),
		sessions("handling: open", "order=attention&handling=open"),
		sessions("handling: open or acknowledged, and service", "order=attention&handling=open,acknowledged&service=checkout"),
		sessions("handling: resolved", "handling=resolved"),
		sessions("assignee", "order=attention&assignee=person-%d", modulo(50)),
		sessions("tag: one that many have", "order=attention&tag=common"),
		sessions("tag: one that many have, newest first", "tag=common"),
		sessions("tag: one that few have", "order=attention&tag=rare-%d", modulo(5)),
		sessions("created before a day", "created_before=%s", func(n int) any { return day(n) }),
		sessions("created after a day", "created_after=%s&created_before=%s", func(n int) any { return day(n + 1) }, func(n int) any { return day(n) }),
		sessions("search: an identifier", "search=checkout-%s", func(n int) any { return hash(n * 8)[:8] }),
		sessions("search: a word that many contain", "search=memory"),
		sessions("search: a word that many contain, and service", "search=memory&service=checkout"),
		sessions("search: nothing matches", "search=nowhere-%d", func(n int) any { return n }),
		{"active sessions", func(int) string { return "sessions/active" }},
		{"usage of 30 days (the dashboard)", func(int) string {
			return "usage/summary?from=" + now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -29).Format(time.RFC3339)
		}},
		{"usage of the last 720 hours", func(int) string { return "usage/summary?to=" + url.QueryEscape(now.UTC().Format(time.RFC3339)) }},
		{"filter options", func(int) string { return "sessions/filter-options" }},
	}
}

// sessions returns a request for the session list.
func sessions(name, query string, args ...func(n int) any) Request {
	return Request{name, func(n int) string {
		values := make([]any, len(args))
		for i, arg := range args {
			values[i] = arg(n)
		}

		return "sessions?" + fmt.Sprintf(query, values...)
	}}
}

func modulo(many int) func(n int) any { return func(n int) any { return n % many } }

func one(values ...string) func(n int) any { return func(n int) any { return values[n%len(values)] } }

func hashed(length int) func(n int) any { return func(n int) any { return hash(n)[:length] } }

// hash returns the first 32 digits of the column of the same name in numberedSQL.
func hash(i int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))

	return hex.EncodeToString(sum[:16])
}
