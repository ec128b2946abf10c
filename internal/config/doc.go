// Package config turns YAML files, environment variables and built-ins into
// one validated Config, and remembers where each value came from.
//
// The Go structs of the sections are the only description of the format: the
// decoder, the checks, the list of origins, the JSON Schema and the reference in
// docs/configuration.md are all read off their tags. Package schema, which reads
// the files, explains the tags; these are our own:
//
//	enum:"@backend"       a list that several fields share, see schema.go
//	ref:"agents"          the value names an entry of that section
//	format:"url"          url, public_url (what links begin with), llm_url (HTTP or gRPC), cidr, origin, domain,
//	                      mask_pattern, argument_pattern or env (the name of an environment variable)
//	reload:"sessions"     a change holds for new sessions; "now", and no tag, mean at once. See reload.go
//	secret:"value"        hidden wherever values are shown: value, url, args or env, see secret.go
//
// The package reads files and nothing else: it must not know the database, the
// network, the providers' SDKs or what the engine does with a value. A value that the
// server parses when it starts is checked by the same parser, so that a configuration that
// loads also starts.
package config
