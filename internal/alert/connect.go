package alert

import (
	"bytes"
	"encoding/json"
)

// Endpoint is a receiver as its sender sees it.
type Endpoint struct {
	Source, Name, URL string
	// TokenEnv and SecretEnv are variables of the server.
	TokenEnv, SecretEnv string
}

// bearer describes the token that a sender puts into the header Authorization: the receiver's own, or an API key. It is empty if
// the receiver wants only a signature.
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

// indented is a value as JSON to be pasted. The characters of URLs stay as they are.
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
