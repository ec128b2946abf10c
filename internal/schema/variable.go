package schema

import (
	"regexp"
	"strings"
)

// YAML parses an unquoted {{.VAR}} as nested maps, and a value inserted into the text could add keys. So the braces are first
// replaced with private-use characters, one for one: the text keeps its lines and columns, and {{.VAR}} is an ordinary part of
// any scalar. The value is inserted after parsing, where it can only be text.
const (
	openMark  = "\ue000\ue001"
	closeMark = "\ue001\ue000"
)

var (
	writtenVariable = variablePattern("{{", "}}")
	mangledVariable = variablePattern(openMark, closeMark)
)

// mangle hides every {{.VAR}} from the YAML parser.
func (d *Decoder) mangle(text string) string {
	if d.env == nil {
		return text
	}
	return writtenVariable.ReplaceAllString(text, openMark+"${1}"+closeMark)
}

// restoreVariables undoes mangle, for text that is shown or stored verbatim.
func restoreVariables(text string) string {
	return strings.NewReplacer(openMark, "{{", closeMark, "}}").Replace(text)
}

// hasVariable reports whether a scalar contains a mangled {{.VAR}}.
func (d *Decoder) hasVariable(text string) bool {
	return d.env != nil && strings.Contains(text, openMark)
}

// expand replaces each variable in a parsed scalar with its value. It also returns whether there was one, and the names that
// are not set. The variable named keep is left as written; if keep is *, all of them are. Values are not expanded again: a
// value that contains {{.OTHER}} is left as it is.
func (d *Decoder) expand(text, keep string) (string, bool, []string) {
	if d.env == nil {
		return text, false, nil
	}
	var used bool
	var missing []string
	expanded := mangledVariable.ReplaceAllStringFunc(text, func(match string) string {
		name := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(match, openMark), closeMark), " \t.")
		if keep == "*" || keep != "" && name == keep {
			return restoreVariables(match)
		}
		used = true
		value, ok := d.env(name)
		if !ok {
			missing = append(missing, name)
		}
		d.Variables[name] = value
		return value
	})
	return expanded, used, missing
}

func variablePattern(open, end string) *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(open) + `([ \t]*\.[A-Za-z_][A-Za-z0-9_]*[ \t]*)` + regexp.QuoteMeta(end))
}
