package openai

import (
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// seed is derived from the request and the part of the script that answers it; the IDs of an answer are derived from it.
// The same call of the same script always has the same IDs.
type seed uint64

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// seedOf returns the seed of an exchange that has been matched.
func seedOf(x *exchange.Exchange) seed {
	sum := uint64(fnvOffset)

	for _, c := range x.Body {
		sum = (sum ^ uint64(c)) * fnvPrime
	}

	for i := range len(x.Entry.Route) {
		sum = (sum ^ uint64(x.Entry.Route[i])) * fnvPrime
	}

	return seed((sum ^ uint64(x.Entry.Reply)) * fnvPrime)
}

// appendID appends the n-th ID of the answer: a prefix and 32 digits.
func (s seed) appendID(buf []byte, prefix string, n int) []byte {
	const (
		hex    = "0123456789abcdef"
		golden = 0x9e3779b97f4a7c15
		digits = 16
		words  = 2
	)

	buf = append(buf, prefix...)
	word := uint64(s) + uint64(n+1)*words*golden

	for range words {
		word += golden
		mixed := (word ^ word>>30) * 0xbf58476d1ce4e5b9
		mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
		mixed ^= mixed >> 31

		for i := range digits {
			buf = append(buf, hex[mixed>>(i*4)&0xf])
		}
	}

	return buf
}
