package mask

import (
	"slices"
	"strings"
)

// authorization is the class of names whose value is a user and a password in base64.
const authorization = "authorization"

// classify tells from a name which kind of value it has: the name of a pattern, or nothing if its values are no secrets.
// The last words decide: a token is a secret, a token_count is a number.
func classify(name string) string {
	parts := split(name)
	if len(parts) == 0 {
		return ""
	}

	last := parts[len(parts)-1]
	before := ""

	if len(parts) > 1 {
		before = parts[len(parts)-2]
	}

	switch {
	case hasSuffix(last, "password", "passwd", "passphrase", "passcode", "passwort") || slices.Contains(shortPasswords, last):
		return password
	case last == "pass":
		return passClass(before)
	case hasSuffix(last, "token"):
		return tokenClass(last, before)
	case hasSuffix(last, "secret"):
		return secretKey
	case last == "auth":
		return authorization
	case last == "credential" || last == "credentials":
		return secretKey
	case last == "data":
		return dataClass(name)
	case last == "base" && before == "key":
		return secretKey
	case hasSuffix(last, "key"):
		return keyClass(name, last, before)
	}

	return ""
}

// shortPasswords are too short to look for at the end of other words.
var shortPasswords = []string{"pwd", "psk", "pw", "userpass", "dbpass", "sshpass", "rootpass", "adminpass", "smtppass", "mypass", "bindpw", "rootpw"}

// tokenClass leaves out the tokens with which lists are continued.
func tokenClass(last, before string) string {
	if word := strings.TrimSuffix(last, "token"); word != "" {
		before = word
	}

	if slices.Contains([]string{"page", "next", "continue", "continuation", "cursor", "sync", "resume", "skip", "cancellation"}, before) {
		return ""
	}

	return token
}

// passClass leaves out a pass of which nothing says that it is a password: tests pass too.
func passClass(before string) string {
	if before == "" || slices.Contains([]string{"first", "second", "last", "no", "all", "single"}, before) {
		return ""
	}

	return password
}

// dataClass knows the fields of a kubeconfig.
func dataClass(name string) string {
	switch strings.ToLower(strings.TrimLeft(name, "-.")) {
	case "client-key-data":
		return privateKey
	case "certificate-authority-data", "client-certificate-data":
		return authority
	}

	return ""
}

// keyClass tells keys that open something from those that only find something.
func keyClass(name, last, before string) string {
	joined := strings.ToLower(name)
	qualifier := before

	if last != "key" {
		qualifier = strings.TrimSuffix(last, "key")
	}

	switch qualifier {
	case "secret", "access":
		switch {
		case qualifier == "access" && !strings.Contains(joined, "secret") && !strings.Contains(joined, "shared"):
			return apiKey
		case strings.Contains(joined, "aws"):
			return awsSecretKey
		default:
			return secretKey
		}
	case "private":
		return privateKey
	case "encryption", "signing", "master", "shared", "account", "storage", "hmac", "session", "cipher", "crypto", "jwt":
		return secretKey
	case "api", "app", "application", "auth", "integration", "license", "licence", "subscription", "service", "ingest", "ingestion", "write",
		"deploy", "routing", "client", "consumer", "functions", "admin", "sdk":
		return apiKey
	}

	return ""
}

func hasSuffix(word string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(word, suffix) })
}

// split cuts a name into lower-case words: DB_PASSWORD, dbPassword and db-password give the same ones.
func split(name string) []string {
	var parts []string

	start := 0
	cut := func(end int) {
		if end > start {
			parts = append(parts, strings.ToLower(name[start:end]))
		}
	}

	for i := range len(name) {
		switch {
		case !isAlnum(name[i]):
			cut(i)
			start = i + 1
		case i > start && isUpper(name[i]) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])):
			cut(i)
			start = i
		}
	}

	cut(len(name))

	return parts
}
