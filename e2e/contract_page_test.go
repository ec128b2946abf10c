package e2e

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// every returns the contracts. Each creates real data through the API, reads it through the API, and checks that each field
// is there with its type and value.
func (c *contracts) every() map[string]func(t *testing.T) {
	return map[string]func(t *testing.T){
		"a session":                    c.session,
		"a session without an end":     c.failedSession,
		"verdicts":                     c.verdict,
		"approvals":                    c.approvals,
		"the audit log":                c.audit,
		"what people on call do":       c.operations,
		"a session that asks again":    c.rerun,
		"a session that is talked to":  c.chat,
		"a session's status":           c.status,
		"a session's export":           c.export,
		"an alert":                     c.alert,
		"the list":                     c.list,
		"active sessions":              c.active,
		"similar sessions":             c.similar,
		"feedback":                     c.feedback,
		"handling":                     c.handling,
		"quality":                      c.quality,
		"what alerts are about":        c.facts,
		"suppressed alerts":            c.suppressed,
		"the timeline":                 c.timeline,
		"a preview of the timeline":    c.preview,
		"the metadata of tool calls":   c.toolMetadata,
		"the metadata of a fallback":   c.fallbackMetadata,
		"the metadata of native tools": c.nativeMetadata,
		"the trace":                    c.trace,
		"the trace of tool calls":      c.toolTrace,
		"a tool call that is cut off":  c.cutOff,
		"the trace of a takeover":      c.interrupted,
		"a conversation too long":      c.shortened,
		"health":                       c.health,
		"MCP servers and their tools":  c.servers,
		"providers and configuration":  c.configuration,
		"usage":                        c.usage,
		"keys":                         c.keys,
		"me":                           c.me,
		"a problem":                    c.problem,
		"notes, board and review":      c.notes,
		"background jobs":              c.jobs,
	}
}

func TestContracts(t *testing.T) {
	t.Parallel()

	c := newContracts(t)
	every, read := c.every(), readByPage(t)
	require.NotEmpty(t, read)

	var ran atomic.Int64

	// If only some contracts ran, the fields of the others are missing.
	t.Cleanup(func() {
		if !t.Failed() && int(ran.Load()) == len(every) {
			c.reportUncovered(t, read)
		}
	})

	for name, contract := range every {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ran.Add(1)
			contract(t)
		})
	}
}

// readByPage returns the fields that the dashboard reads. The dashboard's own tests maintain the list with the type checker.
func readByPage(t *testing.T) []string {
	t.Helper()

	raw, err := os.ReadFile("../web/fields.json")
	require.NoError(t, err)

	return decode[[]string](raw)
}

// reportUncovered fails the test for every field that no contract has seen with a value.
func (c *contracts) reportUncovered(t *testing.T, read []string) {
	t.Helper()

	fetched := map[string]bool{}
	for field := range c.covered {
		fetched[schemaIn(field)] = true
	}

	for _, field := range read {
		switch {
		case !fetched[schemaIn(field)]:
			t.Errorf("the page reads %s, and no contract fetches one: %s", schemaIn(field), field)
		case !c.covered[field]:
			t.Errorf("the page reads %s, which no contract has seen with a value", field)
		}
	}
}

func schemaIn(field string) string {
	name, _, _ := strings.Cut(field, ".")

	return name
}
