package mask

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile returns texts that make naive maskers slow. Each is repeated or nested to the requested size.
func hostile() map[string]func(size int) string {
	repeat := func(piece string) func(int) string {
		return func(size int) string { return strings.Repeat(piece, size/len(piece)+1)[:size] }
	}
	all := func(join string) func(int) string {
		var b strings.Builder
		for _, f := range shared().finders {
			b.WriteString(strings.Join(f.words, join) + join)
		}

		return repeat(b.String())
	}

	texts := map[string]func(int) string{
		"one letter":            repeat("a"),
		"one long token":        repeat("aB3dE5gH"),
		"every word":            all(" "),
		"every word, no space":  all(""),
		"every word, assigned":  all("=aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF "),
		"every word, a line":    all(": \"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF\"\n"),
		"one open quote":        func(size int) string { return `password="` + strings.Repeat("a b ", size/4) },
		"one open plain":        func(size int) string { return `password=` + strings.Repeat("日本", size/6) },
		"one open block":        func(size int) string { return "password: |\n" + strings.Repeat("  ab\n", size/5) },
		"one open cookie":       func(size int) string { return "Cookie: sid=" + strings.Repeat("ab", size/2) },
		"one open key":          func(size int) string { return "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("abcd", size/4) },
		"many open quotes":      repeat("password=\"a b 'c token='d "),
		"open quotes":           repeat(`password="`),
		"open single quotes":    repeat(`token='`),
		"names of names":        repeat("password=token=secret="),
		"escaped quotes":        repeat(`\"password\":\"`),
		"backslashes":           repeat(`\`),
		"escaped backslashes":   repeat(`{\\\"kind`),
		"key headers":           repeat("-----BEGIN RSA PRIVATE KEY-----\n"),
		"key headers, no end":   repeat("-----BEGIN PRIVATE KEY-----AAAA"),
		"dashes":                repeat("-----"),
		"tokens":                repeat("eyJ"),
		"dotted tokens":         repeat("eyJhbGciOi."),
		"github":                repeat("ghp_"),
		"slack":                 repeat("xoxb-123-"),
		"users":                 repeat("a://b:c"),
		"addresses":             repeat("://:@"),
		"cookies":               repeat("cookie: sid="),
		"curl":                  repeat("curl -u -H "),
		"curl in lines":         repeat("curl\n"),
		"base64 of password":    repeat("cGFzc3dvcmQ"),
		"braces":                repeat("{"),
		"nested json":           repeat(`{"kind":`),
		"nested lists":          repeat(`{"items":[`),
		"Secret in Secret":      repeat(`{"kind":"Secret","data":`),
		"strings in strings":    repeat(`{"kind":"Secret","a":"{\"b\":\"{\\\"c\\\":`),
		"yaml lines":            repeat("kind: Secret\ndata:\n  a: b\n"),
		"yaml items":            repeat("- kind: Secret\n  data: &a\n    b: *a\n"),
		"escaped yaml":          repeat(`kind: Secret\n`),
		"blocks":                repeat("password: |\n  a\n"),
		"long indent":           repeat(strings.Repeat(" ", 1000) + "kind: Secret\n"),
		"markers":               repeat("[MASKED_"),
		"whole markers":         repeat("password: [MASKED_PASSWORD]"),
		"emails":                repeat("a@b."),
		"colons":                repeat("a:5432:b:c:"),
		"crypt":                 repeat("$2y$10$"),
		"tables":                repeat("NAME  PASSWORD\nada   Xk29fLq8\n"),
		"one long header":       repeat("PASSWORD  "),
		"one table":             func(size int) string { return "NAME  PASSWORD\n" + strings.Repeat("ada   Xk29fLq8\n", size/15) },
		"headers":               repeat("NAME  PASSWORD\n\n"),
		"percent":               repeat("password%3DXk29fLq8%26"),
		"invisible":             repeat("pass\u200bword=Xk29fLq8 "),
		"authorization":         repeat("authorization: "),
		"invalid UTF-8":         repeat("token=\xff\xfe\x00"),
		"lists":                 repeat("passwords:\n- Xk29fLq8\n"),
		"one open list":         func(size int) string { return "passwords: [" + strings.Repeat("a1, ", size/4) },
		"one long list":         func(size int) string { return "passwords:\n" + strings.Repeat("- a1\n", size/5) },
		"open lists":            repeat("passwords: [\"a, tokens=["),
		"lists of names":        repeat("passwords:\n  tokens:\n"),
		"values before names":   repeat("value: 'Xk29, name: DB_PASSWORD "),
		"values without names":  repeat(`"value":"a","type":"b","name":"password",`),
		"files with commas":     repeat("user,password\nada,Xk29fLq8\n"),
		"one file with commas":  func(size int) string { return "user,password\n" + strings.Repeat("ada,Xk29fLq8\n", size/13) },
		"escaped rows":          repeat(`user,password\nada,Xk29fLq8\n`),
		"wide header":           repeat("password,"),
		"rules of tables":       func(size int) string { return "user | password\n" + strings.Repeat("-----+----\n", size/11) },
		"colours":               repeat("\x1b[31mpassword\x1b[0m=Xk29fLq8 "),
		"open colours":          repeat("\x1b[3"),
		"escaped colours":       repeat(`\\\u001b[31m`),
		"entities":              repeat("&quot;password&quot;:&#34;Xk29&amp;"),
		"ends of keys":          repeat("abcd\n-----END PRIVATE KEY-----\n"),
		"bodies of keys":        repeat("MIIEpAIBAAKCAQEA\n"),
		"one body of a key":     func(size int) string { return "MIIEpAIBAAKCAQEA" + strings.Repeat("aB3d", size/4) },
		"dots":                  repeat(".aaaaaa"),
		"commands":              repeat("mongo -p openssl -k login -p "),
		"pipes":                 repeat("echo a:b | "),
		"chpasswd":              repeat("chpasswd <<EOF\nada:Xk29\n"),
		"anchors":               repeat("password: &a &a "),
		"arrows":                repeat("password -> password (a): "),
		"tuples":                repeat(`("password", "`),
		"records":               repeat("password | "),
		"forms":                 repeat("; name=\"password\"\n\n"),
		"secrets, one a line":   repeat("DB_PASSWORD=Xk29fLq8Zt71\n"),
		"secrets, all one line": repeat("api_key=Xk29fLq8Zt71mW3vR5 "),
	}
	texts["nested yaml"] = func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, "%skind:\n", strings.Repeat(" ", i%2000))
		}

		return b.String()[:size] + "\nkind: Secret\n"
	}
	texts["alias bomb"] = func(size int) string {
		var b strings.Builder

		b.WriteString("kind: Secret\nstringData: &a\n  x: y\n")

		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d]\n", i+1, i+1, i, i, i, i)
		}

		return b.String()[:size]
	}

	return texts
}

var whole = flag.Bool("whole", false, "try hostile texts of 1 and 4 MiB, which takes minutes")

// A text of four times the size may take little more than four times as long. The factor leaves room for caches; quadratic time would
// be sixteen times as long. Texts that are slow to mask are tested at a smaller size.
func TestHostileTextTakesLinearTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	m := newMasker(t, Config{
		Secrets: []string{"aaaaaaab", "a configured secret"}, Default: Rules{Enabled: true, Groups: []string{"all", "gitleaks"}},
		Limit: time.Hour, // only the growth of the time is measured
	})
	texts := hostile()

	spent := func(text string) time.Duration {
		start := cpuTime()
		_, err := m.Result("any", text)
		require.NoError(t, err)

		return cpuTime() - start
	}

	for _, name := range slices.Sorted(maps.Keys(texts)) {
		size := 1 << 18
		if spent(texts[name](size/16)) > 2*time.Millisecond {
			size = 1 << 16
		}

		if *whole {
			size = 1 << 20
		}

		small, large := spent(texts[name](size)), spent(texts[name](4*size))
		for try := 0; try < 3 && large > 8*small; try++ { // a garbage collection may have interfered
			small, large = spent(texts[name](size)), spent(texts[name](4*size))
		}

		assert.LessOrEqual(t, large, 8*small+20*time.Millisecond, "%s: %v for %d KiB, %v for %d KiB", name, small, size>>10, large, size>>8)
		t.Logf("%-22s %6.1f MB/s", name, float64(4*size)/1e6/max(large.Seconds(), 1e-6))
	}
}
