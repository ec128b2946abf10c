package schema

import (
	"regexp"
	"strings"
)

// YAML reads an unquoted {{.VAR}} as a map in a map, and a value pasted into the
// text could add keys. So the braces are first swapped for private-use characters,
// one for one: the text keeps its lines and columns and {{.VAR}} is an ordinary
// piece of any scalar. The value is put in after parsing, where it is only text.
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

// restoreVariables undoes mangle, for text that is shown or kept as it is.
func restoreVariables(text string) string {
	return strings.NewReplacer(openMark, "{{", closeMark, "}}").Replace(text)
}

// hasVariable says whether a scalar holds a mangled {{.VAR}}.
func (d *Decoder) hasVariable(text string) bool {
	return d.env != nil && strings.Contains(text, openMark)
}

// expand replaces each variable of a parsed scalar by its value. It also
// returns whether there was one, and the names that are not set. The one named keep stays as it was written, and
// all of them if keep is *.
// Values are not looked into: a value that says {{.OTHER}} stays that.
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
