package tarsytest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
)

// complaints records the errors that would fail a test.
type complaints struct {
	testing.TB

	said []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
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
		c := &complaints{TB: t}
		l := &log{t: c, changed: make(chan struct{})}
		l.add([]byte(test.message))
		require.Len(t, l.Events(), 1, "the test sees it all the same")

		if test.reason == "" {
			require.Empty(t, c.said, name)

			continue
		}

		require.Len(t, c.said, 1, name)
		require.Contains(t, c.said[0], test.reason)
		require.Contains(t, c.said[0], test.message)
	}
}
