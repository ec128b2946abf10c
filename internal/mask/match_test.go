package mask

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleOf generates a text that an expression matches.
func sampleOf(tree *syntax.Regexp, r *rand.Rand, out *strings.Builder) {
	repeat := func(least, most int) {
		if most < 0 || most > least+8 {
			most = least + 8
		}

		for range least + r.IntN(most-least+1) {
			sampleOf(tree.Sub[0], r, out)
		}
	}

	switch tree.Op {
	case syntax.OpLiteral:
		out.WriteString(string(tree.Rune))
	case syntax.OpCharClass:
		var letters []rune

		for i := 0; i < len(tree.Rune); i += 2 {
			for c := tree.Rune[i]; c <= min(tree.Rune[i+1], 126); c++ {
				if c > ' ' {
					letters = append(letters, c)
				}
			}
		}

		if len(letters) == 0 {
			letters = tree.Rune[:1]
		}

		out.WriteRune(letters[r.IntN(len(letters))])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('x')
	case syntax.OpAlternate:
		sampleOf(tree.Sub[r.IntN(len(tree.Sub))], r, out)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range tree.Sub {
			sampleOf(sub, r, out)
		}
	case syntax.OpStar:
		repeat(0, 3)
	case syntax.OpPlus:
		repeat(1, 8)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(tree.Min, tree.Max)
	default: // boundaries
	}
}

// longestRandom returns the length of the longest run of free characters that every match of an expression has, outside of some groups.
func longestRandom(tree *syntax.Regexp, without []int) int {
	switch tree.Op {
	case syntax.OpCapture:
		if slices.Contains(without, tree.Cap) {
			return 0
		}
	case syntax.OpRepeat, syntax.OpPlus:
		least := max(1, tree.Min)
		if tree.Sub[0].Op == syntax.OpCharClass && len(tree.Sub[0].Rune) > 2 {
			return least
		}

		return least * longestRandom(tree.Sub[0], without)
	default:
	}

	longest := 0
	for _, sub := range tree.Sub {
		longest = max(longest, longestRandom(sub, without))
	}

	return longest
}

// A rule hides its whole match except for what surrounds its secret group: names, signs and hosts, never random characters.
func TestRulesMaskTheirWholeMatch(t *testing.T) {
	t.Parallel()

	r := rand.New(rand.NewPCG(1, 2))
	tried := 0

	for _, one := range append(builtinRules(), gitleaksRules()...) {
		tree, err := syntax.Parse(one.expression, syntax.Perl)
		require.NoError(t, err)

		if len(one.groups()) > 0 {
			assert.Less(t, longestRandom(tree, one.groups()), 8, "%s hides a part of %s", one.marker, one.expression)
		}

		found := false

		for range 40 {
			var out strings.Builder

			sampleOf(tree, r, &out)
			sample := "x " + out.String() + " y"

			m := one.re().FindStringSubmatchIndex(sample)
			if m == nil {
				continue
			}

			start, end := one.secret(m)
			s := &scan{catalog: shared(), text: sample, work: newBudget(defaultLimit)}
			s.work.stop()
			one.take(s, window{0, len(sample)}, 0, m)

			if len(s.spans) == 0 {
				continue // a check excluded it
			}

			found = true
			tried++

			masked := splice(sample, s.spans)
			assert.NotContains(t, masked, strings.TrimRight(sample[start:end], "\n"), "%s: %s", one.marker, sample)

			if len(one.groups()) == 0 {
				assert.Equal(t, sample[:m[0]]+marker(one.marker)+sample[m[1]:], masked, "%s: %s", one.marker, sample)
			}

			break
		}

		if !found {
			t.Logf("no sample of %s: %s", one.marker, one.expression)
		}
	}

	require.Greater(t, tried, 220, "so many rules had a sample that was masked")
}

func TestBase64TokensAndTeamsWebhooksAreMaskedCompletely(t *testing.T) {
	t.Parallel()

	jwt := text("ZXlKaGJHY2lPaUpTVXpJMU5pSXNJbXRwWkNJNklrWXhNbGx3", "WXlKOS5leUpwYzNNaU9pSnJkV0psY201bGRHVnpJbjAuYzJsbmJtRjBkWEps", "WGsyOWZMcThadDcxbVczdlI1Yk4=")
	id := "0123abcd-ab12-cd34-ef56-0123456789ab"
	teams := text("https://acme.webhook.office", ".com/webhookb2/", id, "@", id, "/IncomingWebhook/", strings.Repeat("0a1b", 8), "/", id)

	for _, groups := range [][]string{{"gitleaks"}, {"kubernetes", "security", "gitleaks"}} {
		m := newMasker(t, Config{Alerts: Rules{Enabled: true, Groups: groups}})
		assert.Regexp(t, `^got \[MASKED_\w+\] now$`, written(m, "got "+jwt+" now"), "%s", groups)
		assert.Regexp(t, `^post to \[MASKED_\w+\] now$`, written(m, "post to "+teams+" now"), "%s", groups)
	}

	assert.Equal(t, "got [MASKED_BASE64_SECRET] now", with(t, "base64_secret")("got "+jwt+" now"), "without gitleaks, too")
	assert.Equal(t, "key [MASKED_API_KEY].", with(t, "api_key")(text("key tar", "sy_abcdefgh_", strings.Repeat("a2c4e6g7", 6), "wxyz.")))
}
