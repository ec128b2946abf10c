package alert

import (
	"bytes"
	"encoding/json"
)

// Endpoint is a receiver from the sender's point of view.
type Endpoint struct {
	Source, Name, URL string
	// TokenEnv and SecretEnv are environment variables of the server.
	TokenEnv, SecretEnv string
}

// bearer describes the token that a sender puts into the Authorization header: the receiver's own, or an API key. It is empty
// if the receiver only requires a signature.
func (e Endpoint) bearer() string {
	switch {
	case e.TokenEnv != "":
		return "the value of " + e.TokenEnv + " on the server"
	case e.SecretEnv != "":
		return ""
	default:
		return e.newKey()
	}
}

func (e Endpoint) newKey() string {
	return "an API key: tarsy keys create " + e.Source + " --scope write"
}

// indented returns a value as indented JSON for pasting. Characters in URLs are not escaped.
func indented(value any) string {
	var text bytes.Buffer

	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")

	if err := encoder.Encode(value); err != nil {
		return ""
	}

	return string(bytes.TrimSpace(text.Bytes()))
}
