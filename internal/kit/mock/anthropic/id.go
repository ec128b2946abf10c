package anthropic

import (
	"crypto/sha256"
	"strconv"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// identity generates the IDs of one answer. They depend on the request and on which reply of the script answers it, so they
// are the same in every test run, and differ between two answers to the same request.
type identity struct {
	body  [sha256.Size]byte
	entry *exchange.Entry
}

func identify(x *exchange.Exchange) identity {
	return identity{body: sha256.Sum256(x.Body), entry: x.Entry}
}

// append appends the n-th ID with a prefix, in the API's own format: a version and 22 letters and digits.
func (i identity) append(buf []byte, prefix string, n int) []byte {
	const (
		alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
		size     = 22
	)

	seed := make([]byte, 0, 2*sha256.Size+len(prefix)+len(i.entry.Route))
	seed = append(seed, i.body[:]...)
	seed = append(seed, prefix...)
	seed = append(seed, i.entry.Route...)
	seed = strconv.AppendInt(append(seed, ' '), int64(i.entry.Reply), 10)
	seed = strconv.AppendInt(append(seed, ' '), int64(n), 10)
	sum := sha256.Sum256(seed)

	buf = append(buf, prefix...)
	buf = append(buf, "01"...)

	for _, b := range sum[:size] {
		buf = append(buf, alphabet[int(b)%len(alphabet)])
	}

	return buf
}
