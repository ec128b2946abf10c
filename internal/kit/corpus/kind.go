package corpus

import (
	"encoding/base64"
	"fmt"
	"slices"
)

var (
	// keyed is for secrets that only their key gives away.
	keyed = []context{inLog, inQuotedLog, inYAML, inQuotedYAML, inPodEnv, inJSON, inPrettyJSON, inNestedJSON, inEnv, inExport, inFlag, inTOML}
	// opaque extends keyed for machine-generated values, which also appear in URLs and properties.
	opaque = slices.Concat(keyed, []context{inURL, inProperties, inPodJSON})
	// shaped is for secrets that are recognizable by their shape.
	shaped = []context{bareLog, barePath, inYAML, inJSON, inURL, inEnv, inNestedJSON, inProse, inPodJSON}
	// line is for a line of text that contains a secret.
	line = []context{alone, inProse, asJSON}
	// block is for multi-line secrets.
	block = []context{alone, inProse, asJSON, inBlock, inEscapedEnv, inJSON}
)

func kinds() []kind { return slices.Concat(tokens(), named(), urls(), lines(), blocks()) }

// named returns the secrets without a recognizable shape.
func named() []kind {
	password := whole((*random).password)
	hexKey := func(n int) func(*random) value { return whole(func(r *random) string { return r.hex(n) }) }
	letters := func(n int) func(*random) value { return whole(func(r *random) string { return r.alnum(n) }) }
	encoded := func(n int) func(*random) value { return whole(func(r *random) string { return r.base64(n) }) }

	return []kind{
		{"password", "DB_PASSWORD", password, keyed},
		{"passwd", "REDIS_PASSWD", password, keyed},
		{"passphrase", "KEYSTORE_PASSPHRASE", password, keyed},
		{"pwd", "SMTP_PWD", password, keyed},
		{"ansible password", "ANSIBLE_SSH_PASS", password, keyed},
		{"snowflake password", "SNOWFLAKE_PASSWORD", password, keyed},
		{"truststore password", "TRUSTSTORE_PASSWORD", password, append([]context{inProperties}, keyed...)},
		{"aws secret key", "AWS_SECRET_ACCESS_KEY", whole(func(r *random) string { return r.from(alnum+"+/", 40) }), keyed},
		{"aws session token", "AWS_SESSION_TOKEN", encoded(240), keyed},
		{"azure client secret", "AZURE_CLIENT_SECRET", whole(func(r *random) string { return r.alnum(3) + r.digits(1) + "Q~" + r.url64(34) }), keyed},
		{"azure storage key", "AZURE_STORAGE_KEY", encoded(64), keyed},
		{"oauth client secret", "OAUTH_CLIENT_SECRET", letters(32), opaque},
		{"oauth refresh token", "REFRESH_TOKEN", letters(48), opaque},
		{"oauth access token", "ACCESS_TOKEN", letters(40), opaque},
		{"api key", "API_KEY", letters(32), opaque},
		{"partner api key", "PARTNER_APIKEY", whole((*random).uuid), opaque},
		{"auth token", "AUTH_TOKEN", hexKey(40), opaque},
		{"twilio auth token", "TWILIO_AUTH_TOKEN", hexKey(32), opaque},
		{"datadog api key", "DD_API_KEY", hexKey(32), opaque},
		{"datadog app key", "DD_APP_KEY", hexKey(40), keyed},
		{"pagerduty key", "PAGERDUTY_INTEGRATION_KEY", hexKey(32), keyed},
		{"opsgenie key", "OPSGENIE_API_KEY", whole((*random).uuid), keyed},
		{"cloudflare token", "CLOUDFLARE_API_TOKEN", whole(func(r *random) string { return r.url64(40) }), keyed},
		{"jenkins token", "JENKINS_API_TOKEN", whole(func(r *random) string { return "11" + r.hex(32) }), keyed},
		{"okta token", "OKTA_API_TOKEN", whole(func(r *random) string { return "00" + r.url64(40) }), keyed},
		{"signing secret", "SIGNING_SECRET", hexKey(32), keyed},
		{"encryption key", "ENCRYPTION_KEY", encoded(32), keyed},
		{"rails secret", "SECRET_KEY_BASE", hexKey(128), keyed},
		{"django secret", "SECRET_KEY", whole(func(r *random) string { return r.from(lower+digits+"^*_-+", 50) }), keyed},
		{"jwt signing key", "JWT_SECRET", letters(40), keyed},
		{"webhook secret", "WEBHOOK_SECRET", letters(24), opaque},
		{"private token", "PRIVATE_TOKEN", letters(20), opaque},
		{"cluster join token", "K3S_TOKEN", whole(func(r *random) string { return "K10" + r.hex(64) + "::server:" + r.hex(32) }), keyed},
		{"bootstrap token", "BOOTSTRAP_TOKEN", whole(func(r *random) string { return r.from(lower+digits, 6) + "." + r.from(lower+digits, 16) }), keyed},
	}
}

// lines returns the secrets that appear in lines with a fixed format.
func lines() []kind {
	// of makes a kind from a format with one secret in it.
	of := func(name, format string, secret func(*random) string) kind {
		return kind{name: name, make: func(r *random) value {
			made := secret(r)

			return value{text: fmt.Sprintf(format, made), secrets: []string{made}}
		}, contexts: line}
	}
	password := (*random).password
	token := func(r *random) string { return r.url64(43) }
	basic := func(r *random) string {
		return base64.StdEncoding.EncodeToString([]byte("svc-" + r.word() + ":" + r.alnum(16)))
	}
	crypt := func(r *random) string { return r.from(alnum+"./", 53) }

	return []kind{
		of("bearer header", "> GET /api/v1/pods HTTP/1.1\n> Authorization: Bearer %s\n> Accept: */*", token),
		of("basic header", "authorization: Basic %s", basic),
		of("token header", "Authorization: token %s", func(r *random) string { return r.hex(40) }),
		of("api key header", "X-Api-Key: %s", func(r *random) string { return r.alnum(32) }),
		of("auth token header", "x-auth-token: %s", func(r *random) string { return r.hex(32) }),
		of("elastic api key", "Authorization: ApiKey %s", func(r *random) string {
			return base64.StdEncoding.EncodeToString([]byte(r.url64(20) + ":" + r.url64(22)))
		}),
		of("genie key", "Authorization: GenieKey %s", (*random).uuid),
		of("cookie", "Cookie: theme=dark; sessionid=%s; lang=en", func(r *random) string { return r.alnum(32) }),
		of("set-cookie", "Set-Cookie: JSESSIONID=%s; Path=/; HttpOnly; Secure", func(r *random) string { return r.from(digits+"ABCDEF", 32) }),
		of("connect.sid cookie", "Cookie: connect.sid=s%%3A%s", func(r *random) string { return r.url64(32) + "." + r.alnum(43) }),
		of("htpasswd bcrypt", "admin:%s", func(r *random) string { return "$2y$" + "10$" + crypt(r) }),
		of("htpasswd apr1", "deploy:%s", func(r *random) string { return "$apr1" + "$" + r.alnum(8) + "$" + r.from(alnum+"./", 22) }),
		of("shadow", "root:%s:19000:0:99999:7:::", func(r *random) string { return "$6" + "$" + r.alnum(16) + "$" + r.from(alnum+"./", 86) }),
		of("mysql flag", "mysql -h db-1 -u root -p%s -e 'SHOW PROCESSLIST'", password),
		of("sshpass", "sshpass -p %s ssh root@10.0.0.7 uptime", password),
		of("curl user", "curl -s -u admin:%s https://grafana.example.com/api/health", password),
		of("curl header", `curl -H "Authorization: Bearer %s" https://api.example.com/v1/me`, token),
		of("redis-cli", "redis-cli -h cache-1 -a %s ping", password),
		of("pgpassword", "PGPASSWORD=%s psql -h db-1 -U app -c 'SELECT 1'", password),
		of("docker login", "docker login -u ci --password %s registry.example.com", password),
		of("netrc", "machine git.example.com login ci password %s", password),
		of("pgpass", "db-1.example.com:5432:orders:app:%s", password),
		of("xml", "<datasource><user>app</user><password>%s</password></datasource>", password),
		of("xml attribute", `<connection host="db-1" user="app" password="%s" />`, password),
		of("ado connection string", "Server=tcp:db-1,1433;Database=orders;User Id=app;Password=%s;Encrypt=True", password),
		of("azure storage string", "DefaultEndpointsProtocol=https;AccountName=ordersprod;AccountKey=%s;EndpointSuffix=core.windows.net", func(r *random) string { return r.base64(64) }),
		of("service bus string", "Endpoint=sb://orders.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=%s", func(r *random) string { return r.base64(32) }),
		of("azure sas", "https://ordersprod.blob.core.windows.net/logs?sv=2024-11-04&sp=r&sig=%s", func(r *random) string { return r.alnum(42) + "%3D" }),
		of("aws signature", "GET https://logs.s3.amazonaws.com/app.log?X-Amz-Date=20261115T000000Z&X-Amz-Signature=%s", func(r *random) string { return r.hex(64) }),
		of("libpq", "host=db-1 port=5432 user=app password=%s dbname=orders sslmode=require", password),
		of("chat", "hey, the admin password is %s, please do not share it", func(r *random) string { return r.alnum(7) + r.digits(5) }),
		of("python repr", "config: {'user': 'app', 'password': '%s', 'pool': 5}", password),
		of("go struct", "cfg={User:app Password:%s Pool:5}", func(r *random) string { return r.alnum(16) }),
		of("ruby hash", `{:user=>"app", :password=>"%s", :pool=>5}`, password),
		of("php array", "'secret_key' => '%s',", func(r *random) string { return r.alnum(40) }),
		of("terraform", "resource \"aws_db_instance\" \"main\" {\n  username = \"app\"\n  password = \"%s\"\n}", password),
		of("npmrc", "//registry.npmjs.org/:_authToken=%s", (*random).uuid),
		of("docker config", "{\"auths\": {\"registry.example.com\": {\"auth\": \"%s\"}}}", basic),
		of("wifi", "network={\n  ssid=\"office\"\n  psk=\"%s\"\n}", password),
		of("java option", "java -Djavax.net.ssl.keyStorePassword=%s -jar app.jar", password),
		of("helm set", "helm upgrade orders ./chart --set postgresql.auth.password=%s --wait", password),
		of("sql identified", "CREATE USER 'app'@'%%' IDENTIFIED BY '%s'", password),
		of("sql alter", "ALTER ROLE app WITH LOGIN PASSWORD '%s';", password),
		of("redis config", "bind 0.0.0.0\nrequirepass %s\nmaxmemory 1gb", password),
		of("json args", `"Cmd":["/app/server","--listen","8080","--db-password","%s","--verbose"]`, password),
		of("yaml args", "args:\n- --listen=:8080\n- --api-token\n- %s\n- --verbose", func(r *random) string { return r.alnum(32) }),
		of("aws configure", "aws configure set aws_secret_access_key %s --profile prod", func(r *random) string { return r.from(alnum+"+/", 40) }),
		of("kubeadm join", "kubeadm join 10.0.0.1:6443 --token %s --discovery-token-ca-cert-hash sha256:0c1d2e3f", func(r *random) string { return r.from(lower+digits, 6) + "." + r.from(lower+digits, 16) }),
		of("go map", "headers=map[Accept:[*/*] Authorization:[Bearer %s] User-Agent:[curl/8.5]]", token),
		of("vault header", `{"X-Vault-Token": ["%s"], "Accept": ["*/*"]}`, token),
		of("python environ", "os.environ['SERVICE_TOKEN'] = '%s'", token),
		of("java setter", `dataSource.setPassword("%s");`, password),
		of("docker run", "docker run -d -e POSTGRES_PASSWORD=%s -p 5432:5432 postgres:17", password),
		of("sshpass env", "SSHPASS=%s sshpass -e ssh root@10.0.0.7", password),
		of("form body", "POST /oauth/token grant_type=password&username=svc&password=%s", func(r *random) string { return r.alnum(16) }),
		of("user in url", "remote: https://%s@git.example.com/platform/infra.git", func(r *random) string { return r.alnum(40) }),
		of("passcode", "the door passcode: %s, as agreed", func(r *random) string { return r.digits(4) + r.alnum(6) }),
		of("csharp", `var client = new Client(apiKey: "%s", region: "eu");`, func(r *random) string { return r.alnum(36) }),
		of("hcl", "  secret_key    = \"%s\"\n  region        = \"eu-west-1\"", func(r *random) string { return r.from(alnum+"+/", 40) }),
		of("windows", "set DB_PASSWORD=%s&& start app.exe", func(r *random) string { return r.alnum(14) }),
		of("error echo", "pq: authentication failed (dsn: host=db user=app password=%s)", func(r *random) string { return r.alnum(14) }),
		of("ini", "[client]\nuser=root\npassword = \"%s\"", password),
		of("kubectl literal", "kubectl create secret generic db --from-literal=password=%s", password),
	}
}
