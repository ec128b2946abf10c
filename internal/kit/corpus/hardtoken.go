package corpus

// shapedKey is a name that says nothing about its value.
const shapedKey = "VALUE"

// hardTokens returns vendor tokens that only their shape gives away: they have no name, or one that says nothing.
func hardTokens() []kind {
	of := func(name string, parts ...any) kind {
		return kind{name: name, key: shapedKey, contexts: shapedHard, make: whole(func(r *random) string { return join(r, parts) })}
	}
	long := func(n int) func(*random) string { return func(r *random) string { return r.url64(n-1) + r.digits(1) } }
	an := func(n int) func(*random) string { return func(r *random) string { return r.alnum(n-1) + r.digits(1) } }
	hex := func(n int) func(*random) string { return func(r *random) string { return r.hex(n-1) + r.digits(1) } }
	caps := func(n int) func(*random) string { return func(r *random) string { return r.from(upper+digits, n) } }
	snowflake := func(r *random) string { return rawBase64(r.digits(18)) }

	return []kind{
		of("discord bot 2020", snowflake, ".X", an(5), ".", long(27)),
		of("discord bot 2024", snowflake, ".G", an(5), ".", long(38)),
		of("discord bot 2018", snowflake, ".D", an(5), ".", long(27)),
		of("tailscale auth key", "ts", "key-auth-k", an(10), "CNTRL-", an(32)),
		of("tailscale api key", "ts", "key-api-k", an(10), "CNTRL-", an(32)),
		of("tailscale client secret", "ts", "key-client-k", an(10), "CNTRL-", an(32)),
		of("supabase token", "sb", "p_", hex(40)),
		of("supabase secret key", "sb_", "secret_", long(31)),
		of("circleci token", "CCI", "PAT_", an(22), "_", hex(40)),
		of("buildkite token", "bk", "ua_", hex(40)),
		of("figma token", "fi", "gd_", long(40)),
		of("replicate token", "r8", "_", an(37)),
		of("1password service account", "ops", "_ey", "J", an(300)),
		of("1password secret key", "A3", "-", caps(6), "-", caps(6), "-", caps(5), "-", caps(5), "-", caps(5), "-", caps(5)),
		of("vault legacy token", "s", ".", an(24)),
		of("vault batch token", "hv", "b.", long(120)),
		of("tarsy share", "tarsy", "share_", func(r *random) string { return r.from(lower+"234567", 52) }),
		of("okta token", "SS", "WS 00", long(40)),
		of("netlify token", "nf", "p_", an(36)),
		of("resend key", "re", "_", an(8), "_", an(24)),
		of("posthog key", "ph", "x_", an(43)),
		of("nvidia key", "nv", "api-", long(64)),
		of("pinecone key", "pc", "sk_", an(6), "_", an(56)),
		of("langsmith key", "ls", "v2_pt_", hex(32), "_", hex(10)),
		of("brevo key", "xk", "eysib-", hex(64), "-", an(16)),
		of("sourcegraph token", "sg", "p_", hex(16), "_", hex(40)),
		of("contentful token", "CF", "PAT-", long(43)),
		of("bitbucket password", "AT", "BB", an(32)),
		of("hubspot token", "pa", "t-eu1-", (*random).uuid),
		of("slack cookie", "xo", "xd-", an(60)),
		of("prefect key", "pn", "u_", an(36)),
		of("apify token", "apify", "_api_", an(36)),
		of("perplexity key", "pp", "lx-", an(48)),
		of("render key", "rn", "d_", an(32)),
		of("fly token", "fm", "2_", an(90)),
		of("axiom token", "xa", "at-", (*random).uuid),
		of("shopify app", "sh", "pca_", hex(32)),
		of("gitlab trigger", "gl", "ptt-", hex(40)),
	}
}

// shapedHard are contexts in which no name identifies the token.
var shapedHard = []context{
	notation("bare in a log", plain, "2026-11-18T06:00:00Z ERROR refused %.0s%s by upstream"),
	notation("in quotes", plain, "unexpected value %.0s\"%s\", see docs"),
	notation("in parentheses", plain, "login failed %.0s(%s)"),
	notation("env", plain, "%s=%s\nPORT=80\n"),
	notation("yaml", snake, "app:\n  %s: %s\n"),
	notation("json", camel, `{"%s":"%s","n":1}`),
	notation("path", plain, "GET /v1/%.0sapps/%s/status 200"),
	notation("query", snake, "GET /cb?state=1&%s=%s&x=1 200"),
	notation("csv", plain, "1,ada,%.0s%s,ops\n2,bob,,dev\n"),
	notation("command", plain, "tool login %.0s%s && tool sync"),
	notation("markdown", plain, "Use `%.0s%s` for now."),
	notation("header", pascal, "X-%s: %s"),
	notation("end of sentence", plain, "The old one was %.0s%s."),
	notation("go struct", pascal, "{Host:db-1 %s:%s Pool:5}"),
	notation("xml", camel, "<v id=\"%s\">%s</v>"),
}
