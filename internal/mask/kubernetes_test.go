package mask

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each manifest has its secrets written as <<…>>, which marks exactly what must be hidden. Everything else must be unchanged, byte for
// byte.
func TestSecretsAreMaskedInPlace(t *testing.T) {
	t.Parallel()

	mask := with(t, kubernetesSecret)

	for name, marked := range manifestsUnderTest {
		in := strings.NewReplacer("<<", "", ">>", "").Replace(marked)
		want := hiddenMarks(marked)

		assert.Equal(t, want, mask(in), name)
		assert.Equal(t, want, mask(want), "%s: twice", name)
	}
}

// hiddenMarks replaces every <<…>> with the marker.
func hiddenMarks(marked string) string {
	var out strings.Builder

	for {
		before, rest, ok := strings.Cut(marked, "<<")
		out.WriteString(before)

		if !ok {
			return out.String()
		}

		out.WriteString(marker(secretData))

		_, marked, _ = strings.Cut(rest, ">>")
	}
}

var manifestsUnderTest = map[string]string{
	"yaml, kind first":  "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  user: <<YWRtaW4=>>\n  pass: <<czNjcjN0>>\n",
	"yaml, data first":  "apiVersion: v1\ndata:\n  user: <<YWRtaW4=>>\nkind: Secret\nmetadata:\n  name: db\n  data: stays\n",
	"quoted":            "kind: \"Secret\"\nstringData:\n  user: \"<<ada>>\"\n  \"pass word\": '<<it''s>>'\n  empty: \"\"\n  nothing: null\n",
	"blocks":            "kind: Secret\nstringData:\n  key: |\n    <<line one\n      line two\n\n    line three>>\n  folded: >-\n    <<a\n    b>>\n  plain: <<a\n    continued>>\nmetadata:\n  name: x\n",
	"several documents": "kind: ConfigMap\ndata:\n  a: stays\n---\nkind: Secret\ndata:\n  a: <<Z29lcw==>>\n---\nkind: ConfigMap\ndata:\n  a: stays\n",
	"no line between":   "kind: ConfigMap\ndata:\n  a: stays\nkind: Secret\nmetadata:\n  name: b\nstringData:\n  a: <<goes>>\n",
	"list":              "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    a: stays\n  kind: ConfigMap\n- apiVersion: v1\n  data:\n    a: <<Z29lcw==>>\n  kind: Secret\n  metadata:\n    name: x\n- kind: ConfigMap\n  data:\n    a: stays\nkind: List\n",
	"indented list":     "items:\n  - kind: Secret\n    data:\n      a: <<Z29lcw==>>\n  - kind: ConfigMap\n    data:\n      a: stays\nkind: List\n",
	"secret list":       "apiVersion: v1\nitems:\n- data:\n    a: <<Z29lcw==>>\n  metadata:\n    name: x\n- data:\n    b: <<Z29lcw==>>\nkind: SecretList\n",
	"flow in yaml":      "kind: Secret\ndata: {<<a: Z29lcw==, b: eA==>>}\nmetadata: {name: x}\n",
	"all flow":          "{kind: Secret, data: {a: <<Z29lcw==>>, b: '<<x>>'}, metadata: {name: x}}",
	"config map":        "apiVersion: v1\nkind: ConfigMap\ndata:\n  password: stays\n  note: about a Secret\n",
	"windows lines":     "kind: Secret\r\ndata:\r\n  a: <<Z29lcw==>>\r\nmetadata:\r\n  name: x\r\n",
	"prose around":      "This is what I found:\napiVersion: v1\nkind: Secret\ndata:\n  a: <<Z29lcw==>>\n\nIs that right?\nkind: of\n",
	"fence":             "Look:\n```yaml\nkind: Secret\ndata:\n  a: <<Z29lcw==>>\n```\nkind: ConfigMap\ndata:\n  a: stays\n",
	"indented":          "   output:\n      kind: Secret\n      data:\n        a: <<Z29lcw==>>\n      metadata:\n        name: x\n   data:\n     a: stays\n",
	"cut off":           "kind: Secret\nmetadata:\n  name: x\ndata:\n  a: <<Z29lcw==>>\n  b: <<Z29>>",

	"json":           `{"apiVersion":"v1","data":{"a":"<<Z29lcw==>>","b":"<<eA==>>"},"kind":"Secret","metadata":{"name":"x","data":"stays"}}`,
	"pretty json":    "{\n  \"kind\": \"Secret\",\n  \"data\": {\n    \"a\": \"<<Z29lcw==>>\"\n  },\n  \"stringData\": {\"n\": <<42>>, \"z\": null, \"deep\": {\"x\": [\"<<y>>\"]}}\n}\n",
	"json list":      `{"kind":"List","items":[{"kind":"ConfigMap","data":{"a":"stays"}},{"data":{"a":"<<Z29lcw==>>"},"kind":"Secret"}]}`,
	"json after":     `{"items":[{"data":{"a":"<<Z29lcw==>>"}},{"data":{"b":"<<eA==>>"}}],"kind":"SecretList"}`,
	"json config":    `{"items":[{"data":{"a":"stays"}}],"kind":"ConfigMapList","about":"Secret"}`,
	"json in prose":  `The tool said {"kind":"Secret","data":{"a":"<<Z29lcw==>>"}} and then {"kind":"ConfigMap","data":{"a":"stays"}}, see?`,
	"json in json":   `{"text":"{\"kind\":\"Secret\",\"data\":{\"a\":\"<<Z29lcw==>>\"}}","data":{"a":"stays"}}`,
	"thrice":         `{"t":"{\"t\":\"{\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{\\\"a\\\":\\\"<<Z29lcw==>>\\\"}}\"}"}`,
	"yaml in json":   `{"content":[{"type":"text","text":"# pods\nkind: Secret\ndata:\n  a: <<Z29lcw==>>\n  b: <<eA==>>\nmetadata:\n  name: x\n"}]}`,
	"escaped in log": `level=info msg="applied {\"kind\":\"Secret\",\"data\":{\"a\":\"<<Z29lcw==>>\"}}" data={"a":"stays"}`,
	"yaml in log":    `level=info msg="apiVersion: v1\nkind: Secret\ndata:\n  a: <<Z29lcw==>>\n" other="kind: Secret"`,
	"unicode":        `{"kind":"\u0053ecret","k":"Secret","t":"{\"kind\":\"Secret\",\"data\":{\"\u00e4\":\"<<\u00e4bc>>\"}}"}`,
	"json, cut off":  `{"kind":"Secret","data":{"a":"<<Z29lcw==>>","b":"<<Z29>>`,
	"python":         `{'kind': 'Secret', 'data': {'a': '<<Z29lcw==>>'}, 'x': None}`,
	"broken json":    `{"a": } {"kind":"Secret","data":{"a":"<<Z29lcw==>>"}}`,

	"last applied, block":  "kind: Secret\ndata:\n  a: <<Z29lcw==>>\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"apiVersion\":\"v1\",\"data\":{\"a\":\"<<Z29lcw==>>\"},\"kind\":\"Secret\"}\n  name: x\n",
	"last applied, quoted": "metadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: \"{\\\"data\\\":{\\\"a\\\":\\\"<<Z29lcw==>>\\\"},\\\"kind\\\":\\\"Secret\\\"}\\n\"\n  name: x\nkind: Secret\ndata:\n  a: <<Z29lcw==>>\n",
	"last applied, single": "metadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"data\":{\"a\":\"<<Z29lcw==>>\"},\"kind\":\"Secret\"}'\nkind: Secret\n",
	"last applied, json":   `{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"v1\",\"data\":{\"a\":\"<<Z29lcw==>>\"},\"kind\":\"Secret\"}\n"}},"data":{"a":"<<Z29lcw==>>"}}`,
	"last applied, config": "kind: ConfigMap\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"data\":{\"a\":\"stays\"},\"kind\":\"ConfigMap\"}\ndata:\n  a: stays, although Secret is said\n",
}

func TestStructureIsParsedBeforePatternsApply(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Secrets: []string{"a configured value"}, Alerts: Rules{Enabled: true, Groups: []string{"all", "gitleaks"}}})

	// By its name alone, the value of password would get the marker of that pattern.
	masked := written(m, "kind: Secret\nstringData:\n  password: Xk29fLq8Zt71\n  note: a configured value\n  conn: postgres://app:Xk29fLq8@db/orders\n---\npassword: Xk29fLq8Zt71\n")
	assert.Equal(t, "kind: Secret\nstringData:\n  password: [MASKED_SECRET_DATA]\n  note: [MASKED_SECRET]\n  conn: [MASKED_SECRET_DATA]\n---\npassword: [MASKED_PASSWORD]\n", masked)

	// Patterns still sweep what the structure parsers cannot read.
	assert.Equal(t, "kind: Secret {{{\n\tpassword: [MASKED_PASSWORD]\n", written(m, "kind: Secret {{{\n\tpassword: Xk29fLq8Zt71\n"))
}

func TestMaskedManifestsStillParse(t *testing.T) {
	t.Parallel()

	mask := with(t, kubernetesSecret)

	for name, marked := range manifestsUnderTest {
		in := strings.NewReplacer("<<", "", ">>", "").Replace(marked)

		if json.Valid([]byte(in)) && !strings.Contains(in, "42") {
			assert.True(t, json.Valid([]byte(mask(in))), "%s: %s", name, mask(in))
		}

		var before, after any
		if yaml.Unmarshal([]byte(in), &before) == nil && !strings.Contains(name, "flow") {
			require.NoError(t, yaml.Unmarshal([]byte(mask(in)), &after), "%s:\n%s", name, mask(in))
		}
	}
}

func TestOtherObjectsAreUntouched(t *testing.T) {
	t.Parallel()

	mask := with(t, kubernetesSecret)

	for _, text := range []string{
		"kind: ExternalSecret\ndata:\n- secretKey: a\n  remoteRef:\n    key: b\n",
		"kind: Pod\nspec:\n  volumes:\n  - name: a\n    secret:\n      secretName: Secret\n  data: stays\n",
		"ownerReferences:\n- kind: Secret\n  name: x\ndata:\n  a: stays\n",
		`{"kind":"Event","involvedObject":{"kind":"Secret","name":"x"},"data":{"a":"stays"}}`,
		"NAME   KIND     DATA\nx      Secret   3\n",
		"kind: Secret\ndata: {}\n", "kind: Secret\ndata: null\n", `{"kind":"Secret","data":null}`, `{"kind":"Secret","data":{}}`,
		"kind: Secret", "Secret {", "{\"Secret", "", "{[Secret}]", "kind: Secret\n- data:\n   - a\n",
	} {
		assert.Equal(t, text, mask(text))
	}
}
