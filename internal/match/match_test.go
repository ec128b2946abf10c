package match_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/match"
)

func TestMatchersReadEveryOperatorWithAndWithoutQuotes(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]match.Matcher{
		`namespace="payments"`:            {Name: "namespace", Op: match.Equal, Value: "payments"},
		`namespace=payments`:              {Name: "namespace", Op: match.Equal, Value: "payments"},
		`  severity != "info" `:           {Name: "severity", Op: match.NotEqual, Value: "info"},
		`severity!=info`:                  {Name: "severity", Op: match.NotEqual, Value: "info"},
		`alertname=~"Disk.*"`:             {Name: "alertname", Op: match.Matches, Value: "Disk.*"},
		`alertname=~Disk.*|Cpu.*`:         {Name: "alertname", Op: match.Matches, Value: "Disk.*|Cpu.*"},
		`alertname !~ "Disk.*"`:           {Name: "alertname", Op: match.NotMatches, Value: "Disk.*"},
		`team=""`:                         {Name: "team", Op: match.Equal, Value: ""},
		`title="disk \"a\" \\ full\n"`:    {Name: "title", Op: match.Equal, Value: "disk \"a\" \\ full\n"},
		`instance=~"10\.0\.\d+"`:          {Name: "instance", Op: match.Matches, Value: `10\.0\.\d+`},
		`title="a, b = c"`:                {Name: "title", Op: match.Equal, Value: "a, b = c"},
		`title=two words`:                 {Name: "title", Op: match.Equal, Value: "two words"},
		`"the name"="x"`:                  {Name: "the name", Op: match.Equal, Value: "x"},
		`app.kubernetes.io/name="api"`:    {Name: "app.kubernetes.io/name", Op: match.Equal, Value: "api"},
		`größe="ü"`:                       {Name: "größe", Op: match.Equal, Value: "ü"},
		`expr="a=b"`:                      {Name: "expr", Op: match.Equal, Value: "a=b"},
		`pod=~"(?i)api-[0-9a-f]{8,10}.*"`: {Name: "pod", Op: match.Matches, Value: "(?i)api-[0-9a-f]{8,10}.*"},
	} {
		got, err := match.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want.Name, got.Name, text)
		require.Equal(t, want.Op, got.Op, text)
		require.Equal(t, want.Value, got.Value, text)
	}
}

func TestMatcherErrorsNameTheMistake(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		``:                       "empty",
		`   `:                    "empty",
		`namespace`:              `no operator after "namespace"`,
		`="x"`:                   "no name before the operator",
		`""="x"`:                 "the name is empty",
		`a="b`:                   "closing double quote is missing",
		`a="b\"`:                 "closing double quote is missing",
		`a=`:                     `write a="" for an empty value`,
		`a=='b'`:                 `"==" is not an operator`,
		`a~b`:                    `"~" is not an operator`,
		`a=!b`:                   `"=!" is not an operator`,
		`a='b'`:                  "put the value in double quotes",
		`a="b", c="d"`:           "more than one matcher",
		`a=b,c=d`:                "an entry of its own",
		`{a="b"}`:                "braces are not part of a matcher",
		`a="b" c`:                "unexpected text after the closing quote",
		`two words="x"`:          "in double quotes",
		`a=~"("`:                 "invalid regular expression",
		`a=~"b)|(c"`:             "invalid regular expression",
		`a!~"*"`:                 "invalid regular expression",
		"a=\"\xff\"":             "UTF-8",
		"a=\"\x00\"":             "NUL",
		strings.Repeat("a", 1e6): "longer than",
	} {
		_, err := match.Parse(text)
		require.ErrorContains(t, err, want, "%.80s", text)
		require.Less(t, len(err.Error()), 600)
	}

	_, err := match.ParseAll([]string{`a="b"`, `c`})
	require.ErrorContains(t, err, `matcher "c"`)
}

func TestMatchersCompareWholeValues(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		matcher, value string
		want           bool
	}{
		{`a="b"`, "b", true},
		{`a="b"`, "bb", false},
		{`a=""`, "", true},
		{`a!="b"`, "", true},
		{`a!="b"`, "b", false},
		{`a=~"b"`, "b", true},
		{`a=~"b"`, "abc", false},
		{`a=~"b|c"`, "c", true},
		{`a=~"b|c"`, "bx", false},
		{`a=~"b|c"`, "xc", false},
		{`a=~"b"`, "b\n", false},
		{`a=~".*"`, "", true},
		{`a=~".+"`, "", false},
		{`a!~"b.*"`, "bc", false},
		{`a!~"b.*"`, "abc", true},
		{`a!~"b.*"`, "", true},
	} {
		m, err := match.Parse(test.matcher)
		require.NoError(t, err)
		require.Equal(t, test.want, m.Match(test.value), "%s on %q", test.matcher, test.value)
	}

	require.False(t, match.Matcher{}.Match(""))
}

func TestSetMatchesOnlyIfAllMatch(t *testing.T) {
	t.Parallel()

	alert := tarsy.Alert{AlertType: "kubernetes", Facts: tarsy.AlertFacts{
		Title: "Disk full", Severity: tarsy.SeverityCritical, Service: "api", Namespace: "payments", Cluster: "prod", Team: "core",
		Labels: map[string]string{"alertname": "DiskFull", "severity": "page", "team": ""},
		Source: tarsy.SourceAlertmanager, Receiver: "default",
	}}

	for text, want := range map[string]bool{
		``:                                     true,
		`alertname="DiskFull"`:                 true,
		`alertname="DiskFull";cluster="test"`:  false,
		`alertname="DiskFull";cluster=~"pr.*"`: true,
		`source=alertmanager;receiver=default;alert_type=kubernetes;title=Disk full;service=api;namespace=payments;team=core`: true,
		`severity=page`:     true, // matches the label, not the fact
		`severity=critical`: false,
		`missing=""`:        true,
		`missing!=""`:       false,
	} {
		var texts []string
		if text != "" {
			texts = strings.Split(text, ";")
		}

		set, err := match.ParseAll(texts)
		require.NoError(t, err)
		require.Equal(t, want, set.Match(match.Values(alert)), text)
	}

	set, err := match.ParseAll([]string{`a=b`, `"c d"=~"e.*"`})
	require.NoError(t, err)
	require.Equal(t, `{a="b", "c d"=~"e.*"}`, set.String())
}

func TestMatcherTextParsesBackToTheSameMatcher(t *testing.T) {
	t.Parallel()

	letters := []rune("ab\\\"'\n\t =!~,{}.*é\u202e😀`")

	rapid.Check(t, func(t *rapid.T) {
		m := match.Matcher{
			Name:  rapid.StringOfN(rapid.SampledFrom(letters), 1, 20, -1).Draw(t, "name"),
			Op:    rapid.SampledFrom([]match.Op{match.Equal, match.NotEqual}).Draw(t, "op"),
			Value: rapid.StringOfN(rapid.SampledFrom(letters), 0, 20, -1).Draw(t, "value"),
		}

		got, err := match.Parse(m.String())
		require.NoError(t, err, m.String())
		require.Equal(t, m, got)
	})
}

// Accepted text has the same meaning after it is printed and parsed again.
func TestAcceptedTextKeepsItsMeaning(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\"\\n=!~, {}('.*|)")), 0, 16, -1).Draw(t, "text")

		first, err := match.Parse(text)
		if err != nil {
			return
		}

		again, err := match.Parse(first.String())
		require.NoError(t, err)
		require.Equal(t, first.String(), again.String())

		for _, value := range []string{"", "a", "ab", first.Value} {
			require.Equal(t, first.Match(value), again.Match(value))
		}
	})
}
