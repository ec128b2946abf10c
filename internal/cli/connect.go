package cli

import (
	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/client"
)

// The authentication methods of a sender, as the API names them, and none.
const (
	authKey       = "api_key"
	authToken     = "token"
	authSignature = "signature"
	authNone      = "none"
)

// snippet returns a sender's configuration to paste, with comments about what to fill in.
func snippet(r client.Webhook) string {
	source, ok := alert.Find(tarsy.AlertSource(r.Source))
	if !ok {
		source, _ = alert.Find(tarsy.SourceGeneric) // the server is newer than this client
	}

	return source.Connect(alert.Endpoint{Source: r.Source, Name: r.Name, URL: r.URL, TokenEnv: r.TokenEnv, SecretEnv: r.SecretEnv})
}
