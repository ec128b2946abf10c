package react

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/agent/quote"
)

func TestSchemaIsDescribedInOneLine(t *testing.T) {
	t.Parallel()

	deep := strings.Repeat(`{"properties":{"a":`, 6) + `{"type":"string"}` + strings.Repeat(`}}`, 6)

	for raw, want := range map[string]string{
		``: "unknown", `{`: "unknown", `null`: "none", `{}`: "none", `{"type":"object"}`: "none", `[1, 2]`: "[1,2]",
		`{"properties":{"b":{},"a":{"type":"integer"}},"required":["b"]}`: "{b: any, required; a: integer}",
		`{"properties":{"a":{"description":"x\n<!-- y"}}}`:                "{a: any (x &lt;!-- y)}",
		`{"properties":{"a":true}}`:                                       `{"properties":{"a":true}}`,
		deep:                                                              "{a: {a: {a: any}}}",
	} {
		require.Equal(t, want, describeSchema(json.RawMessage(raw)), raw)
	}

	long := describeSchema(json.RawMessage(`{"properties":{"a":{"description":"` + strings.Repeat("x", 10_000) + `"}}}`))
	require.LessOrEqual(t, quote.Tokens(long), schemaTokens)
}
