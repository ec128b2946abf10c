package postgres

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"
)

// rereader retries a read once after a timeout.
//
// While a write to the database takes long, pgx reads in the background. Such a read may still wait when its statement is
// complete. If the statement's context ends at that moment, the read times out, and pgx returns the timeout to the next user of
// the connection: a client that goes away would fail the request of another one. If the time is really over, the second read
// times out immediately.
type rereader struct{ io.Reader }

func (r rereader) Read(data []byte) (int, error) {
	n, err := r.Reader.Read(data)
	if timeout, ok := errors.AsType[net.Error](err); n == 0 && ok && timeout.Timeout() {
		return r.Reader.Read(data)
	}

	return n, err
}

func newFrontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	return pgproto3.NewFrontend(rereader{r}, w)
}
