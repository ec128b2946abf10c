package llm_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

// endless repeats a text forever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)

	return n, nil
}

func TestLongErrorBodyIsReadInPart(t *testing.T) {
	t.Parallel()

	answer := &http.Response{StatusCode: http.StatusBadRequest, Body: io.NopCloser(&endless{text: "x"})}
	llm.BoundBody(answer)

	read, err := io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	require.Equal(t, int64(64<<10), read)
}

func TestStreamWithEndlessEventIsAborted(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"a line": strings.Repeat("x", 4096), "lines": "data: " + strings.Repeat("x", 4096) + "\n", "lines of spaces": strings.Repeat(" ", 4096) + "\r\n",
	} {
		answer := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(&endless{text: text})}
		llm.BoundBody(answer)

		read, err := io.Copy(io.Discard, answer.Body)
		require.ErrorContains(t, err, "too long", name)
		require.InDelta(t, 32<<20, read, 64<<10, name)
	}
}

func TestStreamOfOrdinaryEventsContinues(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{"lines": "data: " + strings.Repeat("x", 40_000) + "\n\n", "returns": "data: " + strings.Repeat("x", 40_000) + "\r\n\r\n"} {
		answer := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(&endless{text: text})}
		llm.BoundBody(answer)

		read, err := io.CopyN(io.Discard, answer.Body, 65<<20)
		require.NoError(t, err, name)
		require.Equal(t, int64(65<<20), read, name)
	}

	// The result does not depend on how the stream is cut into pieces.
	answer := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(iotest.OneByteReader(strings.NewReader("data: a\r\n\r\ndata: b\n\n")))}
	llm.BoundBody(answer)

	all, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "data: a\r\n\r\ndata: b\n\n", string(all))
}
