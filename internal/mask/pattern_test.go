package mask

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// text joins samples from parts, so that no scanner takes this file for a leak.
func text(parts ...string) string { return strings.Join(parts, "") }

func TestEachPatternMasksItsOwnKind(t *testing.T) {
	t.Parallel()

	const random = "Xk29fLq8Zt71mW3vR5bN"

	body := strings.Repeat("MIIEowIBAAKCAQEA7bq1", 4)
	block := func(label string) string {
		return text("-----BEGIN ", label, "-----\n", body, "\n-----END ", label, "-----")
	}
	cases := map[string]struct{ in, want, other string }{
		"api_key":     {"X-Api-Key: " + random, "X-Api-Key: [MASKED_API_KEY]", "api_key_env: GEMINI_API_KEY"},
		"password":    {"postgres://app:hunter2x@db/orders", "postgres://app:[MASKED_PASSWORD]@db/orders", "password_policy: strict"},
		"certificate": {block("CERTIFICATE"), "[MASKED_CERTIFICATE]", block("CERTIFICATE REQUEST")},
		"certificate_authority_data": {
			"certificate-authority-data: " + body, "certificate-authority-data: [MASKED_CERTIFICATE_AUTHORITY_DATA]", "certificate-authority: /etc/ca.crt",
		},
		"token":         {"Authorization: Bearer words-of-a-test", "Authorization: Bearer [MASKED_TOKEN]", "WWW-Authenticate: Bearer resource_metadata=x"},
		"email":         {"to ada@example.com, now", "to [MASKED_EMAIL], now", "@media and a@b"},
		"ssh_key":       {block("OPENSSH PRIVATE KEY"), "[MASKED_SSH_KEY]", block("RSA PRIVATE KEY")},
		"base64_secret": {"blob " + "cGFzc3dvcmQ9WGsyOWZMcThadDcxbVczdlI1Yk4=", "blob [MASKED_BASE64_SECRET]", "blob VGhlIHBhc3N3b3JkIGlzIGZvcmdvdHRlbiBhZ2Fpbi4="},
		"base64_short":  {"user: c3ZjLW9yZGVycw==", "user: [MASKED_BASE64_SHORT]", "user: administrator"},
		"private_key":   {block("RSA PRIVATE KEY"), "[MASKED_PRIVATE_KEY]", block("PUBLIC KEY")},
		"secret_key":    {`"clientSecret":"` + random + `"`, `"clientSecret":"[MASKED_SECRET_KEY]"`, "secretName: orders-tls-2"},
		"aws_access_key": {
			text("id AK", "IA234567ABCDEFGHIJ!"), "id [MASKED_AWS_ACCESS_KEY]!", text("id AK", "IA234567ABCDEFGHIJK"),
		},
		"aws_secret_key": {
			"AWS_SECRET_ACCESS_KEY=" + random + random, "AWS_SECRET_ACCESS_KEY=[MASKED_AWS_SECRET_KEY]", "AWS_REGION=eu-west-1",
		},
		"github_token": {text("x gh", "p_", random, random[:16], " y"), "x [MASKED_GITHUB_TOKEN] y", text("gh", "p_short")},
		"slack_token":  {text("x xo", "xb-123456789012-", random), "x [MASKED_SLACK_TOKEN]", text("xo", "xb-is-a-prefix")},
	}

	require.ElementsMatch(t, patterns, slices.Collect(maps.Keys(cases)))

	for name, c := range cases {
		mask := with(t, name)
		assert.Equal(t, c.want, mask(c.in), name)
		assert.Equal(t, c.other, mask(c.other), name)

		for other := range cases {
			if other != name && !slices.Contains([]string{secretKey, privateKey}, other) {
				assert.NotContains(t, with(t, other)(c.in), marker(name), "%s alone must not set the marker of %s", other, name)
			}
		}
	}
}

func TestGroupsContainTheNamedPatterns(t *testing.T) {
	t.Parallel()

	inGroup := map[string][]string{}

	for _, g := range groups {
		inGroup[g.name] = g.members
	}

	for group, members := range inGroup {
		for _, member := range members {
			assert.True(t, member == gitleaksGroup || member == kubernetesSecret || slices.Contains(patterns, member), "%s in %s", member, group)
		}
	}

	for _, name := range patterns {
		assert.Contains(t, inGroup["all"], name)
	}

	assert.NotContains(t, inGroup["security"], email, "addresses of people are no secrets")
	assert.NotContains(t, inGroup["all"], gitleaksGroup)
	assert.Subset(t, inGroup["security"], inGroup["secrets"])
	assert.Subset(t, inGroup["secrets"], inGroup["basic"])
}

func TestValuesAreFoundInAnyNotation(t *testing.T) {
	t.Parallel()

	mask := with(t, "password")

	for in, want := range map[string]string{
		`password=Xk29fLq8`:                              `password=[MASKED_PASSWORD]`,
		`DB_PASSWORD: Xk29fLq8 # old`:                    `DB_PASSWORD: [MASKED_PASSWORD] # old`,
		`{"password":"Xk29\"fLq8","user":"ada"}`:         `{"password":"[MASKED_PASSWORD]","user":"ada"}`,
		`"body":"{\"dbPassword\":\"Xk29fLq8\",\"a\":1}"`: `"body":"{\"dbPassword\":\"[MASKED_PASSWORD]\",\"a\":1}"`,
		`"log":"\nPASSWORD=Xk29fLq8\nHOME=/"`:            `"log":"\nPASSWORD=[MASKED_PASSWORD]\nHOME=/"`,
		`{'password': 'Xk29fLq8'}`:                       `{'password': '[MASKED_PASSWORD]'}`,
		`:password=>"Xk29fLq8"`:                          `:password=>"[MASKED_PASSWORD]"`,
		`--db-password Xk29fLq8 --verbose`:               `--db-password [MASKED_PASSWORD] --verbose`,
		`<password>Xk29fLq8</password>`:                  `<password>[MASKED_PASSWORD]</password>`,
		"- name: DB_PASSWORD\n  value: Xk29fLq8\n":       "- name: DB_PASSWORD\n  value: [MASKED_PASSWORD]\n",
		`{"name":"DB_PASSWORD","value":"Xk29fLq8"}`:      `{"name":"DB_PASSWORD","value":"[MASKED_PASSWORD]"}`,
		"password: |\n  Xk29\n  fLq8\nuser: ada\n":       "password: |\n  [MASKED_PASSWORD]\nuser: ada\n",
		`user=ada&password=Xk29fLq8&x=1`:                 `user=ada&password=[MASKED_PASSWORD]&x=1`,
		"PASSWORD=a,b;c&d":                               "PASSWORD=[MASKED_PASSWORD]&d",
		`password="Xk29fLq8`:                             `password="[MASKED_PASSWORD]`,
		`redis://:hunter@cache:6379/0`:                   `redis://:[MASKED_PASSWORD]@cache:6379/0`,
		`root:Xk29fLq8@tcp(db:3306)/shop`:                `root:[MASKED_PASSWORD]@tcp(db:3306)/shop`,
		`the password is Xk29fLq8.`:                      `the password is [MASKED_PASSWORD]`,
	} {
		assert.Equal(t, want, mask(in))
	}

	for _, harmless := range []string{
		"password: ${DB_PASSWORD}", "password: {{ .Values.password }}", "password: <set>", "password: ********", "password=$1", "password: true",
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n", "password = os.Getenv(\"PASSWORD\")", "if password == expected99 {",
		"wrong password: try again", "password:", "password=", `password: ""`, "http://example.com:8080/password", `print(f"password={password!r}")`, "login failed password incorrect", "passwords: 12345678",
	} {
		assert.Equal(t, harmless, mask(harmless))
	}
}

func TestEveryRuleCompiles(t *testing.T) {
	t.Parallel()

	gitleaks := 0

	for _, f := range shared().finders {
		require.NotEmpty(t, f.words)

		for _, word := range f.words {
			require.Equal(t, strings.ToLower(word), word)
		}

		if f.rule == nil {
			continue
		}

		require.NotPanics(t, func() { f.rule.re() }, f.rule.expression)
		require.LessOrEqual(t, f.rule.group, f.rule.re().NumSubexp())
		require.Regexp(t, `^\[MASKED_[A-Z0-9_]+\]$`, marker(f.rule.marker))
		require.Less(t, len(marker(f.rule.marker)), longestMarker)

		if f.rule.name == gitleaksGroup {
			gitleaks++
		}
	}

	assert.GreaterOrEqual(t, gitleaks, 200)
}

// A rule sees a limited window; a match that ends where the window does is skipped.
func TestPossiblyTruncatedMatchesAreSkipped(t *testing.T) {
	t.Parallel()

	r := newRule(password, `start[a-z ]+$`, "start")
	s := &scan{text: "start" + strings.Repeat(" of a long text", 100)}

	w, ok := r.window(s, 0, 5)
	require.True(t, ok)
	require.Less(t, w.end, len(s.text))
	r.find(s, w, []window{{0, w.end}})
	assert.Empty(t, s.spans)

	r.find(s, window{0, len(s.text)}, []window{{0, len(s.text)}})
	assert.Len(t, s.spans, 1)
}

func TestGitleaksHonoursItsOwnLimits(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Alerts: Rules{Enabled: true, Groups: []string{"gitleaks"}}})

	for in, want := range map[string]string{
		text("gl", "pat-Xk29fLq8Zt71mW3vR5bN"):         "[MASKED_GITLAB_PAT]",
		text("gl", "pat-aaaaaaaaaaaaaaaaaaaa"):         text("gl", "pat-aaaaaaaaaaaaaaaaaaaa"), // entropy
		`my_api_key = "Xk29fLq8Zt71mW3vR5bN"`:          `my_api_key = "[MASKED_GENERIC_API_KEY]"`,
		`my_api_key = "abcdefghijklmnopqrstuvwxyz1"`:   `my_api_key = "abcdefghijklmnopqrstuvwxyz1"`, // a stop word of all rules
		`my_api_key = "${VARIABLE_OF_THE_SERVER}"`:     `my_api_key = "${VARIABLE_OF_THE_SERVER}"`,
		`primary_key_id = "Xk29fLq8Zt71mW3vR5bN"`:      `primary_key_id = "Xk29fLq8Zt71mW3vR5bN"`, // an expression of this rule
		`curl -u ada:Xk29fLq8 https://example.com`:     `curl -u ada:[MASKED_PASSWORD] https://example.com`,
		`curl -H "Authorization: Bearer Xk29fLq8Zt71"`: `curl -H "Authorization: Bearer [MASKED_TOKEN]"`,
		"password=Xk2": "password=Xk2",
		// The second group is the secret.
		text("sonar.login=", "a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0"): "sonar.login=[MASKED_SONAR_API_TOKEN]",
	} {
		assert.Equal(t, want, written(m, in))
	}
}
