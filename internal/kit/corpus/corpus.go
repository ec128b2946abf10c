// Package corpus generates labelled text to evaluate a masker: secrets of many kinds in the places where they turn up, and
// harmless text that looks like secrets. Everything is generated from a seed: nothing in it was ever a real secret, and no
// literal in the source has the shape of one. The package knows nothing about how masking works.
package corpus

// Sample is a piece of text and the secrets in it. A sample without secrets must pass through a masker unchanged.
type Sample struct {
	Kind    string
	Context string
	Text    string
	Secrets []string
}

// Samples returns the whole corpus for a seed: every kind in each of its contexts, then the harmless samples.
func Samples(seed uint64) []Sample {
	r := newRandom(seed)

	var samples []Sample

	for _, k := range kinds() {
		for _, c := range k.contexts {
			value := k.make(r)
			text := c.render(r, k.key, value.text)
			samples = append(samples, Sample{Kind: k.name, Context: c.name, Text: text, Secrets: value.secretsIn(c)})
		}
	}

	samples = append(samples, manifests(r)...)
	samples = append(samples, forms(r)...)

	return append(samples, benign(r)...)
}

// kind is a kind of secret: its name, the key it is configured under, how to generate one, and where it is found.
type kind struct {
	name     string
	key      string
	make     func(*random) value
	contexts []context
}

// value is a text to put into a context, and the secrets within it.
type value struct {
	text    string
	secrets []string
}

// whole makes values that consist of nothing but a secret.
func whole(secret func(*random) string) func(*random) value {
	return func(r *random) value {
		text := secret(r)

		return value{text: text, secrets: []string{text}}
	}
}

// secretsIn returns the secrets as the context spells them.
func (v value) secretsIn(c context) []string {
	written := make([]string, len(v.secrets))
	for i, secret := range v.secrets {
		written[i] = c.write(secret)
	}

	return written
}
