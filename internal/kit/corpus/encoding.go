package corpus

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// encoding embeds a whole sample in another text.
type encoding struct {
	name string
	// encode returns false for a text that never appears in this encoding.
	encode func(Sample) (Sample, bool)
}

const inBase64 = "base64"

var asIs = encoding{"as it is", func(s Sample) (Sample, bool) { return s, true }}

var encodings = []encoding{
	{"in a JSON string", func(s Sample) (Sample, bool) {
		return s.mapped(func(text string) string { return `{"level":"info","msg":"` + quoted(text) + `","attempt":2}` }, quoted), true
	}},
	{"in JSON in JSON", func(s Sample) (Sample, bool) {
		return s.mapped(func(text string) string {
			return `{"log":"{\"msg\":\"` + twiceQuoted(text) + `\"}\n","stream":"stdout"}`
		}, twiceQuoted), true
	}},
	{"coloured name", func(s Sample) (Sample, bool) { return s.coloured("\x1b[36m", "\x1b[0m") }},
	{"bold name", func(s Sample) (Sample, bool) { return s.coloured("\x1b[1;34m", "\x1b[0;22m") }},
	{"escaped colours", func(s Sample) (Sample, bool) { return s.coloured(`\u001b[32m`, `\u001b[0m`) }},
	{"percent-encoded", func(s Sample) (Sample, bool) {
		if strings.Contains(s.Text, "\n") {
			return s, false
		}

		escape := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

		return s.mapped(func(text string) string { return "GET /in?q=" + escape(text) + "&page=2 HTTP/1.1" }, escape), true
	}},
	{inBase64, func(s Sample) (Sample, bool) {
		blob := base64.StdEncoding.EncodeToString([]byte(s.Text))
		s.Text, s.Secrets = "payload: "+blob+"\nsize: 12\n", []string{blob}

		return s, len(blob) < 4000
	}},
	{"windows lines", func(s Sample) (Sample, bool) {
		crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

		return s.mapped(crlf, crlf), strings.Contains(s.Text, "\n")
	}},
	{"indented in a fence", func(s Sample) (Sample, bool) {
		indent := func(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

		return s.mapped(func(text string) string { return "Output:\n```\n    " + indent(text) + "\n```\n" }, indent), true
	}},
}

// mapped transforms the text and the secrets.
func (s Sample) mapped(text, secret func(string) string) Sample {
	secrets := make([]string, len(s.Secrets))
	for i := range s.Secrets {
		secrets[i] = secret(s.Secrets[i])
	}

	s.Text, s.Secrets = text(s.Text), secrets

	return s
}

// coloured puts terminal escape codes around the name that precedes the secret on the same line.
func (s Sample) coloured(on, off string) (Sample, bool) {
	at := strings.Index(s.Text, s.Secrets[0])
	before := strings.TrimRight(s.Text[:at], " =:\"'")
	start := strings.LastIndexFunc(before, func(r rune) bool { return !strings.ContainsRune(alnum+"_-.", r) }) + 1

	if at == len(before) || start == len(before) || len(s.Secrets) > 1 {
		return s, false
	}

	s.Text = s.Text[:start] + on + before[start:] + off + s.Text[len(before):]

	return s, true
}
