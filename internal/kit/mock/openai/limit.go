package openai

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits for names and metadata from the API's published schema.
const (
	maxFunctionName = 64
	maxToolName     = 128
	maxIdentifier   = 64
	maxMetadata     = 16
	maxMetadataKey  = 64
	maxMetadataText = 512
	maxStops        = 4
)

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// number is a numeric parameter; value is nil if it is not given.
type number struct {
	param       string
	value       *float64
	least, most float64
	// whole means that the API expects an integer.
	whole bool
}

// unlimited is the bound of a number without one.
const unlimited = 1 << 62

func (n number) check() *problem {
	kind := "decimal"
	if n.whole {
		kind = "integer"
	}

	switch {
	case n.value == nil:
		return nil
	case n.whole && *n.value != float64(int64(*n.value)):
		return invalid(n.param, "invalid_type", "Invalid type for '%s': expected an integer, but got a decimal number instead.", n.param)
	case *n.value < n.least:
		return invalid(n.param, kind+"_below_min_value",
			"Invalid '%s': %s below minimum value. Expected a value >= %v, but got %v instead.", n.param, kind, n.least, *n.value)
	case *n.value > n.most:
		return invalid(n.param, kind+"_above_max_value",
			"Invalid '%s': %s above maximum value. Expected a value <= %v, but got %v instead.", n.param, kind, n.most, *n.value)
	default:
		return nil
	}
}

// choice is a parameter with a fixed set of words; value is "" if it is not given.
type choice struct {
	param, value string
	words        []string
}

func (c choice) check() *problem {
	if c.value == "" || slices.Contains(c.words, c.value) {
		return nil
	}

	return invalid(c.param, "invalid_value", "Invalid value: '%s'. Supported values are: %s.", c.value, enumerate(c.words))
}

// enumerate formats words like the lists in the API's messages.
func enumerate(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + word + "'"
	}

	if len(quoted) > 1 {
		quoted[len(quoted)-1] = "and " + quoted[len(quoted)-1]
	}

	return strings.Join(quoted, ", ")
}

// Words of parameters that both operations have.
var (
	efforts     = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	verbosities = []string{"low", "medium", "high"}
	tiers       = []string{"auto", "default", "flex", "scale", "priority", "fast", "ultrafast"}
	formats     = []string{"text", "json_object", "json_schema"}
)

// checkName checks the name of a tool or a format.
func checkName(name, param string, most int) *problem {
	switch {
	case name == "":
		return missing(param)
	case utf8.RuneCountInString(name) > most:
		return tooLong(param, name, most)
	case !namePattern.MatchString(name):
		return invalid(param, "invalid_value",
			"Invalid '%s': string does not match pattern. Expected a string that matches the pattern '%s'.", param, namePattern)
	default:
		return nil
	}
}

// tooLong returns the problem of a text with too many characters.
func tooLong(param, text string, most int) *problem {
	return invalid(param, "string_above_max_length",
		"Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.",
		param, most, utf8.RuneCountInString(text))
}

func checkLength(param, text string, most int) *problem {
	if utf8.RuneCountInString(text) <= most {
		return nil
	}

	return tooLong(param, text, most)
}

// checkMetadata checks the metadata that a caller attaches to a request.
func checkMetadata(raw json.RawMessage) *problem {
	var metadata map[string]string
	if p := readAs(raw, "metadata", &metadata); p != nil {
		return p
	}

	if len(metadata) > maxMetadata {
		return invalid("metadata", "object_above_max_properties",
			"Invalid 'metadata': too many properties. Expected an object with at most %d properties, but got an object with %d properties instead.",
			maxMetadata, len(metadata))
	}

	for key, value := range metadata {
		if p := checkLength("metadata", key, maxMetadataKey); p != nil {
			return p
		}

		if p := checkLength("metadata."+key, value, maxMetadataText); p != nil {
			return p
		}
	}

	return nil
}

// toolChoice selects the tool that the model must call: a word, or an object.
type toolChoice struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
	Custom struct {
		Name string `json:"name"`
	} `json:"custom"`
}

// checkToolChoice checks a choice of tools; names are the tools that it can name.
func checkToolChoice(raw json.RawMessage, names []string, anyTools bool) *problem {
	const param = "tool_choice"

	if !given(raw) {
		return nil
	}

	var word string
	if json.Unmarshal(raw, &word) == nil {
		if p := (choice{param, word, []string{"none", "auto", "required"}}).check(); p != nil {
			return p
		}

		if word == "required" && !anyTools {
			return invalid(param, "", "Tool choice 'required' must be specified with 'tools' parameter.")
		}

		return nil
	}

	var chosen toolChoice
	if !bytes.HasPrefix(raw, []byte("{")) || json.Unmarshal(raw, &chosen) != nil {
		return invalid(param, "invalid_type", "Invalid type for 'tool_choice': expected one of a string or object.")
	}

	return chosen.check(names)
}

func (c *toolChoice) check(names []string) *problem {
	if c.Type == "" {
		return missing("tool_choice.type")
	}

	if c.Type != "function" && c.Type != "custom" {
		return nil
	}

	name := c.Name + c.Function.Name + c.Custom.Name

	switch {
	case name == "":
		return missing("tool_choice.name")
	case !slices.Contains(names, name):
		return invalid("tool_choice", "", "Tool choice '%s' not found in 'tools' parameter.", name)
	default:
		return nil
	}
}

// firstProblem returns the first problem that a check finds, or nil.
func firstProblem(checks ...func() *problem) *problem {
	for _, check := range checks {
		if p := check(); p != nil {
			return p
		}
	}

	return nil
}
