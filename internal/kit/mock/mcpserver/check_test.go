package mcpserver_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/mcpserver"
)

func TestConditionsMatchArguments(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		when, arguments string
		fits            bool
	}{
		{`{}`, `{}`, true},
		{`{a: 1}`, `{"a":1}`, true},
		{`{a: 1}`, `{"a":1.0}`, true},
		{`{a: 1}`, `{"a":"1"}`, false},
		{`{a: 9007199254740993}`, `{"a":9007199254740992}`, false},
		{`{a: 9007199254740993}`, `{"a":9007199254740993}`, true},
		{`{a: true, b: x}`, `{"a":true}`, false},
		{`{a: true, b: x}`, `{"a":true,"b":"x"}`, true},
		{`{a: null}`, `{"a":null}`, true},
		{`{a: null}`, `{}`, false},
		{`{a: [1, {b: 2}]}`, `{"a":[1,{"b":2}]}`, true},
		{`{a: [1, {b: 2}]}`, `{"a":[{"b":2},1]}`, false},
		{`{a.b.c: x}`, `{"a":{"b":{"c":"x"}}}`, true},
		{`{a: {b: {c: x}}}`, `{"a":{"b":{"c":"x"}}}`, true},
		{`{a: {b: {c: x}}}`, `{"a":{"b":{"c":"y"}}}`, false},
		{`{a: {equals: {b: 1}}}`, `{"a":{"b":1,"c":2}}`, false},
		{`{a: {b: 1}}`, `{"a":{"b":1,"c":2}}`, true},
		{`{a.1.b: x}`, `{"a":[0,{"b":"x"}]}`, true},
		{`{a.7.b: x}`, `{"a":[0,{"b":"x"}]}`, false},
		{`{a.b: x}`, `{"a.b":"x"}`, true},
		{`{app.io/name.x: 1}`, `{"app.io/name":{"x":1}}`, true},
		{`{a: {contains: ell}}`, `{"a":"hello"}`, true},
		{`{a: {contains: 2}}`, `{"a":[1,2]}`, true},
		{`{a: {contains: 2}}`, `{"a":2}`, false},
		{`{a: {contains: x}}`, `{}`, false},
		{`{a: {matches: "^h.*o$"}}`, `{"a":"hello"}`, true},
		{`{a: {matches: "^4\\d$"}}`, `{"a":42}`, true},
		{`{a: {matches: ""}}`, `{}`, false},
		{`{a: {exists: true}}`, `{"a":null}`, true},
		{`{a: {exists: false}}`, `{"a":null}`, false},
		{`{a: {exists: false}}`, `{}`, true},
		{`{a: {contains: h, matches: o$}}`, `{"a":"hello"}`, true},
		{`{a: {contains: h, matches: x$}}`, `{"a":"hello"}`, false},
	} {
		w := open(t, "      - {name: look, results: [{when: "+c.when+", text: yes}]}\n")
		text, failed := ask(t, w.connect(t), "look", c.arguments)
		require.Equal(t, c.fits, !failed, "%s of %s: %s", c.when, c.arguments, text)
	}
}

func TestTextsAreFilledWithArguments(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ text, arguments, want string }{
		{`{{.a}} of {{.b.c}}`, `{"a":12345678901234567890,"b":{"c":"x"}}`, "12345678901234567890 of x"},
		{`{{json .b}}`, `{"b":{"c":["x",1.50]}}`, `{"c":["x",1.50]}`},
		{`<{{arg "b.c"}}{{arg "d"}}>`, `{"b":{"c":"x"}}`, "<x>"},
		{`{{if arg "a"}}yes{{else}}no{{end}}`, `{}`, "no"},
		{`{{range .list}}[{{.}}]{{end}}`, `{"list":["{{.x}}","b"]}`, "[{{.x}}][b]"},
		{`{{.a}}`, `{"a":"\u0000<b>\ud800 {{template \"text\"}}"}`, "\x00<b>\ufffd {{template \"text\"}}"},
	} {
		w := open(t, "      - {name: look, results: [{text: '"+c.text+"'}]}\n")
		text, failed := ask(t, w.connect(t), "look", c.arguments)
		require.False(t, failed, text)
		require.Equal(t, c.want, text)
	}
}

func TestTextWithMissingArgumentIsError(t *testing.T) {
	t.Parallel()

	w := open(t, "      - {name: look, results: [{text: 'in {{.namespace}}'}]}\n")
	text, failed := ask(t, w.connect(t), "look", `{}`)
	require.True(t, failed)
	require.Contains(t, text, `no entry for key "namespace"`)
	require.Len(t, w.host.Unexpected(), 1)
	require.Equal(t, 0, w.host.Calls("shop")[0].Result)
}

func TestHostileArgumentsAreHarmless(t *testing.T) {
	t.Parallel()

	w := open(t, `
      - name: look
        results:
          - {when: {a: {contains: "\0"}}, text: "{{.a}}"}
          - {when: {grow: {exists: true}}, text: "{{range .grow}}{{range $.grow}}{{range $.grow}}{{.}}{{end}}{{end}}{{end}}"}
          - {when: {show: {exists: true}}, text: "{{.show}}"}
`)
	session := w.connect(t)
	const depth = 900

	nested := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)

	text, failed := ask(t, session, "look", `{"a":"x\u0000\n"}`)
	require.False(t, failed)
	require.Equal(t, "x\x00\n", text)

	text, failed = ask(t, session, "look", `{"grow":["`+strings.Repeat("x", 9_000)+`"`+strings.Repeat(`,"y"`, 300)+`]}`)
	require.True(t, failed)
	require.Contains(t, text, "longer than 8 MiB")

	text, failed = ask(t, session, "look", `{"nested":`+nested+`}`)
	require.True(t, failed)
	require.Contains(t, text, "the script has no result")
	require.Less(t, len(text), 2_000)

	_, failed = ask(t, session, "look", `{"show":`+nested+`}`)
	require.False(t, failed)

	_, failed = ask(t, session, "look", `{"`+strings.Repeat("k", 1<<20)+`":"`+strings.Repeat("\xff", 10)+`"}`)
	require.True(t, failed)

	// Arguments that the SDK's client would not send.
	for _, arguments := range []string{
		`[]`, `"text"`, `7`, `[{"a":1}]`, `{"grow":1e999999999}`, `{"a":"` + "\xff\xfe" + `"}`, `{"n":` + strings.Repeat(`[`, 1<<16) + `}`,
	} {
		resp, body, err := w.raw(t, "look", arguments)
		require.NoError(t, err)
		require.True(t, resp.StatusCode == http.StatusBadRequest || strings.Contains(body, "error") || strings.Contains(body, "isError"), body)
	}

	status, body := w.get(t, "/mcp/shop/_calls")
	require.Equal(t, 200, status)
	require.NotEmpty(t, body)

	_, failed = ask(t, session, "look", `{"a":"\u0000"}`)
	require.False(t, failed, "the server goes on")
}

func TestCheckReportsEveryProblemWithItsPlace(t *testing.T) {
	t.Parallel()

	servers, err := parse(`
mcp_servers:
  "a/b": {tools: []}
  shop:
    tools:
      - {name: "no good", results: [{text: x}]}
      - {name: twice, results: [{text: x}]}
      - {name: twice, schema: {type: string}, results: [{text: x}]}
      - {name: bad_schema, schema: {type: object, properties: {a: {type: 7}}}, results: [{text: x}]}
      - {name: nothing}
      - name: results
        results:
          - {}
          - {text: x, error: y}
          - {text: "{{.a"}
          - {error: "{{nope}}"}
          - {fault: explode}
          - {text: x, delay: -1s, times: -1}
          - {text: x, when: {a: {matches: "("}, b: {exists: 1}, c: {equals: 1, other: 2}, d: {e: {matches: 3}}}}
`)
	require.NoError(t, err)

	var got []string
	for _, p := range servers.Check() {
		got = append(got, p.String())
	}

	want := []string{
		"a/b: the name of a server",
		"shop.tools[0].name: the name of a tool",
		`shop.tools[2].name: there is a tool "twice" already`,
		"shop.tools[2].schema: cannot be the schema of a tool",
		"shop.tools[3].schema: is not a JSON Schema",
		"shop.tools[4].results: a tool needs at least one result",
		"shop.tools[5].results[0]: a result has one of text, json, error and fault, not 0 of them",
		"shop.tools[5].results[1]: a result has one of text, json, error and fault, not 2 of them",
		"shop.tools[5].results[2].text: not a template",
		"shop.tools[5].results[3].error: not a template",
		`shop.tools[5].results[4].fault: "explode" is not one of`,
		"shop.tools[5].results[5].delay: is less than nothing",
		"shop.tools[5].results[5].times: is less than nothing",
		"shop.tools[5].results[6].when.a.matches: not a regular expression",
		"shop.tools[5].results[6].when.b.exists: exists is true or false, not 1",
		"shop.tools[5].results[6].when.c: has both nested arguments and conditions",
		"shop.tools[5].results[6].when.d.e.matches: a regular expression is a text, not 3",
	}
	require.Len(t, got, len(want), strings.Join(got, "\n"))

	for i := range want {
		require.True(t, strings.HasPrefix(got[i], want[i]), "%s\nwanted %s", got[i], want[i])
	}
}

func TestDocumentedExampleIsValid(t *testing.T) {
	t.Parallel()

	document, err := os.ReadFile("../../../../docs/mcp-mock.md")
	require.NoError(t, err)

	_, rest, _ := strings.Cut(string(document), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	require.True(t, found)

	servers, err := parse(example)
	require.NoError(t, err)
	require.Len(t, servers, 1)
	require.Empty(t, servers.Check())
}

func TestEmptyTextIsResult(t *testing.T) {
	t.Parallel()

	w := open(t, "      - {name: look, results: [{text: ''}]}\n")
	text, failed := ask(t, w.connect(t), "look", `{}`)
	require.False(t, failed)
	require.Empty(t, text)
}

func TestHostWithoutServersWorks(t *testing.T) {
	t.Parallel()

	host, err := mcpserver.NewHost(nil, mcpserver.Options{})
	require.NoError(t, err)
	require.ErrorContains(t, host.Serve(t.Context(), "x", nil, nil), "it has none")
}
