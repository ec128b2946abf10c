package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The official JavaScript SDKs, as published on npm, run against the mock server in its own process: they read its answers
// as they would read those of the real APIs. Each program is a lane and has this many checks.
func TestOfficialJavaScriptSDKs(t *testing.T) {
	t.Parallel()

	checkSDKs(t, "script.yaml", 4, map[string]int{"openai-chat.mjs": 28, "openai-responses.mjs": 27, "anthropic.mjs": 28, "google.mjs": 29})
}

// The Vercel AI SDK and LangChain.js have their own clients, stricter than the official ones, for all four APIs.
func TestVercelAISDKAndLangChainJS(t *testing.T) {
	t.Parallel()

	checkSDKs(t, "frameworks.yaml", 9, map[string]int{"frameworks.mjs": 62})
}

// checkSDKs runs programs, each with this many checks, against a mock server, in this many lanes of its script.
func checkSDKs(t *testing.T, script string, lanes int, programs map[string]int) {
	t.Helper()

	modules := sdkModules(t)
	server := startMock(t, buildProgram(t), filepath.Join("testdata", "sdk", script))

	t.Run("checks", func(t *testing.T) {
		for program, count := range programs {
			t.Run(strings.TrimSuffix(program, ".mjs"), func(t *testing.T) {
				t.Parallel()

				requireChecks(t, count, runChecks(t, modules, program, server.URL))
			})
		}
	})

	// Every reply was used in every lane, and nothing else was requested.
	status, body := fetch(t, server.URL+"/_mock/verify")
	require.Equal(t, http.StatusOK, status, "%s", body)

	var verdict struct {
		Lanes []struct {
			Lane               string
			Unused, Unexpected []string
		}
	}

	require.NoError(t, json.Unmarshal(body, &verdict), "%s", body)
	require.Len(t, verdict.Lanes, lanes)

	for _, lane := range verdict.Lanes {
		require.Empty(t, lane.Unused, lane.Lane)
		require.Empty(t, lane.Unexpected, lane.Lane)
	}
}

// sdkModules returns the directory of the installed packages. Without it, or if it is older than the lock file, the test is
// skipped, with the reason that the installation recorded.
func sdkModules(t *testing.T) string {
	t.Helper()

	cache, err := filepath.Abs("../.cache")
	require.NoError(t, err)

	modules := filepath.Join(cache, "js-sdks", "node_modules")
	if _, err := os.Stat(modules); err != nil {
		reason, _ := os.ReadFile(filepath.Join(cache, "js-sdks.reason"))
		if len(reason) == 0 {
			reason = []byte("run scripts/install-packages.sh js-sdks")
		}

		t.Skipf("the JavaScript SDKs are not installed: %s", strings.TrimSpace(string(reason)))
	}

	lock, err := os.ReadFile(filepath.Join("..", "scripts", "js-sdks", "package-lock.json"))
	require.NoError(t, err)

	installed, _ := os.ReadFile(filepath.Join(cache, "js-sdks", ".lock-hash"))
	if strings.TrimSpace(string(installed)) != fmt.Sprintf("%x", sha256.Sum256(lock)) {
		t.Skip("the installed JavaScript SDKs are not those of the lock file: run scripts/install-packages.sh js-sdks")
	}

	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("the JavaScript SDKs need node: %v", err)
	}

	return modules
}

// startMock runs the mock server on a free port, and waits until it listens.
func startMock(t *testing.T, binary, script string) *process {
	t.Helper()

	p := runProcess(t, exec.Command(binary, "mock", "--script", script, "--listen", "127.0.0.1:0"))
	p.URL = address.FindString(p.Log.WaitLine("listening on"))

	return p
}

// sdkCheck is an output line of a program of checks.
type sdkCheck struct {
	Name   string
	OK     bool
	Detail string
}

// runChecks runs a program next to the installed packages, where Node.js looks for them, with additional variables.
func runChecks(t *testing.T, modules, program, url string, env ...string) []sdkCheck {
	t.Helper()

	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "sdk"))))
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))

	var output, complaints bytes.Buffer

	// A program that hangs is ended, so that its output is shown.
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()

	command := exec.CommandContext(ctx, "node", program)
	command.Dir = dir
	command.Stdout, command.Stderr = &output, &complaints
	// The program does not get the developer's keys and addresses.
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MOCK_URL=" + url, "NO_PROXY=127.0.0.1"}, env...)
	require.NoError(t, command.Run(), "%s%s", &output, &complaints)

	var checks []sdkCheck

	for line := range strings.Lines(output.String()) {
		var c sdkCheck

		require.NoError(t, json.Unmarshal([]byte(line), &c), line)

		checks = append(checks, c)
	}

	return checks
}

// requireChecks fails unless there are exactly count checks and all of them passed.
func requireChecks(t *testing.T, count int, checks []sdkCheck) {
	t.Helper()
	require.Len(t, checks, count)

	for _, c := range checks {
		t.Run(c.Name, func(t *testing.T) { require.True(t, c.OK, c.Detail) })
	}
}

// fetch sends a GET request.
func fetch(t *testing.T, url string) (int, []byte) {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Do(req)
	require.NoError(t, err)

	defer resp.Body.Close()

	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)

	return resp.StatusCode, body
}
