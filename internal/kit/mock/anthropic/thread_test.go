package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestThreadThatCannotBeContinuedIsRefused(t *testing.T) {
	t.Parallel()

	const request = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],`

	s := serve(t)

	for name, test := range map[string]struct {
		thread, kind, message, code string
		status                      int
	}{
		"unknown": {`{"type":"continue","previous_message_id":"msg_x"}`, "not_found_error", "No thread state was found", "thread_not_found", http.StatusNotFound},
		"no id":   {`{"type":"continue"}`, "invalid_request_error", "thread.continue.previous_message_id: Field required", "", http.StatusBadRequest},
		"no type": {`{"type":"close"}`, "invalid_request_error", "thread: Input tag 'close' found using 'type' does not match", "", http.StatusBadRequest},
	} {
		response, body := s.post("/v1/messages", request+`"thread":`+test.thread+`}`)
		require.Equal(t, test.status, response.StatusCode, name)

		var failure struct {
			Error struct {
				Type, Message string
				Details       struct {
					Code string `json:"error_code"`
				}
			}
		}

		require.NoError(t, json.Unmarshal([]byte(body), &failure))
		require.Equal(t, test.kind, failure.Error.Type, name)
		require.Contains(t, failure.Error.Message, test.message, name)
		require.Equal(t, test.code, failure.Error.Details.Code, name)
	}

	// A truncated answer is not kept, and neither is one without a thread.
	s = serve(t, script.Reply{Text: "one two", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassTransient, Message: "broke"}}, script.Reply{Text: "one"})
	_, broken := s.post("/v1/messages", request+`"stream":true,"thread":{"type":"create"}}`)
	_, single := s.post("/v1/messages", request+`"stream":true}`)

	for _, stream := range []string{broken, single} {
		_, rest, _ := strings.Cut(stream, `"id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		response, _ := s.post("/v1/messages", request+`"thread":{"type":"continue","previous_message_id":"`+id+`"}}`)
		require.Equal(t, http.StatusNotFound, response.StatusCode)
	}
}
