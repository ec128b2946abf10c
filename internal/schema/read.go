package schema

import (
	"reflect"
	"strings"
)

// Read decodes a text without variables into a struct, with its defaults, and returns all problems.
func Read[T any](name string, text []byte, into *T) []string {
	ApplyDefaults(reflect.ValueOf(into).Elem())

	decoder := NewDecoder(nil)
	decoder.RefuseNull = true
	decoder.File(name, text, into)

	var problems []string
	for _, p := range decoder.Problems {
		problems = append(problems, p.String())
	}

	if len(problems) == 0 {
		Check(into, decoder.Marks, func(path, message, hint string) {
			problems = append(problems, strings.TrimSuffix(path+": "+message+"; "+hint, "; "))
		})
	}

	return problems
}
