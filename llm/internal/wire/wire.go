// Package wire contains what clients of JSON APIs that stream their answers have in common: a request, the error that may be
// returned instead of an answer, and values that servers write in more than one way. It knows no provider. It does not retry,
// sets no time limits and reads nothing from the environment but the proxy settings of the HTTP client that it is given.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// UserAgent identifies the program to servers.
const UserAgent = "tarsy"

// StatusError is the error for a response with a status of 400 or above.
type StatusError struct {
	Status int
	Header http.Header
	// Body is the beginning of the response body, Err the error that prevented reading more of it.
	Body []byte
	Err  error
}

// Error implements error.
func (e *StatusError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("read the body of an answer with HTTP %d: %s", e.Status, e.Err)
	}

	return fmt.Sprintf("the server answered HTTP %d", e.Status)
}

// Unwrap returns the error of reading the body.
func (e *StatusError) Unwrap() error { return e.Err }

// Post sends a value as JSON, and returns the response with its body unread and bounded by llm.BoundBody. A response with an
// error status is a *StatusError. The caller closes the body.
func Post(ctx context.Context, client *http.Client, address string, header http.Header, value any) (*http.Response, error) {
	data, err := encode(value)
	if err != nil {
		return nil, err
	}

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}

	request.Header = header.Clone()

	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}

	llm.BoundBody(answer)

	if answer.StatusCode < http.StatusBadRequest {
		return answer, nil
	}

	defer func() { _ = answer.Body.Close() }()

	body, err := io.ReadAll(answer.Body)

	return nil, &StatusError{Status: answer.StatusCode, Header: answer.Header, Body: body, Err: err}
}

// encode encodes a value as JSON. HTML characters are not escaped: models read them too.
func encode(value any) ([]byte, error) {
	var data bytes.Buffer

	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)

	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}

	return bytes.TrimSuffix(data.Bytes(), []byte("\n")), nil
}

// Resolve returns the address of a path below base, without base's query.
func Resolve(base *url.URL, path string) *url.URL {
	below := *base

	if below.Path != "" && !strings.HasSuffix(below.Path, "/") {
		below.Path += "/"

		if below.RawPath != "" {
			below.RawPath += "/"
		}
	}

	return below.ResolveReference(&url.URL{Path: path})
}

var errRedirected = errors.New("the server redirects to another address: check the base URL")

// SameOrigin returns a client that makes requests as the given one does, but does not follow redirects to another scheme, host
// or port: they would receive the conversation, and keys, because net/http removes only the best-known headers. Nil is
// http.DefaultClient.
func SameOrigin(client *http.Client) *http.Client {
	if client == nil {
		client = http.DefaultClient
	}

	guarded := *client
	guarded.CheckRedirect = func(request *http.Request, via []*http.Request) error {
		const most = 10

		switch {
		case client.CheckRedirect != nil:
			if err := client.CheckRedirect(request, via); err != nil {
				return err
			}
		case len(via) >= most:
			return fmt.Errorf("stopped after %d redirects", most)
		}

		if origin(request.URL) != origin(via[0].URL) {
			return errRedirected
		}

		return nil
	}

	return &guarded
}

// origin returns the scheme, host and port of an address.
func origin(address *url.URL) string {
	port := address.Port()

	switch {
	case port != "":
	case address.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}

	return strings.ToLower(address.Scheme + "://" + address.Hostname() + ":" + port)
}
