package anthropic

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// A signature that the script does not give is derived from the thinking that it proves: base64 of a mark, whose length
// makes it stand alone in base64, and of a hash of the text. So a caller that loses or changes either is found out,
// and what the script or another server signed is left alone.
const signatureMark = "virtual thinking: "

func derive(thinking string) string {
	sum := sha256.Sum256([]byte(thinking))

	return base64.StdEncoding.EncodeToString(append([]byte(signatureMark), sum[:]...))
}

// derived tells that a signature was made by derive, whatever became of it since.
func derived(signature string) bool {
	return strings.HasPrefix(signature, base64.StdEncoding.EncodeToString([]byte(signatureMark)))
}

// forged tells that a signature does not prove the thinking that it came with.
func forged(thinking, signature string) bool {
	return derived(signature) && signature != derive(thinking)
}

// signature is that of the thinking which is over: the first has the one that the script gives, if it gives one.
func (e *encoder) signature() string {
	if given := e.exchange.Signature; given != "" && !e.signed {
		e.signed = true

		return given
	}

	return derive(string(e.thought))
}

// wireSignature is what came back with an answer: a JSON string, or a list of them where there are several. One that a
// script gave stands for those that were derived beside it.
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
