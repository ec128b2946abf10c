package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// exportLimit bounds an export, which may be large.
const exportLimit = 5 * time.Minute

// Export writes all of a session to out, in a format of the server: json or markdown. What it wrote before an error is
// not the whole.
func (c *Client) Export(ctx context.Context, id, format string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, exportLimit)
	defer cancel()

	response, err := c.send(ctx, http.MethodGet, "/api/v1/sessions/"+url.PathEscape(id)+"/export", url.Values{"format": {format}}, nil)
	if err != nil {
		return err
	}

	defer func() { _ = response.Body.Close() }()

	_, err = io.Copy(out, reader{response.Body, c.Server()})

	return err
}

// reader tells the server's errors from those of whoever is written to.
type reader struct {
	io.Reader

	server string
}

func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = &UnreachableError{Server: r.server, Err: err}
	}

	return n, err
}
