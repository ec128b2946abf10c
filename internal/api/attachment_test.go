package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// called stores a session with one tool call, and returns its timeline event.
func (f *fixture) called(t *testing.T, result string, arguments any) (string, tarsy.TimelineEvent) {
	t.Helper()

	id := f.session(t, func(s *tarsy.Session) { s.AlertType, s.StageCount = "Kubernetes / Pod: läuft nicht!", 3 })

	claims, err := f.db.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: []string{"chain:k8s", "chain:chain", "chain:"}, ServerID: "server-1", Slots: 1, MaxSessions: 10, Lease: time.Minute})
	require.NoError(t, err)
	require.Len(t, claims, 1)

	raw, err := json.Marshal(arguments)
	require.NoError(t, err)

	now := f.clock.Now().UTC()
	event := tarsy.TimelineEvent{
		ID: ident.New(), SessionID: id, SequenceNumber: 1, EventType: tarsy.EventToolCall, Status: tarsy.EventCompleted, Content: result,
		Metadata:  tarsy.NewMetadata(tarsy.ToolCallMetadata{Call: "1.1.1", ServerName: "kubernetes", ToolName: "get_pods", Arguments: raw}),
		CreatedAt: now, UpdatedAt: now, CompletedAt: &now,
	}
	_, err = f.db.Hold(claims[0].Lease).Commit(t.Context(), progress.Step{Timeline: []tarsy.TimelineEvent{event}})
	require.NoError(t, err)

	return id, event
}

func TestExportIsCompleteFile(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id, event := f.called(t, "<pods> & more", map[string]any{"namespace": "shop"})
	name := "tarsy-kubernetes-pod-l-uft-nicht-" + id[:8]

	for _, query := range []string{"", "?format=json"} {
		got := f.request(t, http.MethodGet, "/api/v1/sessions/"+id+"/export"+query, "")
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, "application/json", got.header.Get("Content-Type"))
		require.Equal(t, `attachment; filename="`+name+`.json"`, got.header.Get("Content-Disposition"))
		require.Contains(t, got.body, "<pods> & more")

		export := decode[tarsy.Export](t, got)
		require.Equal(t, f.clock.Now().UTC(), export.ExportedAt)
		require.Equal(t, get[tarsy.SessionDetail](t, f, "/api/v1/sessions/"+id), export.Session)
		require.Equal(t, []tarsy.TimelineEvent{event}, export.Timeline)
		require.Equal(t, get[tarsy.Trace](t, f, "/api/v1/sessions/"+id+"/trace"), export.Trace)
	}

	got := f.request(t, http.MethodGet, "/api/v1/sessions/"+id+"/export?format=markdown", "")
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, "text/markdown; charset=utf-8", got.header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="`+name+`.md"`, got.header.Get("Content-Disposition"))
	require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	require.True(t, strings.HasPrefix(got.body, "# Kubernetes / Pod: läuft nicht!: pending\n"), got.body)
}

func TestExportFileNameIsSafeForHeader(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for alertType, slug := range map[string]string{
		"\"; filename=\"evil.exe":   "filename-evil-exe",
		"../../etc/passwd":          "etc-passwd",
		"x\r\nSet-Cookie: a=b":      "x-set-cookie-a-b",
		"日本":                        "alert",
		strings.Repeat("long ", 40): "long-long-long-long-long-long-long-long",
	} {
		id := f.session(t, func(s *tarsy.Session) { s.AlertType = alertType })
		got := f.request(t, http.MethodGet, "/api/v1/sessions/"+id+"/export", "")
		require.Equal(t, `attachment; filename="tarsy-`+slug+`-`+id[:8]+`.json"`, got.header.Get("Content-Disposition"))
		require.Empty(t, got.header.Get("Set-Cookie"))
	}
}

// portions records what was written, and the largest single write.
type portions struct {
	bytes.Buffer

	largest int
}

func (p *portions) Write(text []byte) (int, error) {
	p.largest = max(p.largest, len(text))

	return p.Buffer.Write(text)
}

func TestExportStreamsEventsAsOneDocument(t *testing.T) {
	t.Parallel()

	for _, events := range []int{0, 1, 2, 100} {
		export := &tarsy.Export{
			ExportedAt: time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC), Timeline: []tarsy.TimelineEvent{},
			Session: tarsy.SessionDetail{Session: tarsy.Session{AlertType: "<&>", MCPSelection: &tarsy.MCPSelection{}}},
		}
		for range events {
			export.Timeline = append(export.Timeline, tarsy.TimelineEvent{
				Content: strings.Repeat("<pods> & \"more\"\n", 1_000), Metadata: tarsy.Metadata(`{"arguments": [{"a": []}]}`),
			})
		}

		var want bytes.Buffer

		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		require.NoError(t, encoder.Encode(export))

		got := &portions{}
		require.NoError(t, api.WriteExport(got, export))
		require.Equal(t, want.String(), got.String())
		require.Less(t, got.largest, 30_000, "an event has 20,000 bytes, and all of them are never kept at once")
	}
}

// unwritable returns an export that fails after its first event.
func unwritable(context.Context, string) (*tarsy.Export, error) {
	return &tarsy.Export{Timeline: []tarsy.TimelineEvent{
		{Content: strings.Repeat("x", 100_000)}, {Metadata: tarsy.Metadata("{")},
	}}, nil
}

func TestTruncatedExportIsDetectable(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.api.ExportWith(unwritable)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.http.URL+"/api/v1/sessions/"+ident.New()+"/export", nil)
	require.NoError(t, err)

	response, err := f.http.Client().Do(request)
	require.NoError(t, err)

	_, err = io.ReadAll(response.Body)
	require.ErrorContains(t, err, "unexpected EOF")
	require.NoError(t, response.Body.Close())
}

func TestExportAsJSONEscapesInvisibleCharacters(t *testing.T) {
	t.Parallel()

	const hostile = "user\u202etxt.exe\u009b31m\U000e0041\u200b ok \u00e9 \U0001f469\u200d\U0001f4bb"

	f := newFixture(t)
	id := f.session(t, func(session *tarsy.Session) { session.AlertData = hostile })
	got := f.request(t, http.MethodGet, "/api/v1/sessions/"+id+"/export", "")

	require.Contains(t, got.body, `"user\u202etxt.exe\u009b31m\udb40\udc41\u200b ok é 👩`+"\u200d"+`💻"`)
	require.Equal(t, hostile, decode[tarsy.Export](t, got).Session.AlertData, "programs get all of it")
}
