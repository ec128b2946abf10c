// Package config turns YAML files, environment variables and built-ins into
// one validated Config, and remembers where each value came from.
//
// The Go structs of the sections are the only description of the format: the
// decoder, the checks, the list of origins, the JSON Schema and the reference in
// docs/configuration.md are all read off their tags:
//
//	yaml:"worker_count"   the key; "-" keeps a field out of the files
//	doc:"…"               one sentence for the person who edits the file
//	default:"5"           the built-in value
//	enum:"any,all"        the values that are allowed; "@backend" is a shared list, see tag.go
//	min:"1"               the smallest value (a duration for durations)
//	required:"true"       the entry is useless without this key
//	ref:"agents"          the value names an entry of that section
//	format:"url"          url, cidr, regexp or env (the name of an environment variable)
//	later:"true"          the key loads with a warning: nothing acts on it yet
//	later:"a,b"           the same, for these values only
//	secret:"value"        hidden wherever values are shown: value, url, args or env, see secret.go
//	short:"true"          a plain string stands for a map with only this key
//	seconds:"true"        a duration that may also be a plain number of seconds
//	runtime:"SESSION_ID"  {{.SESSION_ID}} is kept and filled in later, per call
//
// The package reads files and nothing else: it must not know the database, the
// network, the providers' SDKs or what the engine does with a value.
package config
