package corpus

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	alnum  = lower + upper + digits
	hexes  = digits + "abcdef"
)

// random generates the parts of samples.
type random struct{ source *rand.Rand }

func newRandom(seed uint64) *random {
	return &random{source: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15))} //nolint:gosec // the same seed must give the same corpus
}

func (r *random) from(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[r.source.IntN(len(alphabet))])
	}

	return b.String()
}

func (r *random) alnum(n int) string  { return r.from(alnum, n) }
func (r *random) hex(n int) string    { return r.from(hexes, n) }
func (r *random) digits(n int) string { return r.from(digits[1:], n) }
func (r *random) url64(n int) string  { return r.from(alnum+"-_", n) }
func (r *random) number(n int) int    { return r.source.IntN(n) }

func (r *random) pick(choices ...string) string { return choices[r.source.IntN(len(choices))] }

func (r *random) bytes(n int) []byte {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(r.source.IntN(256))
	}

	return raw
}

func (r *random) base64(n int) string { return base64.StdEncoding.EncodeToString(r.bytes(n)) }

func (r *random) uuid() string {
	return fmt.Sprintf("%s-%s-4%s-a%s-%s", r.hex(8), r.hex(4), r.hex(3), r.hex(3), r.hex(12))
}

// password returns a password that a careful person or a generator might choose.
func (r *random) password() string {
	switch r.number(4) {
	case 0:
		return r.pick("Summer", "Dragon", "Falcon", "Rocket", "Winter", "Copper") + r.pick("Moon", "River", "Tiger", "Stone") + r.digits(4) + r.pick("!", "#", "?", "%")
	case 1:
		return r.alnum(20)
	case 2:
		return r.from(lower, 5) + "-" + r.from(lower, 6) + "-" + r.digits(3) + "-" + r.from(lower, 5)
	default:
		return r.from(upper, 1) + r.from(alnum+"!*^_", 14) + r.digits(1)
	}
}

func (r *random) word() string {
	return r.pick("payments", "checkout", "billing", "orders", "search", "gateway", "inventory", "ledger", "mailer", "catalog", "worker", "frontend")
}

func (r *random) host() string {
	return r.word() + "-" + r.pick("db", "cache", "queue", "api", "edge") + "." + r.pick("prod", "staging", "internal") + ".example.com"
}

func (r *random) stamp() string {
	return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02d.%03dZ", 1+r.number(12), 1+r.number(28), r.number(24), r.number(60), r.number(60), r.number(1000))
}
