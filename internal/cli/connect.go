package cli

import (
	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/client"
)

// The ways in which a sender proves who it is, as the API names them, and none.
const (
	authKey       = "api_key"
	authToken     = "token"
	authSignature = "signature"
	authNone      = "none"
)

// snippet is the configuration of a sender, to be pasted, with comments about what to put into it.
func snippet(r client.Webhook) string {
	source, ok := alert.Find(tarsy.AlertSource(r.Source))
	if !ok {
		source, _ = alert.Find(tarsy.SourceGeneric) // of a newer server
	}

	return source.Connect(alert.Endpoint{Source: r.Source, Name: r.Name, URL: r.URL, TokenEnv: r.TokenEnv, SecretEnv: r.SecretEnv})
}
