package mask

import (
	"slices"
	"strings"
)

// Classes of names that are not patterns themselves, see patternOf.
const (
	// authorization is the class of names with a base64-encoded user and password as value.
	authorization = "authorization"
	// barePass is the class of the name pass alone. Tests pass too, so its values are checked more strictly than passwords.
	barePass = "pass"
	// credential is the class of names whose value is a key, or a user and a password.
	credential = "credential"
)

// classify returns the kind of value that a name has: the name of a pattern, or an empty string if its values are not secrets. The last
// words decide: a token is a secret, a token_count is a number.
func classify(name string) string {
	parts := unqualified(split(name))
	if len(parts) == 0 {
		return ""
	}

	last := strings.TrimRight(parts[len(parts)-1], "0123456789")
	before := ""

	if len(parts) > 1 {
		before = parts[len(parts)-2]
	}

	switch {
	case hasSuffix(last, "password", "passwd", "passphrase", "passcode", "passwort", "pw") || slices.Contains(shortPasswords, last):
		return password
	case hasSuffix(last, "pass"):
		return passClass(last, before)
	case hasSuffix(last, "token"):
		return tokenClass(last, before)
	case hasSuffix(last, "secret"):
		return secretKey
	case last == "auth":
		return authorization
	case slices.Contains([]string{"cred", "creds", "credential", "credentials"}, last):
		return credential
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
var shortPasswords = []string{"pwd", "psk"}

// qualifiers can follow the word that names the kind of value: DB_PASSWORD_OLD, api_token_prod.
var qualifiers = []string{
	"old", "new", "prod", "production", "dev", "development", "stage", "staging", "test", "testing", "primary", "secondary", "confirm", "confirmation", "confirmed",
	"current", "previous", "prev", "plain", "plaintext", "base64", "b64", "value", "raw", "string",
}

// unqualified removes numbers and qualifiers from the end of a name.
func unqualified(parts []string) []string {
	for len(parts) > 1 {
		last := parts[len(parts)-1]
		if strings.Trim(last, "0123456789") != "" && !slices.Contains(qualifiers, last) {
			break
		}

		parts = parts[:len(parts)-1]
	}

	return parts
}

// pluralClass returns the class of the values of a plural name such as passwords or API_KEYS, or an empty string.
func pluralClass(name string) string {
	if len(name) < 2 || name[len(name)-1]|' ' != 's' {
		return ""
	}

	// passs is not a plural.
	if class := classify(name[:len(name)-1]); class != barePass {
		return class
	}

	return ""
}

// tokenClass excludes pagination tokens.
func tokenClass(last, before string) string {
	if word := strings.TrimSuffix(last, "token"); word != "" {
		before = word
	}

	if slices.Contains([]string{"page", "next", "continue", "continuation", "cursor", "sync", "resume", "skip", "cancellation"}, before) {
		return ""
	}

	return token
}

// passClass excludes names where pass does not mean password.
func passClass(last, before string) string {
	switch {
	case last == "pass" && before == "":
		return barePass
	case last == "pass" && slices.Contains(otherPasses, before) || last != "pass" && slices.Contains(otherPasses, strings.TrimSuffix(last, "pass")):
		return ""
	}

	return password
}

// otherPasses are words before a pass that is a run over something or a way through it.
var otherPasses = []string{
	"first", "second", "third", "last", "no", "all", "single", "multi", "one", "two", "next", "render", "shadow", "depth", "test", "tests", "build", "lint", "check",
	"dry", "proxy", "fastcgi", "uwsgi", "grpc", "scgi", "memcached", "by", "com", "tres", "sur", "over", "under", "encom", "kee", "en", "compiler", "optimization",
}

// dataClass recognizes the fields of a kubeconfig.
func dataClass(name string) string {
	switch strings.ToLower(strings.TrimLeft(name, "-.")) {
	case "client-key-data":
		return privateKey
	case "certificate-authority-data", "client-certificate-data":
		return authority
	}

	return ""
}

// keyClass distinguishes keys that grant access from those that only identify.
func keyClass(name, last, before string) string {
	joined := strings.ToLower(name)
	qualifier := before

	if last != "key" {
		qualifier = strings.TrimSuffix(last, "key")
	}

	// SLAPIKEY and slapi_key contain a joined prefix.
	if strings.HasSuffix(qualifier, "api") {
		qualifier = "api"
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
	case "encryption", "signing", "master", "shared", "account", "storage", "hmac", "session", "cipher", "crypto", "jwt", "principal":
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

// split splits a name into lower-case words: DB_PASSWORD, dbPassword and db-password give the same ones.
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
