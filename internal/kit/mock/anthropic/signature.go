package anthropic

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// Without a signature from the script, one is derived from the thinking that it proves: base64 of a mark and a hash of the
// text. The mark's length is a multiple of three, so its base64 does not depend on what follows. A caller that loses or
// changes either is detected, and signatures from the script or another server are left alone.
const signatureMark = "virtual thinking: "

func derive(thinking string) string {
	sum := sha256.Sum256([]byte(thinking))

	return base64.StdEncoding.EncodeToString(append([]byte(signatureMark), sum[:]...))
}

// derived reports whether a signature was made by derive, even if it has been changed since.
func derived(signature string) bool {
	return strings.HasPrefix(signature, base64.StdEncoding.EncodeToString([]byte(signatureMark)))
}

// forged reports whether a derived signature does not belong to its thinking.
func forged(thinking, signature string) bool {
	return derived(signature) && signature != derive(thinking)
}

// signature returns the signature of the finished thinking: the script's for the first block, if the script has one.
func (e *encoder) signature() string {
	if given := e.exchange.Signature; given != "" && !e.signed {
		e.signed = true

		return given
	}

	return derive(string(e.thought))
}

// wireSignature returns the signatures sent back with an answer: a JSON string, or a list if there are several. Signatures
// from the script replace derived ones beside them.
func wireSignature(signatures []string) *llm.Signature {
	own := signatures[:0:0]

	for _, signature := range signatures {
		if !derived(signature) {
			own = append(own, signature)
		}
	}

	if len(own) == 0 {
		own = signatures
	}

	if len(own) == 0 {
		return nil
	}

	data := exchange.AppendString(nil, own[0])
	if len(own) > 1 {
		data = append([]byte{'['}, data...)
		for _, signature := range own[1:] {
			data = exchange.AppendString(append(data, ','), signature)
		}

		data = append(data, ']')
	}

	return &llm.Signature{By: "wire", Data: data}
}
