package gemini

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"hash"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// signer derives a signature from the thoughts.
type signer struct {
	thoughts hash.Hash
}

func (s *signer) think(text string) {
	if text == "" {
		return
	}

	if s.thoughts == nil {
		s.thoughts = sha256.New()
	}

	_, _ = s.thoughts.Write([]byte(text))
}

// signature returns the script's signature, or proof of the thoughts so far, or "" if there were none.
func (s *signer) signature(given string) string {
	const size = 12

	switch {
	case given != "":
		return writeSignature(given)
	case s.thoughts != nil:
		return base64.StdEncoding.EncodeToString([]byte("thought_" + hex.EncodeToString(s.thoughts.Sum(nil)[:size])))
	default:
		return ""
	}
}

// responseID is derived from the request and from the number of the reply, so two answers to the same request differ and
// every run of a script has the same IDs.
func responseID(x *exchange.Exchange) string {
	const size = 17

	sum := sha256.Sum256(x.Body)
	place := append(sum[:], x.Entry.Route...)
	place = strconv.AppendInt(place, int64(x.Entry.Reply), 10)
	sum = sha256.Sum256(place)

	return base64.RawURLEncoding.EncodeToString(sum[:size])
}

// textMark marks a signature that a script gave as text, not as base64.
const textMark = "text:"

// writeSignature returns a signature in the API's format, bytes in base64: a signature that is already base64 is unchanged.
func writeSignature(text string) string {
	if _, err := base64.StdEncoding.DecodeString(text); err == nil {
		return text
	}

	return base64.StdEncoding.EncodeToString([]byte(textMark + text))
}

// readSignature returns the signature that was passed to writeSignature, as JSON.
func readSignature(signature string) json.RawMessage {
	text := signature

	if decoded, err := base64.StdEncoding.DecodeString(signature); err == nil {
		if given, ok := strings.CutPrefix(string(decoded), textMark); ok {
			text = given
		}
	}

	return exchange.AppendString(nil, text)
}
