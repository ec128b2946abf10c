package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

// plainYAML matches texts that YAML reads as the same text without quotes. Words with a meaning, such as null, are not among them.
var (
	plainYAML    = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)
	reservedYAML = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|nan|inf)$`)
)

// encodeYAML encodes a value as it is encoded in JSON, in the same order and with the same numbers. A library would write what terminals
// must not get: escape sequences, and characters that reverse the reading direction.
func encodeYAML(value any) ([]byte, error) {
	text, err := encodeJSON(value, "")
	if err != nil {
		return nil, err
	}

	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()

	w := yamlWriter{decoder: decoder}
	if err := w.value(0, ""); err != nil {
		return nil, fmt.Errorf("encode the output: %w", err)
	}

	return w.out.Bytes(), nil
}

// yamlWriter rewrites JSON as YAML in block style.
type yamlWriter struct {
	decoder *json.Decoder
	out     bytes.Buffer
}

// value writes the next value. lead is what separates a scalar from what is before it on its line.
func (w *yamlWriter) value(depth int, lead string) error {
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}

	switch token {
	case json.Delim('{'), json.Delim('['):
		return w.collection(depth, lead, token == json.Delim('{'))
	}

	w.out.WriteString(lead + yamlScalar(token) + "\n")

	return nil
}

// collection writes the rest of an object or a list. In a list, the first entry follows the dash.
func (w *yamlWriter) collection(depth int, lead string, isObject bool) error {
	if !w.decoder.More() {
		empty := "[]"
		if isObject {
			empty = "{}"
		}

		w.out.WriteString(lead + empty + "\n")

		_, err := w.decoder.Token()

		return err
	}

	inList := bytes.HasSuffix(w.out.Bytes(), []byte("-"))
	if depth > 0 && !inList {
		w.out.WriteString("\n")
	}

	for first := true; w.decoder.More(); first = false {
		if first && inList {
			w.out.WriteString(" ")
		} else {
			w.out.WriteString(strings.Repeat("  ", depth))
		}

		entry := "-"

		if isObject {
			key, err := w.decoder.Token()
			if err != nil {
				return err
			}

			entry = yamlScalar(key) + ":"
		}

		w.out.WriteString(entry)

		if err := w.value(depth+1, " "); err != nil {
			return err
		}
	}

	_, err := w.decoder.Token()

	return err
}

func yamlScalar(token json.Token) string {
	text, ok := token.(string)

	switch {
	case token == nil:
		return "null"
	case !ok:
		return fmt.Sprint(token)
	case plainYAML.MatchString(text) && !reservedYAML.MatchString(text):
		return text
	default:
		// The escapes of Go are also escapes of YAML.
		return string(terminal.JSON([]byte(strconv.Quote(text))))
	}
}
