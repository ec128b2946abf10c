package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirstMatchingRuleDecides(t *testing.T) {
	t.Parallel()

	approvals := Approvals{Rules: []ApprovalRule{
		{Name: "dev", Server: "cluster", Tool: "delete_*", Arguments: map[string]string{"metadata.namespace": "dev-.*"}, Policy: PolicyAlways},
		{Name: "many", Tool: "scale", Arguments: map[string]string{"replicas": "[0-9]{3,}"}, Policy: PolicyNever},
		{Name: "rest", Server: "cluster", Policy: PolicyAsk},
	}}

	tests := map[string]struct {
		server, tool, arguments string
		policy                  Policy
		rule                    string
	}{
		"an argument matches":           {"cluster", "delete_pod", `{"metadata":{"namespace":"dev-1"}}`, PolicyAlways, "dev"},
		"only a part of it matches":     {"cluster", "delete_pod", `{"metadata":{"namespace":"prod dev-1"}}`, PolicyAsk, "rest"},
		"it has a second line":          {"cluster", "delete_pod", `{"metadata":{"namespace":"prod\ndev-1"}}`, PolicyAsk, "rest"},
		"it is missing":                 {"cluster", "delete_pod", `{}`, PolicyAsk, "rest"},
		"it is no object":               {"cluster", "delete_pod", `{"metadata":"namespace"}`, PolicyAsk, "rest"},
		"a key comes twice":             {"cluster", "delete_pod", `{"metadata":{"namespace":"prod","namespace":"dev-1"}}`, PolicyAsk, "rest"},
		"a key differs in case":         {"cluster", "delete_pod", `{"metadata":{"namespace":"dev-1"},"Metadata":{"namespace":"prod"}}`, PolicyAsk, "rest"},
		"the arguments are text":        {"cluster", "delete_pod", `namespace: dev-1`, PolicyAsk, "rest"},
		"more follows the arguments":    {"cluster", "delete_pod", `{"metadata":{"namespace":"dev-1"}} {}`, PolicyAsk, "rest"},
		"a number matches":              {"apps", "scale", `{"replicas":100}`, PolicyNever, "many"},
		"a number does not match":       {"apps", "scale", `{"replicas":99}`, PolicyAlways, ""},
		"doubt forbids what is limited": {"apps", "scale", `replicas: 1`, PolicyNever, "many"},
		"another server":                {"files", "delete_pod", `{}`, PolicyAlways, ""},
		"no arguments":                  {"cluster", "list", ``, PolicyAsk, "rest"},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			policy, rule := approvals.policyFor(test.server, test.tool, false, json.RawMessage(test.arguments))
			require.Equal(t, test.policy, policy)
			require.Equal(t, test.rule, nameOf(rule))
		})
	}
}

func nameOf(rule *ApprovalRule) string {
	if rule == nil {
		return ""
	}

	return rule.Name
}

func TestRuleIsExplainedInWords(t *testing.T) {
	t.Parallel()

	for want, rule := range map[string]ApprovalRule{
		"No rule names this tool, and its server does not mark it as read-only. Such calls wait for a person.":                                    {Name: unnamedRule},
		"The configuration lists the tool restart of the server cluster as changing something. Such calls wait for a person.":                     {Name: "mcp_servers.cluster.writing_tools", Server: "cluster", Tool: "restart"},
		"The configuration lists tools whose names begin with delete_ of the server cluster as changing something. Such calls wait for a person.": {Name: "mcp_servers.cluster.writing_tools", Server: "cluster", Tool: "delete_*"},
		"A rule makes calls of every tool of every server wait for a person.":                                                                     {Name: "approvals.rules[0]", Server: "*"},
		"A rule makes calls of every tool wait for a person.":                                                                                     {Name: "approvals.rules[0]"},
		"A rule makes calls of the tool scale of servers whose names begin with prod- with a matching x|y and namespace matching prod.* wait for a person.": {
			Name: "approvals.rules[1]", Server: "prod-*", Tool: "scale", Arguments: map[string]string{"namespace": "prod.*", "a": "x|y"},
		},
	} {
		require.Equal(t, want, rule.text())
	}
}

func TestRivalKeysAreFoundAtEveryDepth(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		`{"a":1,"b":2}`:                       false,
		`{"a":1,"A":2}`:                       true,
		`{"a":{"x":1},"b":{"x":1}}`:           false,
		`{"a":[{"x":1},{"x":1}]}`:             false,
		`{"a":[{"x":1,"x":2}]}`:               true,
		`{"a":"a","b":"a"}`:                   false,
		`{"a":["a","a"],"b":{"c":"a","d":1}}`: false,
		`{"a":{},"b":[],"a":1}`:               true,
		`{"namespace":1,"nameſpace":2}`:       true,
		`{"k":1,"K":2}`:                       true,
	} {
		require.Equal(t, want, hasRivalKeys(json.RawMessage(text)), text)
	}
}

func TestToolIsHiddenOnlyIfNoCallIsAllowed(t *testing.T) {
	t.Parallel()

	never := ApprovalRule{Tool: "drop", Policy: PolicyNever}
	some := ApprovalRule{Tool: "drop", Arguments: map[string]string{"table": "tmp"}, Policy: PolicyAsk}

	require.True(t, Approvals{Rules: []ApprovalRule{never}}.forbids("db", "drop"))
	require.False(t, Approvals{Rules: []ApprovalRule{never}}.forbids("db", "read"))
	require.False(t, Approvals{Rules: []ApprovalRule{some, never}}.forbids("db", "drop"))
	require.True(t, Approvals{Rules: []ApprovalRule{never, some}}.forbids("db", "drop"))
}

// Case-insensitive JSON parsers, such as Go's, take nameſpace for namespace. A rule on namespace cannot be bypassed like that.
func TestKeyThatResemblesNamedOneIsDoubtful(t *testing.T) {
	t.Parallel()

	for _, key := range []string{"Namespace", "NAMESPACE", "nameſpace", "nameſPACE"} {
		arguments := json.RawMessage(`{"` + key + `":"prod"}`)

		for policy, want := range map[Policy]Policy{PolicyNever: PolicyNever, PolicyAsk: PolicyAsk} {
			got, _ := Approvals{Rules: []ApprovalRule{{Arguments: map[string]string{"namespace": "prod"}, Policy: policy}}}.policyFor("s", "t", false, arguments)
			require.Equal(t, want, got, "%s %s", key, policy)
		}

		got, rule := Approvals{Rules: []ApprovalRule{
			{Name: "dev", Arguments: map[string]string{"namespace": ".*"}, Policy: PolicyAlways}, {Name: "rest", Policy: PolicyAsk},
		}}.policyFor("s", "t", false, arguments)
		require.Equal(t, PolicyAsk, got, key)
		require.Equal(t, "rest", nameOf(rule))
	}

	got, _ := Approvals{Rules: []ApprovalRule{{Arguments: map[string]string{"namespace": "prod"}, Policy: PolicyNever}}}.policyFor("s", "t", false, json.RawMessage(`{"names":"prod"}`))
	require.Equal(t, PolicyAlways, got)
}

func TestUnnamedToolThatMayWriteAsks(t *testing.T) {
	t.Parallel()

	approvals := Approvals{Unnamed: PolicyAsk, Rules: []ApprovalRule{
		{Name: "named", Server: "cluster", Tool: "scale", Arguments: map[string]string{"namespace": "prod"}, Policy: PolicyAsk},
		{Name: "server", Server: "logs", Policy: PolicyAlways},
		{Name: "any", Arguments: map[string]string{"force": "true"}, Policy: PolicyNever},
	}}

	for name, test := range map[string]struct {
		server, tool string
		readOnly     bool
		policy       Policy
		rule         string
	}{
		"nobody has thought about it":         {"cluster", "delete", false, PolicyAsk, unnamedRule},
		"its server says that it reads":       {"cluster", "get", true, PolicyAlways, ""},
		"a rule is about it, not this call":   {"cluster", "scale", false, PolicyAlways, ""},
		"a rule is about its server":          {"logs", "rotate", false, PolicyAlways, "server"},
		"a rule is about all tools there are": {"other", "run", false, PolicyAsk, unnamedRule},
	} {
		policy, rule := approvals.policyFor(test.server, test.tool, test.readOnly, json.RawMessage(`{}`))
		require.Equal(t, test.policy, policy, name)
		require.Equal(t, test.rule, nameOf(rule), name)
	}

	require.True(t, Approvals{Unnamed: PolicyAsk}.MayAsk())

	policy, _ := Approvals{}.policyFor("cluster", "delete", false, nil)
	require.Equal(t, PolicyAlways, policy)
}
