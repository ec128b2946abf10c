package e2e

import (
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

// mockProgram runs `tarsy mock` with a script of the test.
func mockProgram(t *testing.T, binary, text string, flags ...string) *process {
	t.Helper()

	path := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))

	p := runProcess(t, exec.Command(binary, append([]string{"mock", "--script", path, "--listen", "127.0.0.1:0"}, flags...)...))
	p.URL = address.FindString(p.Log.WaitLine("listening on"))

	return p
}

// chatWith asks a question with Chat Completions, under a key.
func chatWith(t *testing.T, p *process, key, question string) (status int, body string) {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/v1/chat/completions",
		strings.NewReader(fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, question)))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Do(req)
	require.NoError(t, err)

	defer resp.Body.Close()

	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)

	return resp.StatusCode, string(raw)
}

// Randomness and isolation, as set by the script and the flags, work in the real program.
func TestMockProgram(t *testing.T) {
	t.Parallel()

	binary := buildProgram(t)

	t.Run("keeps callers apart by key", func(t *testing.T) { t.Parallel(); lanesByKey(t, binary) })
	t.Run("repeats its faults by seed", func(t *testing.T) { t.Parallel(); faultsBySeed(t, binary) })
}

// lanesByKey checks that two callers with different keys each have the whole script to themselves, and are verified separately.
func lanesByKey(t *testing.T, binary string) {
	t.Helper()

	p := mockProgram(t, binary, "version: 1\nisolate: key\nreplies: [{text: the first}, {text: the second}]\n")

	for _, want := range []string{"the first", "the second"} {
		status, body := chatWith(t, p, "key-of-one-caller", "hi")
		require.Equal(t, http.StatusOK, status, body)
		require.Contains(t, body, want)
	}

	_, body := chatWith(t, p, "key-of-another", "hi")
	require.Contains(t, body, "the first")

	_, raw := fetch(t, p.URL+"/_mock/lanes")

	var used struct{ Lanes []string }
	require.NoError(t, json.Unmarshal(raw, &used))
	require.Len(t, used.Lanes, 2)

	verdicts := map[int]int{}

	for _, lane := range used.Lanes {
		require.NotContains(t, lane, "caller")

		status, _ := fetch(t, p.URL+"/_mock/verify?lane="+lane)
		verdicts[status]++
	}

	require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusConflict: 1}, verdicts, "one has used its script up, one has not")
}

// faultsBySeed checks that faults depend on a seed: two runs with one seed break the same calls, another seed breaks others.
func faultsBySeed(t *testing.T, binary string) {
	t.Helper()

	const (
		script = "version: 1\nfaults: {seed: 1, rate: 0.5, kinds: ['429', '500']}\nreplies: [{text: hi, times: forever}]\n"
		calls  = 60
	)

	run := func(seed string) string {
		p := mockProgram(t, binary, script, "--seed", seed)
		defer p.Kill()

		var fate strings.Builder

		for i := range calls {
			status, _ := chatWith(t, p, "any", fmt.Sprintf("question %d", i))
			fmt.Fprintf(&fate, "%d ", status)
		}

		return fate.String()
	}

	first := run("7")
	require.Contains(t, first, "200")
	require.Contains(t, first, "429")
	require.Contains(t, first, "500")
	require.Equal(t, first, run("7"))
	require.NotEqual(t, first, run("8"))
}
