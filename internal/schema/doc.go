// Package schema decodes YAML into Go structs, reports every problem with its place and a hint, and generates the
// JSON Schema of the structs. The structs are the only description of a format; their tags describe the values of a key:
//
//	yaml:"worker_count"   the key; "-" keeps a field out of the files
//	doc:"…"               one sentence for people who edit the file
//	default:"5"           the built-in value
//	enum:"any,all"        the allowed values; "@backend" is a list named by the format
//	min:"1" max:"9"       the minimum and the maximum (durations for durations)
//	required:"true"       the entry is invalid without this key
//	nonempty:"true"       text must not be empty if it is set
//	format:"regexp"       the format of text, see Check; a format can define more
//	later:"true"          the key is accepted but has no effect yet; see Notes
//	later:"a,b"           the same, for these values only
//	only:"rule"           the key has an effect only under a rule of the format; see Notes
//	loose:"true"          in a section that lacks the key, it is a warning, not an error; see Decoder.Loose
//	short:"true"          a plain value is short for a map with only this key
//	seconds:"true"        the duration can also be a plain number of seconds
//	runtime:"SESSION_ID"  {{.SESSION_ID}} is kept and expanded later; "*" keeps everything in braces, for templates
//	kinds:"object,string" the allowed kinds of a json.RawMessage or any value, as in JSON Schema
//	restart:"true"        a running program keeps the value until it is restarted; applies to everything below
//	reload:"…"            when a running program applies a change, in the format's own terms; applies to everything below
//	ref:"…" secret:"…"    for the format's own checks
//
// The writer also describes structs that are decoded from or encoded as JSON: events, and responses of models. Their tags are
// json:"name,omitempty", doc:"…" and minimum:"0".
//
// The package knows no format: the meaning of values and the relations between them are up to the packages that declare the
// structs.
package schema
