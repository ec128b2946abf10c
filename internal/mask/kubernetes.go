package mask

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// secretData is the pattern name for the values of a Secret.
const secretData = "secret_data"

// mostEscaped is how many layers of strings within strings are parsed.
const mostEscaped = 4

// kubernetesSpans finds the values of Kubernetes Secrets, in YAML and JSON, alone or within other text. There are two parsers, braced
// and indented. Each reads the text once, with a stack of open objects and no tree; so it also parses a manifest that is cut off,
// indented or surrounded by prose, and nesting adds no cost. They record values by position, so everything else is left as it was
// written.
func kubernetesSpans(text string) []span { return manifestSpans(text, 0) }

func manifestSpans(text string, depth int) []span {
	if !strings.Contains(text, "Secret") {
		return nil
	}

	b := &braced{text: text, depth: depth}
	b.read()

	y := &indented{text: text}
	y.read()

	return slices.Concat(b.spans, y.spans, quotedManifests(text, depth))
}

// manifest is an object, open or closed, that may be a Secret.
type manifest struct {
	kind string
	// values are the values under data and stringData. Whether they are hidden is known when the object ends: its kind may follow them.
	values []span
	// items are the values of items without a kind. They are hidden if this is a SecretList.
	items []span
}

// secrets returns what to hide, once the object is complete.
func (m *manifest) secrets() []span {
	switch m.kind {
	case "Secret":
		return m.values
	case "SecretList":
		return m.items
	}

	return nil
}

func isDataKey(key string) bool { return key == "data" || key == "stringData" }

// inner parses text that is escaped within another one, and maps the secrets to positions in the outer text.
func inner(raw string, at, depth int) []span {
	if depth >= mostEscaped || !strings.Contains(raw, "Secret") {
		return nil
	}

	text, places := unescape(raw)
	spans := manifestSpans(text, depth+1)

	for i := range spans {
		spans[i].start = at + int(places[spans[i].start])
		spans[i].end = at + int(places[spans[i].end])
	}

	return spans
}

// unescape removes one layer of backslashes, and returns for each byte of the result its position in the original.
func unescape(raw string) (string, []int32) {
	var out strings.Builder

	places := make([]int32, 0, len(raw)+1)
	put := func(at int, text string) {
		out.WriteString(text)

		for range len(text) {
			places = append(places, int32(at))
		}
	}

	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			put(i, raw[i:i+1])

			continue
		}

		switch c := raw[i+1]; c {
		case 'n', 'r', 't':
			put(i, string("\n\r\t"[strings.IndexByte("nrt", c)]))
		case 'u':
			if code, err := strconv.ParseUint(raw[i+2:min(len(raw), i+6)], 16, 16); err == nil && i+6 <= len(raw) {
				put(i, string(utf8.AppendRune(nil, rune(code))))

				i += 4
			} else {
				put(i, "u")
			}
		default:
			put(i, string(c))
		}

		i++
	}

	return out.String(), append(places, int32(len(raw)))
}

// quotedManifests finds YAML in a quoted string outside of JSON, as in log lines.
func quotedManifests(text string, depth int) []span {
	const sign = `kind: Secret\n`

	var spans []span

	for at := 0; ; {
		found := strings.Index(text[at:], sign)
		if found < 0 {
			return spans
		}

		found += at
		start := found - 1 - min(found-at, longestBlock)

		for i := found - 1; i > start; i-- {
			if text[i] == '"' || text[i] == '\n' {
				start = i

				break
			}
		}

		start++

		end := found
		for end < len(text) && end-found < longestBlock && text[end] != '\n' && (text[end] != '"' || text[end-1] == '\\') {
			end++
		}

		spans = append(spans, inner(text[start:end], start, depth)...)
		at = end
	}
}
