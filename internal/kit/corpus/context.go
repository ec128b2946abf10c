package corpus

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// context is a place where secrets turn up. It defines how a key and its value are written there.
type context struct {
	name   string
	render func(r *random, key, text string) string
	// write returns the secret as it is spelled there, such as escaped in JSON.
	write func(secret string) string
}

func plain(secret string) string { return secret }

func quoted(secret string) string {
	raw, err := json.Marshal(secret)
	if err != nil {
		panic(err)
	}

	return string(raw[1 : len(raw)-1])
}

func twiceQuoted(secret string) string { return quoted(quoted(secret)) }

// indented indents all lines but the first, as in a YAML block.
func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

// Contexts of a key with its value.
var (
	inLog = context{"log line", func(r *random, key, text string) string {
		return fmt.Sprintf("%s INFO  %s: starting with %s=%s timeout=30s replicas=3", r.stamp(), r.word(), strings.ToLower(key), text)
	}, plain}
	inQuotedLog = context{"structured log", func(r *random, key, text string) string {
		return fmt.Sprintf(`time=%s level=WARN msg="retrying after refusal" service=%s %s=%q attempt=%d`, r.stamp(), r.word(), strings.ToLower(key), text, r.number(9))
	}, quoted}
	inYAML = context{"yaml", func(r *random, key, text string) string {
		return fmt.Sprintf("service:\n  name: %s\n  replicas: %d\n  %s: %s\n  logLevel: info\n", r.word(), r.number(5), camel(key), text)
	}, plain}
	inQuotedYAML = context{"quoted yaml", func(r *random, key, text string) string {
		return fmt.Sprintf("%s:\n  host: %s\n  %s: %q\n  pool: 10\n", r.word(), r.host(), strings.ToLower(key), text)
	}, quoted}
	inPodEnv = context{"pod env", func(r *random, key, text string) string {
		return fmt.Sprintf("    spec:\n      containers:\n      - name: %s\n        env:\n        - name: LOG_LEVEL\n          value: debug\n        - name: %s\n          value: %s\n        image: registry.example.com/%s:1.4.2\n",
			r.word(), key, text, r.word())
	}, plain}
	inPodJSON = context{"pod env json", func(r *random, key, text string) string {
		return fmt.Sprintf(`{"containers":[{"name":"%s","env":[{"name":"PORT","value":"8080"},{"name":"%s","value":%s}],"ports":[{"containerPort":8080}]}]}`, r.word(), key, jsonOf(text))
	}, quoted}
	inJSON = context{"json", func(r *random, key, text string) string {
		return fmt.Sprintf(`{"service":"%s","%s":%s,"retries":3,"enabled":true}`, r.word(), strings.ToLower(key), jsonOf(text))
	}, quoted}
	inPrettyJSON = context{"pretty json", func(r *random, key, text string) string {
		return fmt.Sprintf("{\n  \"name\": \"%s\",\n  \"%s\": %s,\n  \"region\": \"eu-west-1\"\n}", r.word(), camel(key), jsonOf(text))
	}, quoted}
	inNestedJSON = context{"json in json", func(r *random, key, text string) string {
		inner := fmt.Sprintf(`{"%s":%s,"user":"svc-%s"}`, camel(key), jsonOf(text), r.word())

		return fmt.Sprintf(`{"level":"error","msg":"bad reply","body":%s,"code":%d}`, jsonOf(inner), 400+r.number(100))
	}, twiceQuoted}
	inEnv = context{"env dump", func(r *random, key, text string) string {
		return fmt.Sprintf("HOSTNAME=%s-%s\nPATH=/usr/local/bin:/usr/bin:/bin\n%s=%s\nHOME=/root\nKUBERNETES_PORT=tcp://10.96.0.1:443\n", r.word(), r.from(lower+digits, 5), key, text)
	}, plain}
	inExport = context{"shell", func(r *random, key, text string) string {
		return fmt.Sprintf("#!/bin/sh\nexport %s='%s'\nexec /app/%s serve\n", key, text, r.word())
	}, plain}
	inFlag = context{"cli flag", func(r *random, key, text string) string {
		flag := strings.ReplaceAll(strings.ToLower(key), "_", "-")

		return fmt.Sprintf("Command: /usr/bin/%s --listen=:8080 --%s%s%s --verbose", r.word(), flag, r.pick("=", " "), text)
	}, plain}
	inURL = context{"url", func(r *random, key, text string) string {
		return fmt.Sprintf("GET https://%s/v1/items?page=2&%s=%s&limit=50 returned 502", r.host(), strings.ToLower(key), url.QueryEscape(text))
	}, url.QueryEscape}
	inProperties = context{"properties", func(r *random, key, text string) string {
		return fmt.Sprintf("server.port=8080\nspring.application.name=%s\napp.%s=%s\nlogging.level.root=INFO\n", r.word(), strings.ReplaceAll(strings.ToLower(key), "_", "-"), text)
	}, plain}
	inTOML = context{"toml", func(r *random, key, text string) string {
		return fmt.Sprintf("[%s]\nendpoint = \"https://%s\"\n%s = \"%s\"\nretries = 5\n", r.word(), r.host(), strings.ToLower(key), text)
	}, plain}
)

// Contexts of a value without a key.
var (
	bareLog = context{"bare in a log", func(r *random, _, text string) string {
		return fmt.Sprintf("%s ERROR [%s] upstream refused credential %s (attempt %d of 5)", r.stamp(), r.word(), text, 1+r.number(5))
	}, plain}
	barePath = context{"bare in quotes", func(r *random, _, text string) string {
		return fmt.Sprintf(`request to %s failed: unexpected value "%s", see the runbook`, r.host(), text)
	}, quoted}
	alone   = context{"text", func(r *random, _, text string) string { return text }, plain}
	inProse = context{"prose", func(r *random, _, text string) string {
		return fmt.Sprintf("The %s pods restart since noon. I tried this:\n\n```\n%s\n```\n\nand it still fails, any idea?", r.word(), text)
	}, plain}
	asJSON = context{"json string", func(r *random, _, text string) string {
		return fmt.Sprintf(`{"ts":"%s","service":"%s","message":%s}`, r.stamp(), r.word(), jsonOf(text))
	}, quoted}
)

// Contexts of a multi-line value.
var (
	inBlock = context{"yaml block", func(r *random, key, text string) string {
		return fmt.Sprintf("config:\n  owner: %s\n  %s: |\n    %s\n  mode: strict\n", r.word(), camel(key), indented(text, "    "))
	}, func(secret string) string { return indented(secret, "    ") }}
	inEscapedEnv = context{"escaped env", func(r *random, key, text string) string {
		return fmt.Sprintf("NODE=%s\n%s=%q\nZONE=b\n", r.word(), key, text)
	}, quoted}
	inBase64Env = context{"base64 env", func(r *random, key, text string) string {
		return fmt.Sprintf("REGION=eu\n%s=%s\nZONE=b\n", key, base64.StdEncoding.EncodeToString([]byte(text)))
	}, func(secret string) string { return base64.StdEncoding.EncodeToString([]byte(secret)) }}
)

func jsonOf(text string) string { return `"` + quoted(text) + `"` }

// camel turns DB_PASSWORD into dbPassword.
func camel(key string) string {
	words := strings.Split(strings.ToLower(key), "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}

	return strings.Join(words, "")
}
