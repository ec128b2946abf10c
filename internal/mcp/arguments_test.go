package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
)

// The schemas of the tables: one required text, two of them, a number, and a text named input.
const (
	noSchema   = `{"type":"object"}`
	oneText    = `{"type":"object","properties":{"message":{"type":"string"},"loud":{"type":"boolean"}},"required":["message"]}`
	twoTexts   = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`
	oneNumber  = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	namedInput = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`
)

func TestArgumentsAreParsedByFirstMatchingFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, written, want string }{
		{"object", `{"n":1,"s":"x"}`, `{"n":1,"s":"x"}`},
		{"object: digits stay", `{"n":12345678901234567890,"f":0.10}`, `{"n":12345678901234567890,"f":0.10}`},
		{"object: huge number", `{"n":1e99999}`, `{"n":1e99999}`},
		{"object: duplicate keys are the tool's", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"object: spaces", " \n{ \"a\": [1, 2] }\t", `{ "a": [1, 2] }`},
		{"object: bad UTF-8", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}"},
		{"object: NUL", "{\"a\":\"x\x00y\"}", "{\"a\":\"x\uFFFDy\"}"},
		{"object: fenced", "```json\n{\"a\": 1}\n```", `{"a": 1}`},
		{"object: fenced without a language", "```\n{\"a\": 1}\n```", `{"a": 1}`},
		{"object: fenced in one line", "```{\"a\": 1}```", `{"a": 1}`},
		{"nothing", ``, `{}`},
		{"nothing: spaces", "\t\n ", `{}`},
		{"nothing: null", `null`, `{}`},
		{"nothing: an empty fence", "```json\n```", `{}`},

		{"value: array", `[1,2]`, `{"input":[1,2]}`},
		{"value: string", `"pods"`, `{"input":"pods"}`},
		{"value: number", `9007199254740993`, `{"input":9007199254740993}`},
		{"value: true", `true`, `{"input":true}`},
		{"value: fenced array", "```json\n[1]\n```", `{"input":[1]}`},

		{"yaml: list", "names:\n  - a\n  - b\nall: true", `{"names":["a","b"],"all":true}`},
		{"yaml: nested", "filter:\n  app: api\n  tier: {level: 2}\nlimit: 5", `{"filter":{"app":"api","tier":{"level":2}},"limit":5}`},
		{"yaml: list of mappings", "rules:\n- host: a\n  port: 80\n- host: b", `{"rules":[{"host":"a","port":80},{"host":"b"}]}`},
		{"yaml: inline list", "names: [a, 1, 1.50, None, \"2\"]", `{"names":["a",1,1.50,null,"2"]}`},
		{"yaml: block of text", "script: |\n  one\n  two\nrun: False", `{"script":"one\ntwo\n","run":false}`},
		{"yaml: block of text at the end", "path: x\nscript: |\n  one\n  two\n", `{"path":"x","script":"one\ntwo\n"}`},
		{"yaml: braces", `{namespace: shop, limit: 5}`, `{"namespace":"shop","limit":5}`},
		{"yaml: as Python writes it", `{'a': True, 'b': None, 'c': 'x', 'd': [1, 2]}`, `{"a":true,"b":null,"c":"x","d":[1,2]}`},
		{"yaml: comma at the end", `{"a": 1, "b": [1, 2,],}`, `{"a":1,"b":[1,2]}`},
		{"yaml: digits stay", "n: 12345678901234567890\nl: [0.10, 007, 1e999, 0x1F]", `{"n":12345678901234567890,"l":[0.10,"007","1e999","0x1F"]}`},
		{"yaml: no dates, no yes", "l: [2026-01-02, yes, on]", `{"l":["2026-01-02","yes","on"]}`},
		{"yaml: empty value", "a:\nl: [~]", `{"a":null,"l":[null]}`},
		{"yaml: fenced", "```yaml\nnames:\n- a\n```", `{"names":["a"]}`},

		{"pairs: equals", `namespace=shop, limit=5`, `{"namespace":"shop","limit":5}`},
		{"pairs: colons", `namespace: shop, limit: 5`, `{"namespace":"shop","limit":5}`},
		{"pairs: lines", "namespace: shop\nlimit=5\n\nall: TRUE", `{"namespace":"shop","limit":5,"all":true}`},
		{"pairs: line ends of others", "a=1\r\nb=x\r\n", `{"a":1,"b":"x"}`},
		{"pairs: one", `pod=api-1`, `{"pod":"api-1"}`},
		{"pairs: types", `a=true,b=False,c=null,d=None,e=-7,f=2.50,g=1e3,h=x`, `{"a":true,"b":false,"c":null,"d":null,"e":-7,"f":2.50,"g":1e3,"h":"x"}`},
		{"pairs: numbers that are none", `a=007,b=1e999,c=+1,d=.5,e=1_000,f=NaN,g=-0`, `{"a":"007","b":"1e999","c":"+1","d":".5","e":"1_000","f":"NaN","g":-0}`},
		{"pairs: a number without end", `a=` + strings.Repeat("9", 41), `{"a":"` + strings.Repeat("9", 41) + `"}`},
		{"pairs: quotes", `a="x, y=1", b='it, too', c="5", d="\u00e9\n"`, `{"a":"x, y=1","b":"it, too","c":"5","d":"é\n"}`},
		{"pairs: quoted keys", `"a"=1, 'b': 2`, `{"a":1,"b":2}`},
		{"pairs: line end in quotes", "a=\"x\ny\", b=1", `{"a":"x\ny","b":1}`},
		{"pairs: apostrophe", `message=it's late, user=bob`, `{"message":"it's late","user":"bob"}`},
		{"pairs: comma in a value", `message=hello, world, user=bob`, `{"message":"hello, world","user":"bob"}`},
		{"pairs: equals in a value", `selector=app=api, n=1`, `{"selector":"app=api","n":1}`},
		{"pairs: a list in JSON", `names=["a", "b"], n=1`, `{"names":["a", "b"],"n":1}`},
		{"pairs: a list in nothing", `names=[a, b], n=1`, `{"names":"[a, b]","n":1}`},
		{"pairs: address", `url=https://x.example/?a=b, n=1`, `{"url":"https://x.example/?a=b","n":1}`},
		{"pairs: empty value", `a=, b=""`, `{"a":"","b":""}`},
		{"pairs: commas only between", `a=1,,b=2,`, `{"a":1,"b":2}`},

		{"text", `list all pods`, `{"input":"list all pods"}`},
		{"text: address", `http://x.example`, `{"input":"http://x.example"}`},
		{"text: host and port", `localhost:8080`, `{"input":"localhost:8080"}`},
		{"text: time", `12:30`, `{"input":"12:30"}`},
		{"text: selector", `{job="api"}`, `{"input":"{job=\"api\"}"}`},
		{"text: query", `sum(rate(http_requests{code=~"5.."}[5m])) by (pod) > 0.5`, `{"input":"sum(rate(http_requests{code=~\"5..\"}[5m])) by (pod) \u003e 0.5"}`},
		{"text: comparison", `a == b`, `{"input":"a == b"}`},
		{"text: list for people", "Please check:\n- pods\n- nodes", `{"input":"Please check:\n- pods\n- nodes"}`},
		{"text: list", "- a\n- b", `{"input":"- a\n- b"}`},
		{"text: a pair and a line", "a=1\nand so on", `{"input":"a=1\nand so on"}`},
		{"text: the same key twice", `a=1, a=2`, `{"input":"a=1, a=2"}`},
		{"text: quote that stays open", `a="x, b=1`, `{"input":"a=\"x, b=1"}`},
		{"text: NUL", "\x00", `{"input":"` + "\uFFFD" + `"}`},
		{"text: keeps its fence", "```sh\nls -l\n```", "{\"input\":\"```sh\\nls -l\\n```\"}"},
		{"text: two fences", "```\na=1\n``` or ```\nb=2\n```", "{\"input\":\"```\\na=1\\n``` or ```\\nb=2\\n```\"}"},

		{"refused yaml: alias", "a: &x [1]\nb: *x", `{"a":"\u0026x [1]","b":"*x"}`},
		{"refused yaml: merge", "a: [1]\n<<: {b: 1}", `{"input":"a: [1]\n\u003c\u003c: {b: 1}"}`},
		{"refused yaml: tag", "a: !!binary aGk=\nb: [1]", `{"a":"!!binary aGk=","b":[1]}`},
		{"refused yaml: two documents", "a: [1]\n---\nb: [2]", `{"input":"a: [1]\n---\nb: [2]"}`},
		{"refused yaml: a key twice", "a: [1]\na: [2]", `{"input":"a: [1]\na: [2]"}`},
		{"refused yaml: a key twice inside", `{a: {b: 1, b: 2}}`, `{"input":"{a: {b: 1, b: 2}}"}`},
		{"refused yaml: a list for a key", "? [a]\n: b\nc: [1]", `{"input":"? [a]\n: b\nc: [1]"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			read := parseArguments(c.written, shapeOf(json.RawMessage(noSchema)))
			require.Equal(t, c.want, string(read.object))
			require.True(t, json.Valid(read.object))
			require.False(t, read.broken)
			exact := strings.HasPrefix(c.name, "object") || strings.HasPrefix(c.name, "nothing")
			require.Equal(t, !exact, read.guessed)
		})
	}
}

func TestSchemaHelpsToParseArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, written, want string }{
		{"a text is the one that is wanted", oneText, `disk is full`, `{"message":"disk is full"}`},
		{"also as JSON", oneText, `"disk is full"`, `{"message":"disk is full"}`},
		{"also if it looks like pairs", oneText, `Error: disk full, host=a`, `{"message":"Error: disk full, host=a"}`},
		{"also if it is a manifest", oneText, "kind: Pod\nspec:\n  n: [1]", `{"message":"kind: Pod\nspec:\n  n: [1]"}`},
		{"also if it is a selector", oneText, `{job="api"}`, `{"message":"{job=\"api\"}"}`},
		{"pairs that it knows are pairs", oneText, `message=hi, loud=true`, `{"message":"hi","loud":true}`},
		{"a colon without a space is enough then", oneText, `message:hi`, `{"message":"hi"}`},
		{"a text stays a text", oneText, `message=007, loud=true`, `{"message":"007","loud":true}`},
		{"also if it looks like a number", oneText, `message=5`, `{"message":"5"}`},
		{"also in YAML", oneText, `{message: 5, loud: true}`, `{"message":"5","loud":true}`},
		{"an anchor is no text of YAML", oneText, "message: &x a\nloud: [1]", `{"message":"\u0026x a","loud":[1]}`},
		{"JSON is not touched", oneText, `{"text":5}`, `{"text":5}`},
		{"a number is no text", oneText, `5`, `{"input":5}`},
		{"two that are wanted cannot be told apart", twoTexts, `disk is full`, `{"input":"disk is full"}`},
		{"a number is wanted", oneNumber, `many`, `{"input":"many"}`},
		{"input is its name", namedInput, `disk is full`, `{"input":"disk is full"}`},
		{"no schema", `nonsense`, `disk is full`, `{"input":"disk is full"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, string(parseArguments(c.written, shapeOf(json.RawMessage(c.schema))).object))
		})
	}
}

func TestIncompleteObjectIsNeverToolText(t *testing.T) {
	t.Parallel()
	for _, written := range []string{
		`{"message": "rm -rf /tmp/x`, `{"message":`, `{"a":1} {"b":2}`, `{`, `{ 'a':`, `{}}`, "```json\n{\"a\": [1,\n```",
	} {
		read := parseArguments(written, shapeOf(json.RawMessage(oneText)))
		require.True(t, read.broken, written)
		require.Equal(t, string(object(member{"input", quoted(written)})), string(read.object))
	}
}

func TestHostileArgumentsTakeLinearTime(t *testing.T) {
	t.Parallel()
	// Quadratic time for a mebibyte would be an hour.
	const size = 1 << 20
	limit := slowness.Scale(20 * time.Second)
	for name, piece := range map[string]string{
		"brackets": "[", "braces": `{"a":`, "dashes": "- ", "questions": "? ", "commas": "a=1,", "comma only": ",", "lines": "a: 1\n",
		"quotes": `"`, "quoted pairs": `a='`, "backslashes": `"\`, "fences": "```", "colons": ":", "anchors": "&a [*a,", "spaces": " ",
		"digits": "9", "tags": "!", "tabs": "\t", "bad bytes": "\xff", "words": "a=b c ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{maxYAMLBytes, size} {
				text := strings.Repeat(piece, n/len(piece))
				begun := time.Now()
				read := parseArguments(text, shapeOf(json.RawMessage(oneText)))
				require.Less(t, time.Since(begun), limit)
				require.True(t, json.Valid(read.object))
			}
		})
	}
	var keys strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&keys, "k%d: [v]\n", i)
	}
	begun := time.Now()
	require.True(t, json.Valid(parseArguments(keys.String(), shape{}).object))
	require.Less(t, time.Since(begun), limit)
}

func FuzzArguments(f *testing.F) {
	for _, text := range []string{
		`{"a":1}`, `[1,`, "a: [1]\nb: {c: d}", `a=1, b="x", c='y`, "```json\n{}\n```", "a: &x [*x]", "? a\n: b", "a: |\n  x\n b", "- - -",
		`{job="api"}`, "a: 'b\n\nc'", "%TAG !", "a: !!set {b}", "\x00\xff", "a: >-\n\n", "{a: }", "{? }", "a:\n\t- b", "---\na: []\n...",
	} {
		f.Add(text, oneText)
		f.Add(text, noSchema)
	}
	f.Fuzz(func(t *testing.T, text, schema string) {
		read := parseArguments(text, shapeOf(json.RawMessage(schema)))
		if !json.Valid(read.object) || !utf8.Valid(read.object) || read.object[0] != '{' {
			t.Fatalf("%q became %q", text, read.object)
		}
		if strings.ContainsRune(string(read.object), 0) {
			t.Fatalf("%q has a NUL", read.object)
		}
	})
}
