package cli_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/corpus"
)

// supportBundle runs the command and returns the files of the bundle.
func supportBundle(t *testing.T, env []string, args ...string) (result, map[string]string) {
	t.Helper()

	file := filepath.Join(t.TempDir(), "bundle.tar.gz")
	got := tarsyWith(t, env, "", slices.Concat([]string{"support-bundle", "-o", file}, privateDatabase(t), args)...)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, file+"\n", got.stdout)

	opened, err := os.Open(file)
	require.NoError(t, err)

	defer func() { require.NoError(t, opened.Close()) }()

	unzipped, err := gzip.NewReader(opened)
	require.NoError(t, err)

	files, archive := map[string]string{}, tar.NewReader(unzipped)

	for {
		header, err := archive.Next()
		if err == io.EOF { //nolint:errorlint // as documented
			return got, files
		}

		require.NoError(t, err)

		content, err := io.ReadAll(archive)
		require.NoError(t, err)

		files[path.Base(header.Name)] = string(content)
	}
}

// No secret of the corpus ends up in the bundle, wherever it appears: in a server, its log, its configuration or the environment.
func TestSupportBundleHasNoSecrets(t *testing.T) {
	t.Parallel()

	samples := corpus.Samples(11)

	var (
		settings, errors []map[string]string
		metrics          strings.Builder
		env              []string
		agents           = map[string]any{}
	)

	for i, s := range samples {
		settings = append(settings, map[string]string{"path": fmt.Sprintf("agents.a%d.custom_instructions", i), "value": s.Text, "origin": "test.yaml"})
		errors = append(errors, map[string]string{"time": "2026-01-01T00:00:00Z", "text": "a call failed\nerror:\n" + s.Text})
		if !strings.Contains(s.Text, "\n") { // a metric is a single line
			metrics.WriteString("# HELP m " + s.Text + "\n")
		}

		env = append(env, fmt.Sprintf("VARIABLE_%d=%s", i, s.Text))
		agents[fmt.Sprintf("a%d", i)] = map[string]any{"custom_instructions": strings.ReplaceAll(s.Text, "{{", "{ {")}
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			_, _ = io.WriteString(w, metrics.String())
		case "/api/v1/system/config":
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"settings": settings})
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": errors})
		}
	}))
	t.Cleanup(server.Close)

	text, err := yaml.Marshal(map[string]any{"agents": agents})
	require.NoError(t, err)

	got, files := supportBundle(t, env, "--server", server.URL, "--config-dir", writeConfig(t, string(text)))

	for _, name := range []string{"configuration.json", "configuration-local.json", "diagnostics.json", "metrics.txt", "environment.txt", "doctor.json", "manifest.json"} {
		require.NotEmpty(t, files[name], "%s: %s", name, files["manifest.json"])
	}

	require.Contains(t, files["configuration-local.json"], "agents.a7.custom_instructions")
	require.Contains(t, files["environment.txt"], "VARIABLE_7\n")

	files["stderr"] = got.stderr

	for name, content := range files {
		for _, s := range samples {
			for _, secret := range s.Secrets {
				escaped, err := json.Marshal(secret)
				require.NoError(t, err)
				require.NotContains(t, content, secret, "%s: %s in %s", name, s.Kind, s.Context)
				require.NotContains(t, content, strings.Trim(string(escaped), `"`), "%s: %s in %s", name, s.Kind, s.Context)
			}
		}
	}
}

func TestSupportBundleDescribesRunningServer(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	_, files := supportBundle(t, s.key(t, "admin", tarsy.ScopeAdmin))

	var diagnostics struct {
		ServerID   string           `json:"server_id"`
		Migrations []map[string]any `json:"migrations"`
		Servers    []map[string]any `json:"servers"`
		Pools      []map[string]any `json:"pools"`
		MCPServers []map[string]any `json:"mcp_servers"`
	}

	require.NoError(t, json.Unmarshal([]byte(files["diagnostics.json"]), &diagnostics))
	require.Equal(t, s.ServerID(), diagnostics.ServerID)
	require.NotEmpty(t, diagnostics.Migrations)
	require.NotEmpty(t, diagnostics.Pools)
	require.Len(t, diagnostics.MCPServers, 1)
	require.Contains(t, files["metrics.txt"], "tarsy_build_info")
	require.Contains(t, files["configuration.json"], "system.dashboard_url")
	require.NotContains(t, files["environment.txt"], "=", "names only")
	require.Contains(t, files["manifest.json"], "goroutines.txt", "with the reason why it is missing")
}

func TestSupportBundleHasLocalPartsWithoutServer(t *testing.T) {
	t.Parallel()

	got, files := supportBundle(t, []string{"SOME_TOKEN=abc"}, "--server", "http://127.0.0.1:1")
	require.Regexp(t, `warning: \d parts are missing`, got.stderr)
	require.Contains(t, files["doctor.json"], `"check": "configuration"`)
	require.Contains(t, files["configuration-local.json"], "queue.worker_count")
	require.Equal(t, "SOME_TOKEN\n", files["environment.txt"])
	require.NotContains(t, files, "diagnostics.json")

	var manifest struct {
		Files   []string                        `json:"files"`
		Missing []struct{ File, Reason string } `json:"missing"`
	}

	require.NoError(t, json.Unmarshal([]byte(files["manifest.json"]), &manifest))
	require.Equal(t, []string{"environment.txt", "doctor.json", "configuration-local.json"}, manifest.Files)
	require.Equal(t, "configuration.json", manifest.Missing[0].File)
	require.Contains(t, manifest.Missing[0].Reason, "127.0.0.1:1")
}
