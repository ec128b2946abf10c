package cli_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/cli"
)

// auditServer is a server with three rows in its log and a user with a home directory.
type auditServer struct {
	*server

	admin []string // environment of an admin
	heads string   // file of seen heads
}

func startAuditServer(t *testing.T) *auditServer {
	t.Helper()

	s := &auditServer{server: startServer(t, true)}
	s.admin = s.key(t, "root", tarsy.ScopeAdmin)

	for _, entry := range s.admin {
		if home, ok := strings.CutPrefix(entry, "HOME="); ok {
			s.heads = filepath.Join(home, ".local", "state", "tarsy", "audit-heads.json")
		}
	}

	s.appendRows(t, 3)

	return s
}

func (s *auditServer) appendRows(t *testing.T, n int) {
	t.Helper()

	for range n {
		require.NoError(t, s.Accounts().AppendAudit(t.Context(), tarsy.AuditEntry{At: tarsyNow(), Actor: "ana", Action: "session.cancel"}))
	}
}

// tamper changes the table with full rights in the database.
func (s *auditServer) tamper(t *testing.T, statements ...string) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), s.database)
	require.NoError(t, err)

	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()

	for _, statement := range append([]string{`ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only`}, statements...) {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
}

func (s *auditServer) verify(t *testing.T, args ...string) result {
	t.Helper()

	return tarsyWith(t, s.admin, "", append([]string{"audit", "verify"}, args...)...)
}

func TestAuditVerifyRemembersHeadOfGrowingLog(t *testing.T) {
	t.Parallel()

	s := startAuditServer(t)

	first := s.verify(t)
	require.Equal(t, cli.ExitOK, first.code, first.stderr)
	require.NotContains(t, first.stdout, "Unchanged")
	require.Empty(t, first.stderr)

	info, err := os.Stat(s.heads)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	info, err = os.Stat(filepath.Dir(s.heads))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	s.appendRows(t, 2)

	second := s.verify(t)
	require.Equal(t, cli.ExitOK, second.code, second.stderr)
	require.Regexp(t, `^5 rows verified\.\nUnchanged since 20[0-9T:-]+Z: row 3\.\nHead: [0-9a-f]{64}\n$`, second.stdout)

	found := jsonOf[struct {
		Rows     int64
		LastSeen struct {
			Rows int64
			Head string
			At   time.Time
		} `json:"last_seen"`
	}](t, s.admin, "audit", "verify")
	require.EqualValues(t, 5, found.LastSeen.Rows, "the second verification was remembered")
	require.Contains(t, second.stdout, found.LastSeen.Head)
	require.WithinDuration(t, time.Now(), found.LastSeen.At, time.Minute)

	again := tarsyWith(t, s.admin, "", "audit", "verify", "--server", strings.ToUpper("http")+"://"+s.Addr()+"/")
	require.Contains(t, again.stdout, "row 5", "another spelling of the address")
}

func TestAuditVerifyFailsWhenEndOfLogWasCutOff(t *testing.T) {
	t.Parallel()

	s := startAuditServer(t)
	require.Equal(t, cli.ExitOK, s.verify(t).code)

	seen, err := os.ReadFile(s.heads)
	require.NoError(t, err)

	s.tamper(t, `DELETE FROM audit_log WHERE id > 1`)

	got := s.verify(t)
	require.Equal(t, cli.ExitFailed, got.code, got.stdout)
	require.Empty(t, got.stdout)
	require.Regexp(t, `no longer contains .* a verification on 20[0-9T:-]+Z saw row 3 with the hash [0-9a-f]{64}; the log now ends with row 1`, got.stderr)
	require.Contains(t, got.stderr, "--forget-head")

	// The log has enough rows again, but with another end.
	s.appendRows(t, 2)

	got = s.verify(t)
	require.Equal(t, cli.ExitFailed, got.code, got.stdout)
	require.Contains(t, got.stderr, "row 3 has a different hash")

	after, err := os.ReadFile(s.heads)
	require.NoError(t, err)
	require.Equal(t, string(seen), string(after), "what was seen stays until somebody accepts the change")

	got = s.verify(t, "--forget-head")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.NotContains(t, got.stdout, "Unchanged")

	got = s.verify(t)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "row 3")

	s.tamper(t, `DELETE FROM audit_log`)
	require.Equal(t, cli.ExitFailed, s.verify(t).code)
	require.Equal(t, cli.ExitOK, s.verify(t, "--forget-head").code)
	require.Equal(t, cli.ExitOK, s.verify(t).code)
}

func TestAuditVerifyFailsWhenLogWasWrittenAgain(t *testing.T) {
	t.Parallel()

	s := startAuditServer(t)
	require.Equal(t, cli.ExitOK, s.verify(t).code)

	// The same rows without the author's name, as an intact chain that is longer than before.
	s.tamper(t, `DELETE FROM audit_log`)

	for range 4 {
		require.NoError(t, s.Accounts().AppendAudit(t.Context(), tarsy.AuditEntry{At: tarsyNow(), Actor: "somebody", Action: "session.cancel"}))
	}

	got := s.verify(t)
	require.Equal(t, cli.ExitFailed, got.code, got.stdout)
	require.Contains(t, got.stderr, "row 3 has a different hash, so the log was rewritten")
}

func TestAuditVerifyComparesFilesWithExpectedHeadOnly(t *testing.T) {
	t.Parallel()

	s := startAuditServer(t)
	require.Equal(t, cli.ExitOK, s.verify(t).code)

	file := filepath.Join(t.TempDir(), "audit.jsonl")
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.admin, "", "audit", "export", "-f", file).code)

	text, err := os.ReadFile(file)
	require.NoError(t, err)

	first, _, _ := strings.Cut(string(text), "\n")
	require.NoError(t, os.WriteFile(file, []byte(first+"\n"), 0o600))

	got := s.verify(t, "--file", file)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.NotContains(t, got.stdout, "Unchanged")
	require.Equal(t, cli.ExitUsage, s.verify(t, "--file", file, "--forget-head").code)
}

func TestAuditVerifyReportsUnusableFileOfHeads(t *testing.T) {
	t.Parallel()

	s := startAuditServer(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(s.heads), 0o700))

	for _, text := range []string{"", "{", `{"heads": 1}`, `{}`, `null`, `{"heads": {"http://x": {"rows": -1, "head": "x"}}}`} {
		require.NoError(t, os.WriteFile(s.heads, []byte(text), 0o600))

		got := s.verify(t)
		require.Equal(t, cli.ExitFailed, got.code, text)
		require.Contains(t, got.stderr, "cannot read which rows of the audit log were seen before, in "+s.heads)
		require.Contains(t, got.stderr, "remove the file")

		got = s.verify(t, "--forget-head")
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Contains(t, s.verify(t).stdout, "row 3")
	}

	// A directory can be neither read nor replaced, even by root.
	require.NoError(t, os.Remove(s.heads))
	require.NoError(t, os.MkdirAll(filepath.Join(s.heads, "x"), 0o700))
	require.Equal(t, cli.ExitFailed, s.verify(t).code)

	got := s.verify(t, "--forget-head")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "warning: the head is not remembered")
}

func TestAuditVerifyWithoutWritableHomeWarns(t *testing.T) {
	t.Parallel()

	s := startAuditServer(t)
	homeless := []string{}

	for _, entry := range s.admin {
		if !strings.HasPrefix(entry, "HOME=") {
			homeless = append(homeless, entry)
		}
	}

	for name, more := range map[string]string{"set HOME or XDG_STATE_HOME": "XDG_STATE_HOME=relative", "warning: the head is not remembered": "HOME=/proc/none"} {
		got := tarsyWith(t, append([]string{more}, homeless...), "", "audit", "verify")
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Contains(t, got.stdout, "3 rows verified.")
		require.Contains(t, got.stderr, name)
	}

	state := t.TempDir()
	got := tarsyWith(t, append([]string{"XDG_STATE_HOME=" + state}, homeless...), "", "audit", "verify")
	require.Equal(t, cli.ExitOK, got.code)
	require.Empty(t, got.stderr)
	require.FileExists(t, filepath.Join(state, "tarsy", "audit-heads.json"))
}

func TestConcurrentAuditVerificationsKeepEachOthersHeads(t *testing.T) {
	t.Parallel()

	s := startAuditServer(t)
	target, err := url.Parse("http://" + s.Addr())
	require.NoError(t, err)

	const servers = 32

	var (
		running sync.WaitGroup
		results [servers]result
	)

	for i := range servers {
		proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
		t.Cleanup(proxy.Close)
		running.Go(func() { results[i] = s.verify(t, "--server", proxy.URL) })
	}

	running.Wait()

	for _, got := range results {
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Empty(t, got.stderr)
	}

	text, err := os.ReadFile(s.heads)
	require.NoError(t, err)

	var found struct {
		Heads map[string]struct{ Head string }
	}
	require.NoError(t, json.Unmarshal(text, &found))
	require.Len(t, found.Heads, servers)

	for _, seen := range found.Heads {
		require.Len(t, seen.Head, len(audit.FirstHash()))
	}
}
