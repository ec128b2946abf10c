package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBadModerationRequestsAreRefused(t *testing.T) {
	t.Parallel()

	for body, message := range map[string]string{
		`{}`:                           "Missing required parameter: 'input'.",
		`{"input":7}`:                  "Invalid type for 'input'",
		`{"input":[]}`:                 "Invalid 'input': empty array.",
		`{"input":[{"type":"audio"}]}`: "Invalid type for 'input'",
		`{"input":["a",7]}`:            "Invalid type for 'input'",
	} {
		status, _, answer := serve(t).post(t, "/moderations", body)
		require.Equal(t, http.StatusBadRequest, status, body)
		requireError(t, answer, "invalid_request_error", "input", message)
	}
}
