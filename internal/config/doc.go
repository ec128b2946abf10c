// Package config turns YAML files, environment variables and built-ins into one validated Config, and remembers where each value came from.
//
// The Go structs of the sections are the only description of the format: the decoder, the checks, the list of origins, the JSON Schema and
// the reference in docs/configuration.md are all derived from their tags. Package schema, which reads the files, documents the tags; these
// are specific to this package:
//
//	enum:"@backend"       a list that several fields share, see schema.go
//	ref:"agents"          the value names an entry of that section
//	format:"url"          the format of a text, such as url, public_url (a base URL for links), llm_url (HTTP or gRPC), cidr, origin,
//	                      domain, mask_pattern, argument_pattern or env (the name of an environment variable), see check.go
//	reload:"sessions"     a change applies to new sessions; "now", or no tag, means immediately. See reload.go
//	secret:"value"        hidden wherever values are shown: value, url, args or env, see secret.go
//
// The package reads files and nothing else: it must not know the database, the network, the providers' SDKs or what the engine does with a
// value. Values that the server parses at startup are checked by the same parser, so that a configuration that loads also starts.
package config
