package mask

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fill concatenates numbered pieces up to a size.
func fill(size int, piece func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(piece(i))
	}

	return b.String()[:size]
}

func uuid(i int) string {
	h := sha256.Sum256(fmt.Append(nil, i))

	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// spent returns the processor time of a call.
func spent(call func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	start := cpuTime()
	call()

	return cpuTime() - start
}

// Every line matches a rule with a large allowlist. Checking the matches must not take longer than finding them.
func TestUUIDLinesCostAtMostOneSearch(t *testing.T) {
	m := newMasker(t, Config{Default: DefaultRules()})
	text := fill(1<<19, func(i int) string { return "key=" + uuid(i)[:35] + "\n" })
	generic := shared().finders[slices.IndexFunc(shared().finders, func(f finder) bool { return f.rule != nil && f.rule.marker == "generic_api_key" })].rule

	mask := func() {
		masked, err := m.Result("any", text)
		require.NoError(t, err)
		require.Contains(t, masked, "[MASKED_GENERIC_API_KEY]\n")
	}
	mask() // compiles what is needed

	search := func() { generic.re().FindAllStringIndex(text, -1) }
	ours, once := spent(mask), spent(search)

	for try := 0; try < 3 && ours > 2*once; try++ { // a garbage collection may have interfered
		ours, once = spent(mask), spent(search)
	}

	assert.Less(t, ours, 2*once)
	t.Logf("%v for %d KiB; one search takes %v", ours, len(text)>>10, once)
}

// No text takes longer than the limit and one more step.
func TestOneMiBTextsStayWithinLimit(t *testing.T) {
	const (
		size  = 1 << 20
		limit = 200 * time.Millisecond
		step  = slowdown * 800 * time.Millisecond // one window of an expression, and all that is not measured; generous
	)

	texts := map[string]string{
		"uuids":           fill(size, func(i int) string { return "key=" + uuid(i) + "\n" }),
		"one line":        fill(size, func(i int) string { return "key=" + uuid(i) + " " }),
		"one token":       strings.Repeat("a", size),
		"nested braces":   "kind: Secret " + strings.Repeat(`{"data":`, size/8),
		"passwords":       fill(size, func(i int) string { return fmt.Sprintf("password=Xk29fLq8Zt%d ", i) }),
		"names":           strings.Repeat("password=", size/9),
		"keys":            strings.Repeat("key=", size/4),
		"base64":          fill(size, func(i int) string { return base64.StdEncoding.EncodeToString([]byte("password: " + uuid(i))) }),
		"base64 in lines": fill(size, func(i int) string { return base64.StdEncoding.EncodeToString([]byte(uuid(i))) + "\n" }),
		"other scripts":   strings.Repeat("ключ=значение token: 日本語 ", size/40),
		"names of vendors": fill(size, func(i int) string {
			return []string{"datadog", "okta", "jira", "twitter"}[i%4] + "_key=" + uuid(i) + "\n"
		}),
		"quadratic": strings.Repeat("a", size),
	}
	m := newMasker(t, Config{Limit: limit, Default: DefaultRules(), Servers: map[string]Rules{
		"quadratic": {Enabled: true, Groups: []string{"all", "gitleaks"}, Custom: []Custom{{Pattern: `a(.*b)?`}, {Pattern: `(?i)a+b`}}},
	}})

	// The first texts compile the expressions that they need, which may take longer than the limit.
	for range 20 {
		_, err := m.Result("any", texts["uuids"][:1<<12])
		if err == nil {
			break
		}

		require.ErrorIs(t, err, ErrTooSlow)
	}

	for name, text := range texts {
		took := spent(func() {
			masked, err := m.Result(name, text)
			if err != nil {
				require.ErrorIs(t, err, ErrTooSlow)
				require.Empty(t, masked)
			}
		})
		assert.Less(t, took, limit+step, name)
		t.Logf("%-18s %v", name, took)
	}
}

// When there is no time for expressions, a result is withheld, and in user text the other finders still hide what they find.
func TestTextOverItsLimit(t *testing.T) {
	t.Parallel()

	text := "DB_PASSWORD=Xk29fLq8Zt71\n" + strings.Repeat("bearer of a configured secret\n", 10) + fill(64<<10, func(i int) string { return "key=" + uuid(i) + "\n" })
	m := newMasker(t, Config{Secrets: []string{"a configured secret"}, Limit: time.Nanosecond, Alerts: DefaultRules(), Default: DefaultRules()})

	masked, err := m.Result("any", text)
	require.ErrorIs(t, err, ErrTooSlow)
	assert.Empty(t, masked)
	assert.NotContains(t, err.Error(), "Xk29")

	masked, err = m.Text(text)
	require.ErrorIs(t, err, ErrTooSlow)
	assert.True(t, strings.HasPrefix(masked, "DB_PASSWORD=[MASKED_PASSWORD]\nbearer of [MASKED_SECRET]\n"), masked[:200])
	assert.Positive(t, strings.Index(masked, uuid(1000)), "no time for the expression")
	assert.Equal(t, int64(2), m.Failures())

	masked, err = m.Text("a short text: DB_PASSWORD=Xk29fLq8Zt71")
	require.NoError(t, err, "a short text is never over the limit")
	assert.Equal(t, "a short text: DB_PASSWORD=[MASKED_PASSWORD]", masked)
}

// Custom patterns are matched one by one, which must find the same as matching all at once.
func TestCustomPatternsMatchLikeFindAll(t *testing.T) {
	t.Parallel()

	texts := []string{
		"", "a", "ab, ab", "aaa", "a\nab\n\nb", "ab", "日a本ab", "x ab\xffab", strings.Repeat("ab cd ", 20), "id=12 id=345\nid=6", "aXbXc", "\n\n",
	}

	for _, pattern := range []string{
		`a`, `a*`, `^a`, `(?m)^a`, `a$`, `(?m)b$`, `\ba`, `\Bb`, `a(.*b)?`, `(a)|(b)`, `(?i)(?P<name>A)b?`, `id=(\d+)`, `x*`, `\b`, `.`, `(?s).`, `\A.`, `a\z`, `[^a]+`,
		`本|a`, `(?U)a+b*`,
	} {
		re := regexp.MustCompile(pattern)
		c, err := newCustom(Custom{Pattern: pattern, Replacement: `<$0|$1>`})
		require.NoError(t, err)

		for _, text := range texts {
			var want strings.Builder

			done := 0

			for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
				if m[0] < m[1] {
					want.WriteString(text[done:m[0]])
					want.Write(re.ExpandString(nil, `<$0|$1>`, text, m))
					done = m[1]
				}
			}

			want.WriteString(text[done:])

			work := newBudget(time.Minute)
			assert.Equal(t, want.String(), c.mask(text, work), "%s in %q", pattern, text)
			work.stop()
		}
	}
}

// A value longer than what an expression sees is hidden to its end.
func TestEndlessValueIsMaskedCompletely(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Default: Rules{Enabled: true, Groups: []string{"gitleaks"}}})
	long := fill(3*longestSeen, func(i int) string { return strings.ReplaceAll(uuid(i), "-", "") })

	masked, err := m.Result("any", text("ops_", "eyJ")+long+" and more")
	require.NoError(t, err)
	assert.Equal(t, "[MASKED_1PASSWORD_SERVICE_ACCOUNT_TOKEN] and more", masked[:min(len(masked), 100)])
}
