package config

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// field is what the tags of one struct field say; doc.go explains the tags.
type field struct {
	index    int
	key      string
	doc      string
	def      string
	enum     []string
	min      string
	ref      string
	format   string
	secret   string
	runtime  string
	later    string
	required bool
	short    bool
	seconds  bool
}

// fieldsOf lists the fields of a struct that have a key, in declaration order.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		key := sf.Tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		fields = append(fields, field{
			index:    i,
			key:      key,
			doc:      sf.Tag.Get("doc"),
			def:      sf.Tag.Get("default"),
			enum:     enumValues(sf.Tag.Get("enum")),
			min:      sf.Tag.Get("min"),
			ref:      sf.Tag.Get("ref"),
			format:   sf.Tag.Get("format"),
			secret:   sf.Tag.Get("secret"),
			runtime:  sf.Tag.Get("runtime"),
			later:    sf.Tag.Get("later"),
			required: sf.Tag.Get("required") != "",
			short:    sf.Tag.Get("short") != "",
			seconds:  sf.Tag.Get("seconds") != "",
		})
	}
	return fields
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// enumValues reads an enum tag. Lists that many fields share go by a name.
func enumValues(tag string) []string {
	switch tag {
	case "":
		return nil
	case "@backend":
		return []string{BackendGoogleNative, BackendLangChain}
	case "@strategy":
		return strategyNames()
	case "@agent_type":
		return []string{"", AgentTypeSynthesis, AgentTypeExecSummary, AgentTypeScoring, AgentTypeAction}
	case "@pattern_group":
		return []string{"basic", "secrets", "security", "kubernetes", "cloud", "all", "gitleaks"}
	case "@pattern":
		return []string{
			"api_key", "password", "certificate", "certificate_authority_data", "token", "email", "ssh_key",
			"base64_secret", "base64_short", "private_key", "secret_key", "aws_access_key", "aws_secret_key",
			"github_token", "slack_token", "kubernetes_secret",
		}
	default:
		return strings.Split(tag, ",")
	}
}

// laterFor says whether this value of the field has no effect yet.
func (f field) laterFor(value string) bool {
	return f.later == "true" || (f.later != "" && slices.Contains(strings.Split(f.later, ","), value))
}

func isDuration(t reflect.Type) bool { return t == reflect.TypeFor[time.Duration]() }

// isSection says whether values of t hold further keys.
func isSection(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

// applyDefaults fills the fields of a struct, and of the structs in it, with
// their built-in values. Optional sections are pointers: they get theirs when
// somebody writes the section.
func applyDefaults(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		fv := v.Field(f.index)
		switch {
		case fv.Kind() == reflect.Struct:
			applyDefaults(fv)
		case f.def != "":
			if err := setText(fv, f.def, f); err != nil {
				panic("config: default of " + f.key + ": " + err.Error()) // a tag of our own is wrong
			}
		}
	}
}
