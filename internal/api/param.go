package api

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	defaultLimit = 50
	maxLimit     = 200
	maxSearch    = 200
)

// These parameters arrive as text, because their errors are ours. Their types define the allowed values and the documentation.
type (
	// integer is a page size.
	integer string
	moment  string
	// identifier is the id of a row, and search is search text.
	identifier string
	search     string
	// one is a value of an enum type.
	one[E ~string] string
)

// Schema implements huma.SchemaProvider.
func (integer) Schema(huma.Registry) *huma.Schema { return integerSchema(maxLimit, defaultLimit) }

// Schema implements huma.SchemaProvider.
func (moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// Schema implements huma.SchemaProvider.
func (one[E]) Schema(huma.Registry) *huma.Schema { return oneOf(valuesOf(reflect.TypeFor[E]())) }

// integerSchema documents a number from 1 to most; usual is the default, or nil if there is none.
func integerSchema(most int, usual any) *huma.Schema {
	from, to := 1.0, float64(most)

	return &huma.Schema{Type: huma.TypeInteger, Minimum: &from, Maximum: &to, Default: usual}
}

// checkQuery rejects parameters that the route does not know, that are repeated without being repeatable, or that the database cannot
// store.
func checkQuery(r *http.Request, known, repeatable []string) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return tarsy.Errorf(tarsy.CodeInvalidParameter, "the parameters after \"?\" are not URL-encoded")
	}

	for name, given := range values {
		switch {
		case !slices.Contains(known, name):
			return parameterErrorf(shown(name), "there is no parameter %q; %s", shown(name), nearest.Hint(name, known, "parameters"))
		case len(given) > 1 && !slices.Contains(repeatable, name):
			return parameterErrorf(name, "%s is given more than once", name)
		case slices.ContainsFunc(given, func(value string) bool { return value != plaintext.Clean(value) }):
			return parameterErrorf(name, "%s is not text in UTF-8", name)
		}
	}

	return nil
}

func parameterErrorf(name, format string, args ...any) error {
	return tarsy.FieldErrorf(tarsy.CodeInvalidParameter, name, format, args...)
}

// readParameters reads the parameters of a list, or of a filter in a body, into the fields of the store's filter that have the same
// names. An omitted parameter leaves its field unchanged, unless the document has a default.
//
// The types of parameter and field determine what is allowed: a value of the enum tag or of an enum type, and for a list field several
// of them, separated by commas; a number within the bounds of its schema; an id, a time, a date; labels. readCursor reads cursors. A
// parameter without a field is only checked; one that nothing checks needs a field.
func readParameters(in, filter any) error {
	given, into := reflect.ValueOf(in).Elem(), reflect.ValueOf(filter).Elem()

	for _, field := range reflect.VisibleFields(given.Type()) {
		name := field.Tag.Get("query")
		if name == "" {
			name = field.Tag.Get("json")
		}

		name, _, _ = strings.Cut(name, ",")
		if name == "" || field.Type == reflect.TypeFor[cursor]() {
			continue
		}

		p := parameter{name: name, field: field, given: given.FieldByIndex(field.Index)}
		if err := p.read(into.FieldByName(field.Name)); err != nil {
			return err
		}
	}

	return nil
}

// checkParameters checks parameters that have no filter.
func checkParameters(in any) error { return readParameters(in, &struct{}{}) }

// parameter is a value that was sent, and the input field that documents it.
type parameter struct {
	name  string
	field reflect.StructField
	given reflect.Value
}

// read checks the parameter and sets its field of the filter; target is invalid if there is none.
func (p parameter) read(target reflect.Value) error {
	if p.given.Kind() == reflect.Slice {
		return p.readRepeated(target)
	}

	text, schema, allowed := p.given.String(), p.schema(), p.allowed(target)

	switch {
	case schema.Type == huma.TypeInteger:
		return p.readNumber(text, schema, target)
	case text == "":
		return nil
	case target.IsValid() && target.Kind() == reflect.Slice:
		return p.readList(text, allowed, target)
	case len(allowed) > 0 && !slices.Contains(allowed, text):
		return parameterErrorf(p.name, "%s must be one of %s, not %q", p.name, listed(allowed), shown(text))
	}

	checked := len(allowed) > 0

	switch p.given.Interface().(type) {
	case identifier:
		checked = true
		if !ident.Valid(text) {
			return parameterErrorf(p.name, "%s must be an id", p.name)
		}
	case search:
		checked = true
		if utf8.RuneCountInString(text) > maxSearch {
			return parameterErrorf(p.name, "%s is longer than %d characters", p.name, maxSearch)
		}
	}

	switch {
	case target.IsValid():
		return p.set(text, target)
	case !checked:
		panic("api: the filter has no field for the parameter " + p.name)
	default:
		return nil
	}
}

// set parses text and assigns it to a field of the filter.
func (p parameter) set(text string, target reflect.Value) error {
	switch to := target.Addr().Interface().(type) {
	case **time.Time:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return parameterErrorf(p.name, "%s must be a time such as 2026-11-15T10:00:00Z", p.name)
		}

		*to = &at
	case **calendar.Date:
		day, err := calendar.ParseDate(text)
		if err != nil {
			return parameterErrorf(p.name, "%s must be a date such as 2026-11-30", p.name)
		}

		*to = &day
	case *bool:
		*to = text == "true"
	default:
		target.SetString(text)
	}

	return nil
}

func (p parameter) schema() *huma.Schema {
	if provider, ok := reflect.TypeAssert[huma.SchemaProvider](p.given); ok {
		return provider.Schema(nil)
	}

	return &huma.Schema{}
}

// allowed returns the only values that the parameter accepts; nil if it accepts any.
func (p parameter) allowed(target reflect.Value) []string {
	for _, tag := range []string{"enum", "allowed"} {
		if values := p.field.Tag.Get(tag); values != "" {
			return strings.Split(values, ",")
		}
	}

	if documented := p.schema().Enum; len(documented) > 0 {
		values := make([]string, len(documented))
		for i := range documented {
			values[i] = fmt.Sprint(documented[i])
		}

		return values
	}

	if !target.IsValid() {
		return nil
	}

	of := target.Type()
	if of.Kind() == reflect.Slice {
		of = of.Elem()
	}

	return valuesOf(of)
}

func (p parameter) readNumber(text string, schema *huma.Schema, target reflect.Value) error {
	most := int(*schema.Maximum)
	number, err := strconv.Atoi(text)

	switch usual, ok := schema.Default.(int); {
	case text == "" && ok:
		number = usual
	case text == "":
		return nil
	case err != nil || number < 1 || number > most:
		return parameterErrorf(p.name, "%s must be a number from 1 to %d", p.name, most)
	}

	target.SetInt(int64(number))

	return nil
}

// readList reads values separated by commas, without duplicates.
func (p parameter) readList(text string, allowed []string, target reflect.Value) error {
	var chosen []string

	for part := range strings.SplitSeq(text, ",") {
		value := strings.TrimSpace(part)
		if !slices.Contains(allowed, value) {
			return parameterErrorf(p.name, "there is no %s %q; there are %s", p.name, shown(part), listed(allowed))
		}

		if !slices.Contains(chosen, value) {
			chosen = append(chosen, value)
		}
	}

	values := reflect.MakeSlice(target.Type(), len(chosen), len(chosen))
	for i, value := range chosen {
		values.Index(i).SetString(value)
	}

	target.Set(values)

	return nil
}

// readRepeated reads a repeated parameter: labels, or texts as they are.
func (p parameter) readRepeated(target reflect.Value) error {
	given, _ := reflect.TypeAssert[[]string](p.given)

	switch to := target.Addr().Interface().(type) {
	case *[]string:
		if len(given) > tarsy.MaxTags {
			return parameterErrorf(p.name, "%s is given more than %d times", p.name, tarsy.MaxTags)
		}

		*to = given

		return nil
	case *map[string]string:
		var err error

		*to, err = p.labels(given)

		return err
	default:
		panic(fmt.Sprintf("api: the parameter %s is read into a %s, which nothing does", p.name, target.Type()))
	}
}

// labels parses the labels that an alert must have.
func (p parameter) labels(texts []string) (map[string]string, error) {
	if len(texts) > tarsy.MaxLabels {
		return nil, parameterErrorf(p.name, "%s is given more than %d times", p.name, tarsy.MaxLabels)
	}

	labels := make(map[string]string, len(texts))

	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, parameterErrorf(p.name, "%s must be name=value, not %q", p.name, shown(text))
		}

		if earlier, given := labels[name]; given && earlier != value {
			return nil, parameterErrorf(p.name, "%s %q is given with two values; all labels must match", p.name, shown(name))
		}

		labels[name] = value
	}

	return labels, nil
}

func names[S ~string](values []S) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}

	return texts
}
