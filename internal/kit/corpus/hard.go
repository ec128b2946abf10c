package corpus

import (
	"hash/fnv"
	"slices"
)

// Hard returns samples that are harder to find than those of Samples: unusual names, notations, commands and tokens, each
// as it is and in another encoding. Every sample has at least one secret.
func Hard(seed uint64) []Sample {
	r := newRandom(seed)

	var samples []Sample

	for _, k := range slices.Concat(hardNames(), hardTokens(), hardLines(), hardBlocks()) {
		for _, c := range k.contexts {
			samples = append(samples, hardSample(r, k, c, asIs), hardSample(r, k, c, anyOf(r, encodings)))
		}
	}

	return samples
}

func hardSample(r *random, k kind, c context, e encoding) Sample {
	made := k.make(r)
	text, secrets := c.render(r, k.key, made.text), made.secretsIn(c)

	sample := Sample{Kind: k.name, Context: c.name + ", " + e.name, Text: text, Secrets: secrets}
	// In base64, a secret can only be recognized by a name that is encoded along with it.
	if encoded, ok := e.encode(sample); ok && (e.name != inBase64 || k.key != "" && k.key != shapedKey) {
		sample.Text, sample.Secrets = encoded.Text, encoded.Secrets
	} else {
		sample.Context = c.name + ", " + asIs.name
	}

	return sample
}

// HeldOut reports whether the sample belongs to the half of the hard corpus that is not looked at while patterns are
// written. It depends on the kind, the context and the encoding, so the other half has other combinations, not just other
// values.
func (s Sample) HeldOut() bool {
	h := fnv.New64a()
	h.Write([]byte(s.Kind + "\x00" + s.Context))

	return h.Sum64()>>32&1 == 1
}

func anyOf[T any](r *random, choices []T) T { return choices[r.number(len(choices))] }
