package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"tarsy.dev/tarsy/internal/agent"
)

// arguments are what a model wrote for a tool, converted to the JSON object that MCP requires.
type arguments struct {
	object json.RawMessage
	// guessed is true if the text was not a JSON object: a tool may then fail because of how it was parsed.
	guessed bool
	// broken is true if the text starts like a JSON object but is not one: it may have been cut off in the middle.
	broken bool
}

// rawKey is the name of an argument that was written without one.
const rawKey = "input"

// parseArguments parses what a model wrote as the first of these that fits: a JSON object, other JSON, structured YAML, pairs of keys
// and values, plain text. The bytes of a JSON object are passed on as they are, so that no number loses a digit. It accepts any text,
// in linear time.
func parseArguments(written string, known shape) arguments {
	text := strings.TrimSpace(clean(written))
	inner := unfenced(text)
	switch {
	case inner == "" || inner == "null":
		return arguments{object: json.RawMessage(`{}`)}
	case !json.Valid([]byte(inner)):
		return looseArguments(text, inner, known)
	case inner[0] == '{':
		return arguments{object: json.RawMessage(inner)}
	case inner[0] == '"':
		return arguments{object: object(member{known.textKey(), json.RawMessage(inner)}), guessed: true}
	default:
		return arguments{object: object(member{rawKey, json.RawMessage(inner)}), guessed: true}
	}
}

// looseArguments parses text that is not JSON. If the tool requires one text and has none of the parsed keys, the whole text is that
// argument: a manifest to apply, or a message such as "Error: disk full".
func looseArguments(text, inner string, known shape) arguments {
	for _, parse := range []func(string, shape) ([]member, bool){parseYAML, parsePairs} {
		members, ok := parse(inner, known)
		if ok && (known.textKey() == rawKey || known.knows(members)) {
			return arguments{object: object(members...), guessed: true}
		}
	}
	if isBrokenObject(inner) {
		// Not passed to the tool as its text: half of an argument list is not a value.
		return arguments{object: object(member{rawKey, quoted(text)}), guessed: true, broken: true}
	}

	return arguments{object: object(member{known.textKey(), quoted(text)}), guessed: true}
}

// isBrokenObject reports whether a text that is not JSON starts like an object. A selector such as {job="api"} does not.
func isBrokenObject(text string) bool {
	rest, found := strings.CutPrefix(text, "{")
	rest = strings.TrimSpace(rest)

	return found && (rest == "" || strings.ContainsRune(`"'}`, rune(rest[0])))
}

// fence encloses JSON in the output of models, as in Markdown.
const fence = "```"

// unfenced removes a fence around the whole text, with the name of the language on its first line.
func unfenced(text string) string {
	inner, begun := strings.CutPrefix(text, fence)
	inner, ended := strings.CutSuffix(inner, fence)
	if !begun || !ended || strings.Contains(inner, fence) {
		return text
	}
	if language, rest, found := strings.Cut(inner, "\n"); found && isLanguage(strings.TrimSpace(language)) {
		inner = rest
	}

	return strings.TrimSpace(inner)
}

func isLanguage(word string) bool {
	return strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// member is a name and its value in a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// object encodes members in the order in which they were written.
func object(members ...member) json.RawMessage {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, quoted(m.key)...)
		text = append(text, ':')
		text = append(text, m.value...)
	}

	return append(text, '}')
}

// quoted encodes a text as JSON.
func quoted(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`) // cannot happen for a string
	}

	return data
}

// maxReadShown limits how much of its own arguments is shown to a model.
const maxReadShown = 400

// usage tells a model that its call was not made because its arguments are malformed.
func usage(tool agent.Tool) string {
	return fmt.Sprintf("The call to %s was not made: the arguments start like a JSON object but are not valid JSON. %s",
		tool.WireName(), howTo(tool))
}

// reading tells a model how its arguments were parsed, for a tool that returned an error.
func reading(tool agent.Tool, read json.RawMessage) string {
	return fmt.Sprintf("\nThe arguments were not a JSON object; they were parsed as %s. %s", cut(string(read), maxReadShown), howTo(tool))
}

func howTo(tool agent.Tool) string {
	return fmt.Sprintf("Write one JSON object, for example %s. The schema of the arguments is %s",
		shapeOf(tool.Schema).example(), cut(string(tool.Schema), maxSchemaShown))
}
