package tarsytest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
)

// recordedErrors records the errors that would fail a test.
type recordedErrors struct {
	testing.TB

	errors []string
}

func (c *recordedErrors) Errorf(format string, args ...any) {
	c.errors = append(c.errors, fmt.Sprintf(format, args...))
}

func TestMessageViolatingSchemaFailsTest(t *testing.T) {
	t.Parallel()

	established := `{"type":"connection.established","connection_id":"` + ident.New() + `"}`

	for name, test := range map[string]struct{ message, reason string }{
		"a good one":            {established, ""},
		"a type nobody knows":   {`{"type":"session.exploded"}`, `"session.exploded" is not a type of message`},
		"a field nobody knows":  {strings.Replace(established, "}", `,"mood":"good"}`, 1), "mood"},
		"a field that is short": {`{"type":"connection.established"}`, "connection_id"},
	} {
		c := &recordedErrors{TB: t}
		l := &log{t: c, changed: make(chan struct{})}
		l.add([]byte(test.message))
		require.Len(t, l.Events(), 1, "the test sees it all the same")

		if test.reason == "" {
			require.Empty(t, c.errors, name)

			continue
		}

		require.Len(t, c.errors, 1, name)
		require.Contains(t, c.errors[0], test.reason)
		require.Contains(t, c.errors[0], test.message)
	}
}
