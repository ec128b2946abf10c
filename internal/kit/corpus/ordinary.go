package corpus

import (
	"slices"
	"strings"
)

// Ordinary returns texts of one or more lines, at least the given number of lines in total: logs, manifests, tables and
// code without secrets. They are what operators read all day, so most of them do not look like secrets at all.
func Ordinary(seed uint64, lines int) []string {
	r := newRandom(seed)
	forms := slices.Concat(platformLogs(), serverLogs(), programLogs(), documents(), prose())

	var texts []string

	for count := 0; count < lines; {
		text := fillIn(r, anyOf(r, forms))
		texts = append(texts, text)
		count += 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	}

	return texts
}

// fillIn replaces the placeholders in double braces.
func fillIn(r *random, form string) string {
	var b strings.Builder

	for {
		before, rest, found := strings.Cut(form, "{{")
		b.WriteString(before)

		if !found {
			return b.String()
		}

		word, after, _ := strings.Cut(rest, "}}")
		b.WriteString(filling(r, word))
		form = after
	}
}

func filling(r *random, word string) string {
	switch word {
	case "stamp":
		return r.stamp()
	case "word":
		return r.word()
	case "host":
		return r.host()
	case "uuid":
		return r.uuid()
	case "ip":
		return "10." + r.digits(1) + "." + r.digits(2) + "." + r.digits(1)
	case "n":
		return r.digits(1 + r.number(3))
	case "big":
		return r.digits(6)
	case "hex7":
		return r.hex(7)
	case "hex16":
		return r.hex(16)
	case "hex32":
		return r.hex(32)
	case "hex64":
		return r.hex(64)
	case "pod":
		return r.word() + "-" + r.from("bcdfghjklmnpqrstvwxz2456789", 10) + "-" + r.from("bcdfghjklmnpqrstvwxz2456789", 5)
	case "time":
		return "06:" + r.digits(2) + ":" + r.digits(2) + "." + r.digits(6)
	case "path":
		return "/" + r.pick("api", "v1", "internal", "static") + "/" + r.word() + "/" + r.digits(4)
	case "level":
		return r.pick("INFO", "WARN", "DEBUG", "ERROR")
	case "class":
		return r.pick("TokenService", "PasswordEncoder", "KeyStoreManager", "OrderController", "SecretLoader", "CredentialCache", "AuthFilter")
	case "user":
		return r.pick("ada", "grace", "linus", "app", "svc-ci", "root")
	case "file":
		return r.pick("token.go", "password.go", "secret_store.go", "handler.go", "keyring.go", "pass.go")
	default:
		panic("no filling for " + word)
	}
}
