package mask

import (
	"encoding/base64"
	"regexp"
	"strings"
)

func mustCompile(expression string) *regexp.Regexp { return regexp.MustCompile(expression) }

// start is the beginning of a word. In escaped text the letter of a line break stands right before it.
const start = `(?:\b|\\[nrt])`

// builtinRules are the expressions of the named patterns. What is found by its name or its prefix is not among them.
func builtinRules() []*rule {
	rules := []*rule{
		// Authorization headers, and bearer tokens wherever they are quoted.
		newRule(token, `(?i)`+start+`authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:bearer|basic|token|apikey|geniekey|digest|negotiate|splunk|aws4-hmac-sha256)\s{1,4}([\w.~+/=:-]{8,})`, "authorization"),
		newRule(token, `(?i)`+start+`bearer\s{1,4}([\w.~+/=-]{16,})`, "bearer"),
		newRule(token, `\b(\d{8,10}(?::|%3A)AA[\w-]{32,34})(?:[^\w-]|$)`, ":aa", "%3aaa"),
		newRule(token, `\b([MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?:[^\w-]|$)`, ".g", ".x", ".y", ".z"),
		newRule(token, `(?i)discord(?:app)?\.com(?:/|%2F)api(?:/|%2F)webhooks(?:/|%2F)(\d{16,20}(?:/|%2F)[\w-]{50,80})`, "webhooks"),
		newRule(token, `\b([0-9A-Za-z]{14}\.atlasv1\.[\w-]{60,70})`, ".atlasv1."),
		newRule(token, `\b(pat[0-9A-Za-z]{14}\.[0-9a-f]{64})`, "pat"),
		newRule(apiKey, `\b([0-9a-f]{32}-us\d{1,2})\b`, "-us"),
		newRule(apiKey, `\b([0-9a-f]{36}NRAL)\b`, "nral"),
		newRule(apiKey, `\b(SK[0-9a-f]{32})(?:[^\w]|$)`, "sk"),
		newRule(slackToken, `(?i)hooks\.slack\.com(?:/|%2F)(?:services|workflows|triggers)(?:/|%2F)([\w%/+]{20,100})`, "hooks.slack.com"),
		// Signatures make an address a key.
		newRule(secretKey, `(?i)(?:[?&]|\\u0026)(?:sig|x-amz-signature|x-goog-signature|x-amz-security-token)=([\w%+/=-]{20,})`, "sig=", "signature=", "security-token="),
		// Passwords in addresses and on command lines.
		newRule(password, `[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@'"<>\\]{0,100}:([^\s/@'"<>\\]{3,200})@[\w\[.-]`, "://"),
		newRule(password, `[\w.-]{1,64}:([^\s@'"<>\\/]{3,200})@(?:tcp|unix)\(`, "@tcp(", "@unix("),
		newRule(password, start+`(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]*?\s-p([^\s'"$-][^\s'"]{3,100})`, "mysql", "mariadb"),
		newRule(password, start+`sshpass\s{1,4}-p\s{0,4}['"]?([^\s'"$][^\s'"]{3,100})`, "sshpass"),
		newRule(password, start+`redis-cli\b[^\n]*?\s-a\s{1,4}['"]?([^\s'"$][^\s'"]{3,100})`, "redis-cli"),
		newRule(password, start+`curl\b[^\n]*?\s(?:-u|--user)[\s=]{0,4}['"]?[\w.@-]{1,64}:([^\s'"$][^\s'"]{2,100})`, "curl"),
		newRule(password, start+`docker\s{1,4}login\b[^\n]*?\s-p\s{1,4}['"]?([^\s'"$-][^\s'"]{3,100})`, "docker"),
		newRule(password, start+`login\s{1,4}\S{1,64}\s{1,4}password\s{1,4}(\S{4,100})`, "login"),
		newRule(password, `(?m)(?:^|[\s"]|\\n)[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,64}:[\w*.-]{1,64}:([^\s:"'\\]{6,100})`, ":5432:", ":*:", ":6432:", ":5433:"),
		newRule(password, `(\$(?:2[abxy]|apr1|1|5|6|7|y|sha1|argon2[a-z]{1,2}|pbkdf2[\w-]{0,12}|scrypt)\$[\w./$=,+-]{20,200})`, "$2a$", "$2b$", "$2y$", "$2x$", "$apr1$", "$1$", "$5$", "$6$", "$7$", "$y$", "$argon2", "$pbkdf2", "$scrypt$", "$sha1$"),
		newRule(password, `(\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{20,120}={0,2})`, "{ssha", "{sha"),
		newRule(password, `://([^\s/:@'"<>\\]{20,255})@[\w\[.-]`, "://"),
		newRule(password, `(?i)`+start+`identified\s{1,4}by\s{1,4}(?:password\s{1,4})?\\?['"]([^'"\\]{4,100})`, "identified"),
		newRule(password, `(?i)`+start+`(?:requirepass|masterauth)\s{1,4}\\?["']?([^\s"'\\]{4,512})`, "requirepass", "masterauth"),
		newRule(email, `([A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,24})\b`, "@"),
	}

	for _, r := range rules {
		r.near = nearness[r.words[0]]
		r.leaks = r.words[0] == "authorization" || r.words[0] == "curl"

		// Passwords may be words, but after login or bearer words are prose.
		prose := r.words[0] == "bearer" || r.words[0] == "login"
		if r.name == password || r.name == token {
			r.check = func(_ *scan, _ window, secret string) bool {
				return !placeholder(secret, value{}) && (!prose || !harmless(secret))
			}
		}
	}

	for _, r := range rules {
		if strings.HasPrefix(r.expression, "://(") {
			r.check = func(_ *scan, _ window, secret string) bool { return looksRandom(secret) }
		}
	}

	short := newRule(base64Short, `(?m)^[ \t-]{0,40}["']?[\w.-]{1,80}["']?:[ \t]{1,8}["']?([A-Za-z0-9+/]{8,40}={0,2})["']?,?[ \t]{0,8}\r?$`, ": ")
	short.check = func(_ *scan, _ window, secret string) bool { return isShortText(secret) }

	return append(rules, short)
}

// harmless knows words, also joined ones, as they follow "bearer" in prose.
func harmless(secret string) bool {
	words := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_.:=/", r) {
			return -1
		}

		return r
	}, secret)

	return isLetters(words) && (len(words) < 16 || !mixedCase(words))
}

// isShortText tells base64 of readable text from a word: few words decode to nothing but printable characters.
func isShortText(secret string) bool {
	if len(secret)%4 != 0 {
		return false
	}

	raw, err := base64.StdEncoding.DecodeString(secret)

	return err == nil && printable(raw)
}

// nearness tells rules whose words are common, but seldom followed by what they look for, whether to look at all.
var nearness = map[string]func(s *scan, start, end int) (window, bool){
	"://":           (*scan).nearUser,
	"bearer":        func(s *scan, start, end int) (window, bool) { return s.nearValue(start, end, 0, 16) },
	"authorization": func(s *scan, start, end int) (window, bool) { return s.nearValue(start, end, 1, 8) },
	"mysql":         func(s *scan, start, end int) (window, bool) { return s.nearFlag(start, end, " -p") },
	"redis-cli":     func(s *scan, start, end int) (window, bool) { return s.nearFlag(start, end, " -a") },
	"curl":          func(s *scan, start, end int) (window, bool) { return s.nearFlag(start, end, " -u", " --user") },
	"docker":        func(s *scan, start, end int) (window, bool) { return s.nearFlag(start, end, " -p") },
}

// nearUser looks for the @ behind a user and a password.
func (s *scan) nearUser(start, end int) (window, bool) {
	colon := false

	for at := end; at < len(s.text) && at < end+320; at++ {
		switch c := s.text[at]; c {
		case ':':
			colon = true
		case '@':
			if colon || at-end >= 20 {
				return s.around(start-40, at+slack), true
			}
		case '/', '"', '\'', '<', '>', '\\', ' ', '\t', '\n', '\r':
			return window{}, false
		}
	}

	return window{}, false
}

// nearValue looks for some signs, some words and a run of some length.
func (s *scan) nearValue(start, end, words, least int) (window, bool) {
	at := end
	for n := 0; n < 14 && at < len(s.text) && (isSpace(s.text[at]) || strings.IndexByte(`:="'\`, s.text[at]) >= 0); n++ {
		at++
	}

	for range words {
		for n := 0; n < 20 && at < len(s.text) && (isAlnum(s.text[at]) || s.text[at] == '-'); n++ {
			at++
		}

		for n := 0; n < 4 && at < len(s.text) && isSpace(s.text[at]); n++ {
			at++
		}
	}

	for n := range least {
		if at+n >= len(s.text) || !isRun(s.text[at+n]) {
			return window{}, false
		}
	}

	return s.around(start-slack, s.spaceAfter(at)+slack), true
}

// nearFlag looks for a flag in the line of a command.
func (s *scan) nearFlag(start, end int, flags ...string) (window, bool) {
	line := s.text[end:min(len(s.text), end+320)]
	line, _, _ = strings.Cut(line, "\n")

	for _, flag := range flags {
		if at := strings.Index(line, flag); at >= 0 {
			return s.around(start-slack, s.spaceAfter(min(len(s.text), end+at+len(flag)+slack))+128), true
		}
	}

	return window{}, false
}
