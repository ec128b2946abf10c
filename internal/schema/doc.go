// Package schema decodes YAML into Go structs, reports every problem with its place and a hint, and writes the JSON
// Schema of the structs. The structs are the only description of a format; their tags say what a key takes:
//
//	yaml:"worker_count"   the key; "-" keeps a field out of the files
//	doc:"…"               one sentence for the person who edits the file
//	default:"5"           the built-in value
//	enum:"any,all"        the values that are allowed; "@backend" is a list that the format names itself
//	min:"1" max:"9"       the smallest and the largest value (durations for durations)
//	required:"true"       the entry is useless without this key
//	nonempty:"true"       text that is written must not be empty
//	format:"regexp"       what text must be, see Check; a format may have more of its own
//	later:"true"          the key loads, but nothing acts on it yet; see Notes
//	later:"a,b"           the same, for these values only
//	only:"rule"           the key has an effect only where a rule of the format says so; see Notes
//	loose:"true"          the key is a warning, not an error, in a section that does not have it; see Decoder.Loose
//	short:"true"          a plain value stands for a map with only this key
//	seconds:"true"        a duration that may also be a plain number of seconds
//	runtime:"SESSION_ID"  {{.SESSION_ID}} is kept and filled in later; "*" keeps everything in braces, for templates
//	kinds:"object,string" what a value of any kind (json.RawMessage, any) may be: the names of JSON Schema
//	restart:"true"        a running program keeps the value until it is started again; holds for everything below
//	reload:"…"            when a running program applies a change, in the format's own words; holds for everything below
//	ref:"…" secret:"…"    for the format's own checks
//
// The writer also describes structs that are read from or written as JSON: events, and answers of models. There the tags are
// json:"name,omitempty", doc:"…" and minimum:"0".
//
// It knows no format: what a value means, and which values go together, is for those
// who declare the structs.
package schema
