package corpus

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// tokens returns vendor tokens, which have a prefix or another recognizable shape. Prefixes are assembled from parts so
// that no scanner mistakes this file for a leak.
func tokens() []kind {
	of := func(name, key string, parts ...any) kind {
		return kind{name: name, key: key, contexts: shaped, make: whole(func(r *random) string { return join(r, parts) })}
	}
	long := func(n int) func(*random) string { return func(r *random) string { return r.url64(n) } }
	an := func(n int) func(*random) string { return func(r *random) string { return r.alnum(n) } }
	hex := func(n int) func(*random) string { return func(r *random) string { return r.hex(n) } }
	num := func(n int) func(*random) string { return func(r *random) string { return r.digits(n) } }
	of32 := func(n int) func(*random) string { return func(r *random) string { return r.from(upper+"234567", n) } }
	low := func(n int) func(*random) string { return func(r *random) string { return r.from(lower+digits, n) } }
	caps := func(n int) func(*random) string { return func(r *random) string { return r.from(upper+digits, n) } }
	letters := func(n int) func(*random) string { return func(r *random) string { return r.from(lower+upper, n) } }
	b64 := func(n int) func(*random) string { return func(r *random) string { return r.base64(n) } }

	return []kind{
		of("aws access key", "AWS_ACCESS_KEY_ID", "AK", "IA", of32(16)),
		of("aws temporary key", "AWS_ACCESS_KEY_ID", "AS", "IA", of32(16)),
		of("gcp api key", "GOOGLE_API_KEY", "AI", "za", "Sy", long(33)),
		of("gcp oauth token", "GCP_TOKEN", "ya", "29.", "a0", long(120)),
		of("gcp client secret", "GOOGLE_CLIENT_SECRET", "GOC", "SPX-", long(28)),
		of("github classic", "GITHUB_TOKEN", "gh", "p_", an(36)),
		of("github fine-grained", "GH_TOKEN", "github", "_pat_", an(22), "_", an(59)),
		of("github app", "GH_APP_TOKEN", "gh", "s_", an(36)),
		of("github oauth", "GH_OAUTH", "gh", "o_", an(36)),
		of("github refresh", "GH_REFRESH", "gh", "r_", an(36)),
		of("gitlab token", "GITLAB_TOKEN", "gl", "pat-", long(20)),
		of("gitlab runner", "RUNNER_TOKEN", "gl", "rt-", long(20)),
		of("gitlab deploy", "DEPLOY_TOKEN", "gl", "dt-", long(20)),
		of("slack bot", "SLACK_BOT_TOKEN", "xo", "xb-", num(12), "-", num(12), "-", an(24)),
		of("slack user", "SLACK_USER_TOKEN", "xo", "xp-", num(11), "-", num(11), "-", num(12), "-", hex(32)),
		of("slack app", "SLACK_APP_TOKEN", "xa", "pp-1-A", caps(10), "-", num(13), "-", hex(64)),
		webhook("slack webhook", "SLACK_WEBHOOK_URL", "https://hooks.sl"+"ack.com/services/T", caps(10), "/B", caps(10), "/", an(24)),
		webhook("discord webhook", "DISCORD_WEBHOOK_URL", "https://disc"+"ord.com/api/webhooks/", num(18), "/", long(68)),
		of("discord bot", "DISCORD_TOKEN", "MT", an(24), ".", "G", an(5), ".", long(38)),
		of("telegram bot", "TELEGRAM_BOT_TOKEN", num(10), ":A", "A", long(33)),
		of("stripe secret", "STRIPE_KEY", "sk", "_live_", an(24)),
		of("stripe restricted", "STRIPE_RESTRICTED", "rk", "_live_", an(24)),
		of("stripe webhook", "STRIPE_WEBHOOK", "wh", "sec_", an(32)),
		of("twilio api key", "TWILIO_KEY", "S", "K", hex(32)),
		of("sendgrid", "SENDGRID_API_KEY", "S", "G.", long(22), ".", long(43)),
		of("mailgun", "MAILGUN_API_KEY", "key", "-", hex(32)),
		of("mailchimp", "MAILCHIMP_API_KEY", hex(32), "-us", num(2)),
		of("npm", "NPM_TOKEN", "np", "m_", an(36)),
		of("pypi", "PYPI_TOKEN", "py", "pi-AgEIcHlwaS5vcmc", long(120)),
		of("docker hub", "DOCKER_TOKEN", "dck", "r_pat_", long(27)),
		of("rubygems", "GEM_HOST_API_KEY", "ruby", "gems_", hex(48)),
		of("vault token", "VAULT_TOKEN", "hv", "s.", long(95)),
		of("new relic user key", "NEW_RELIC_API_KEY", "NR", "AK-", caps(27)),
		of("new relic license", "NEW_RELIC_LICENSE_KEY", hex(36), "NR", "AL"),
		of("openai project", "OPENAI_API_KEY", "sk", "-proj-", long(74), "T3Blb", "kFJ", long(74)),
		of("openai legacy", "OPENAI_API_KEY", "s", "k-", an(20), "T3Blb", "kFJ", an(20)),
		of("anthropic", "ANTHROPIC_API_KEY", "sk", "-ant-", "api03-", long(93), "AA"),
		of("hugging face", "HF_TOKEN", "h", "f_", letters(34)),
		of("groq", "GROQ_API_KEY", "gs", "k_", an(52)),
		of("xai", "XAI_API_KEY", "xa", "i-", an(80)),
		of("grafana service account", "GRAFANA_TOKEN", "gl", "sa_", an(32), "_", hex(8)),
		of("grafana cloud", "GRAFANA_CLOUD_TOKEN", "gl", "c_", b64(90)),
		of("sentry token", "SENTRY_AUTH_TOKEN", "sn", "tryu_", hex(64)),
		of("digitalocean", "DO_TOKEN", "do", "p_v1_", hex(64)),
		of("shopify", "SHOPIFY_TOKEN", "sh", "pat_", hex(32)),
		of("square", "SQUARE_TOKEN", "sq", "0atp-", long(22)),
		of("linear", "LINEAR_API_KEY", "li", "n_api_", an(40)),
		of("notion", "NOTION_TOKEN", "nt", "n_", num(11), an(35)),
		of("airtable", "AIRTABLE_TOKEN", "pa", "t", an(14), ".", hex(64)),
		of("databricks", "DATABRICKS_TOKEN", "da", "pi", hex(32)),
		of("age key", "AGE_KEY", "AGE-SEC", "RET-KEY-1", func(r *random) string { return r.from("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) }),
		of("terraform cloud", "TFE_TOKEN", an(14), ".atl", "asv1.", long(67)),
		of("postman", "POSTMAN_KEY", "PM", "AK-", hex(24), "-", hex(34)),
		of("atlassian", "ATLASSIAN_TOKEN", "ATA", "TT3", long(180), "=", func(r *random) string { return r.from(digits+"ABCDEF", 8) }),
		of("sonarqube", "SONAR_TOKEN", "sq", "p_", hex(40)),
		of("dynatrace", "DT_TOKEN", "dt0", "c01.", of32(24), ".", of32(64)),
		of("planetscale", "PSCALE", "psc", "ale_pw_", long(43)),
		of("pulumi", "PULUMI_ACCESS_TOKEN", "pu", "l-", hex(40)),
		of("doppler", "DOPPLER_TOKEN", "dp", ".pt.", an(43)),
		of("heroku", "HEROKU_KEY", "HR", "KU-AA", long(58)),
		of("openshift", "OC_TOKEN", "sha", "256~", long(43)),
		of("flyio", "FLY_API_TOKEN", "fo", "1_", long(43)),
		of("easypost", "EASYPOST_KEY", "EZ", "AK", low(54)),
		of("tarsy", "TARSY_TOKEN", "tar", "sy_", low(8), "_", low(52)),
		{"base64 jwt", "SA_BLOB", whole(func(r *random) string { return base64.StdEncoding.EncodeToString([]byte(serviceAccountToken(r))) }), shaped},
		{"jwt", "ID_TOKEN", whole(jwt), shaped},
		{"service account token", "SA_TOKEN", whole(serviceAccountToken), shaped},
	}
}

// webhook returns the kind of a URL whose last path segment is the secret.
func webhook(name, key, address string, parts ...any) kind {
	return kind{name: name, key: key, contexts: shaped, make: func(r *random) value {
		path := join(r, parts)

		return value{text: address + path, secrets: []string{path[strings.LastIndexByte(path, '/')+1:]}}
	}}
}

func join(r *random, parts []any) string {
	var text strings.Builder

	for _, part := range parts {
		switch part := part.(type) {
		case string:
			text.WriteString(part)
		case func(*random) string:
			text.WriteString(part(r))
		}
	}

	return text.String()
}

func jwt(r *random) string {
	return signed(r, map[string]any{"sub": r.uuid(), "iat": 1700000000 + r.number(9999999), "scope": "read write"})
}

func serviceAccountToken(r *random) string {
	name := r.word()

	return signed(r, map[string]any{
		"iss": "kubernetes/serviceaccount", "kubernetes.io/serviceaccount/namespace": "prod",
		"kubernetes.io/serviceaccount/service-account.name": name, "sub": fmt.Sprintf("system:serviceaccount:prod:%s", name),
	})
}

func signed(r *random, claims map[string]any) string {
	encode := func(part any) string {
		raw, err := json.Marshal(part)
		if err != nil {
			panic(err)
		}

		return base64.RawURLEncoding.EncodeToString(raw)
	}

	return encode(map[string]string{"alg": "RS256", "typ": "JWT", "kid": r.alnum(12)}) + "." + encode(claims) + "." + r.url64(86)
}
