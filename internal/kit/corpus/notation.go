package corpus

import (
	"fmt"
	"net/url"
	"strings"
)

func kebab(key string) string { return strings.ReplaceAll(strings.ToLower(key), "_", "-") }
func snake(key string) string { return strings.ToLower(key) }

func pascal(key string) string {
	name := camel(key)

	return strings.ToUpper(name[:1]) + name[1:]
}

// notation returns a context whose format has one verb for the name and one for the secret, in this order.
func notation(name string, spell func(string) string, format string) context {
	return context{name, func(_ *random, key, text string) string { return fmt.Sprintf(format, spell(key), text) }, plain}
}

// reversed is like notation, with the secret before its name.
func reversed(name string, spell func(string) string, format string) context {
	return context{name, func(_ *random, key, text string) string { return fmt.Sprintf(format, text, spell(key)) }, plain}
}

// assignedHard are notations that assign a value to a name, in configuration, programs and logs.
var assignedHard = []context{
	notation("env file", plain, "APP_ENV=prod\n%s=%s\nLOG_LEVEL=info\n"),
	notation("env file, quoted", plain, "# settings\n%s=\"%s\"\nPORT=8080\n"),
	notation("dockerfile", plain, "FROM alpine:3.22\nENV %s %s\nRUN make\n"),
	notation("compose list", plain, "services:\n  web:\n    environment:\n      - MODE=prod\n      - %s=%s\n"),
	notation("powershell", plain, "$env:%s = '%s'; ./run.ps1"),
	notation("setx", plain, "setx %s %s /M"),
	notation("systemd unit", plain, "[Service]\nEnvironment=\"%s=%s\"\nExecStart=/usr/bin/app\n"),
	notation("yaml", snake, "app:\n  %s: %s\n  port: 80\n"),
	notation("yaml, single quotes", camel, "app:\n  %s: '%s'\n  port: 80\n"),
	notation("yaml anchor", snake, "defaults:\n  %s: &shared %s\n  port: 80\n"),
	notation("yaml quoted anchor", snake, "defaults:\n  %s: &p1 \"%s\"\n  port: 80\n"),
	notation("yaml tag", snake, "app:\n  %s: !!str %s\n  port: 80\n"),
	notation("yaml folded", snake, "app:\n  %s: >-\n    %s\n  port: 80\n"),
	notation("yaml literal", camel, "app:\n  %s: |\n    %s\n  port: 80\n"),
	notation("yaml literal, chomped", kebab, "app:\n  %s: |-  # rotate\n    %s\n  port: 80\n"),
	notation("yaml flow", snake, "db: {host: db-1, %s: %s, pool: 5}\n"),
	notation("yaml item", snake, "users:\n- name: ada\n- %s: %s\n"),
	notation("yaml next line", snake, "app:\n  %s:\n    %s\n  port: 80\n"),
	notation("json", camel, `{"host":"db-1","%s":"%s","pool":5}`),
	notation("json, spaced", snake, "{\n  \"host\" : \"db-1\",\n  \"%s\" : \"%s\"\n}"),
	notation("json list", snake, `{"%s": ["%s"], "pool": 5}`),
	notation("log", snake, "2026-11-18T06:00:00Z INFO connecting user=app %s=%s host=db-1"),
	notation("log, brackets", snake, "06:00:00.123 [main] DEBUG Login - request [user=app, %s=%s, otp=none]"),
	notation("log, parentheses", camel, "WARN: retry (user=app, %s=%s) failed"),
	notation("log, colon", snake, "E1118 06:00:00 auth.go:12] refused, user: app, %s: %s, retry: 3"),
	notation("log, quoted", snake, "level=error msg=refused user=\"app\" %s=\"%s\" code=401"),
	notation("syslog", snake, "Nov 18 06:00:00 db-1 app[123]: %s=%s user=app"),
	notation("flag", kebab, "/usr/bin/app --host db-1 --%s %s --verbose"),
	notation("flag, equals", kebab, "/usr/bin/app --host=db-1 --%s=%s --verbose"),
	notation("single-dash flag", kebab, "/usr/bin/app -host db-1 -%s %s -verbose"),
	notation("flag list", kebab, `"args": ["--host", "db-1", "--%s", "%s"]`),
	notation("java option", kebab, "java -Dapp.%s=%s -jar app.jar"),
	notation("env prefix", plain, "env %s=%s ./migrate up"),
	notation("docker option", plain, "docker run -e %s=%s -p 80:80 web"),
	notation("ini", snake, "[db]\nhost = db-1\n%s = %s\n"),
	notation("properties", kebab, "db.host=db-1\ndb.%s=%s\n"),
	notation("properties, colon", kebab, "db.host: db-1\ndb.%s: %s\n"),
	notation("hcl", snake, "db {\n  host = \"db-1\"\n  %s = \"%s\"\n}\n"),
	notation("helm set block", kebab, "set {\n  name  = \"db.%s\"\n  value = \"%s\"\n}\n"),
	notation("hcl object", plain, "env = [{ name = \"%s\", value = \"%s\" }]"),
	notation("toml inline", snake, "db = { host = \"db-1\", %s = \"%s\" }\n"),
	notation("python dict", snake, "{'host': 'db-1', '%s': '%s', 'pool': 5}"),
	notation("python repr", snake, "Settings(host='db-1', %s='%s', pool=5)"),
	notation("python bytes", snake, "{'host': 'db-1', '%s': b'%s'}"),
	notation("go struct", pascal, "config={Host:db-1 %s:%s Pool:5}"),
	notation("go pointer", pascal, "loaded &{Host:db-1 Pool:5 %s:%s}"),
	notation("go syntax", pascal, `main.Config{Host:"db-1", %s:"%s", Pool:5}`),
	notation("go map", snake, "map[host:db-1 %s:%s user:app]"),
	notation("java record", camel, "Config[host=db-1, %s=%s, pool=5]"),
	notation("java bean", camel, "Config{host='db-1', %s='%s'}"),
	notation("rust debug", snake, `Config { host: "db-1", %s: "%s" }`),
	notation("rust option", snake, `Config { host: "db-1", %s: Some("%s") }`),
	notation("js object", camel, "const cfg = { host: 'db-1', %s: '%s' };"),
	notation("ruby hash", snake, `{:host=>"db-1", :%s=>"%s"}`),
	notation("php array", snake, "['host' => 'db-1', '%s' => '%s']"),
	notation("setter", pascal, `config.set%s("%s");`),
	notation("xml element", camel, "<db><host>db-1</host><%s>%s</x></db>"),
	notation("xml attribute", camel, `<db host="db-1" %s="%s"/>`),
	notation("xml property", kebab, `<property name="db.%s">%s</property>`),
	notation("plist", camel, "<key>%s</key>\n\t<string>%s</string>"),
	notation("pod env", plain, "env:\n- name: %s\n  value: %s\n- name: MODE\n  value: prod\n"),
	notation("pod env, block", plain, "env:\n- name: %s\n  value: |-\n    %s\n- name: MODE\n  value: prod\n"),
	notation("pod env, go", plain, "Env:[]EnvVar{EnvVar{Name:%s,Value:%s,ValueFrom:nil,},}"),
	notation("describe", plain, "    Environment:\n      MODE:   prod\n      %s:  %s\n"),
	reversed("value first", plain, "env:\n- value: %s\n  name: %s\n- value: prod\n  name: MODE\n"),
	reversed("quoted value first", plain, "env:\n  - value: \"%s\"\n    name: %s\n"),
	reversed("value first in json", plain, `{"env":[{"value":"%s","name":"%s"},{"value":"prod","name":"MODE"}]}`),
	reversed("value first, pretty", plain, "{\n  \"Value\": \"%s\",\n  \"Key\": \"%s\"\n}"),
	reversed("value first in hcl", snake, "set {\n  value = \"%s\"\n  name  = \"%s\"\n}\n"),
	reversed("value first in xml", kebab, `<add value="%s" key="%s" />`),
	notation("cloudformation", pascal, "--parameters ParameterKey=%s,ParameterValue=%s"),
	{"query", func(_ *random, key, text string) string {
		return fmt.Sprintf("GET /login?user=app&%s=%s&next=%%2F HTTP/1.1", snake(key), url.QueryEscape(text))
	}, url.QueryEscape},
	{"form", func(_ *random, key, text string) string {
		return fmt.Sprintf("body: %s=%s&remember=1", snake(key), url.QueryEscape(text))
	}, url.QueryEscape},
	{"multipart form", func(_ *random, key, text string) string {
		return fmt.Sprintf("--b1\nContent-Disposition: form-data; name=\"%s\"\n\n%s\n--b1--\n", snake(key), text)
	}, plain},
}

// rowsHard are tables with the name in the header.
var rowsHard = []context{
	notation("csv", snake, "user,%s,age\nada,%s,36\n"),
	notation("csv, quoted", snake, "\"user\",\"%s\"\n\"ada\",\"%s\"\n"),
	notation("csv, semicolons", snake, "id;user;%s;note\n1;ada;%s;none\n"),
	notation("csv, title case", pascal, "Name,Login Name,%s,Group\nAda L,ada,%s,ops\n"),
	notation("tsv", snake, "user\t%s\tage\nada\t%s\t36\n"),
	notation("psql", snake, " user |  %s  | age \n------+------------+-----\n ada  | %s | 36\n(1 row)\n"),
	notation("mysql table", snake, "+------+----------+\n| user | %s |\n+------+----------+\n| ada  | %s |\n+------+----------+\n"),
	notation("markdown", snake, "| user | %s | age |\n|---|---|---|\n| ada | %s | 36 |\n"),
	notation("aligned", plain, "USER   %s                          \nada    %s\n"),
	notation("aligned, lower case", snake, "user   %s\nada    %s\n"),
	notation("aligned, ruled", snake, "user   %s\n-----  ----------\nada    %s\n"),
	notation("mysql vertical", snake, "*************************** 1. row ***************************\n    user: ada\n    %s: %s\n"),
	notation("psql expanded", snake, "-[ RECORD 1 ]---\nuser | ada\n%s | %s\n"),
}
