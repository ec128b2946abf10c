package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"tarsy.dev/tarsy"
)

// anonymousLimit is the size of the largest body of a request that needs no key, such as a login.
const anonymousLimit = 4 << 10

// readBody reads a JSON body of a limited size. A request without a body has an empty one, whatever type it claims.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		discard(w, r, limit)

		return nil, tooLarge("", limit)
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		discard(w, r, limit)

		return nil, tooLarge("", limit)
	}

	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, tarsy.Errorf(tarsy.CodeInvalidRequest, "the body did not arrive in time")
	}

	if err != nil {
		return nil, tarsy.Errorf(tarsy.CodeInvalidRequest, "the body could not be read to its end")
	}

	if len(body) == 0 {
		return nil, nil
	}

	return body, checkMediaType(r)
}

// discard reads on for a while: a client that is cut off while it still sends does not hear why. One that asked first
// is told without sending anything.
func discard(w http.ResponseWriter, r *http.Request, limit int64) {
	const times = 8

	if r.Header.Get("Expect") == "" {
		// How far it came does not matter.
		_, _ = io.CopyN(io.Discard, r.Body, times*limit)
	}

	// What is still to come is not waited for.
	ignoreBody(w, r)
}

func checkMediaType(r *http.Request) error {
	given := r.Header.Get("Content-Type")
	mediaType, parameters, err := mime.ParseMediaType(given)

	isJSON := err == nil && (mediaType == "application/json" ||
		strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+json"))
	if !isJSON {
		return tarsy.FieldErrorf(tarsy.CodeUnsupportedMedia, "Content-Type", "the body must be application/json, not %q", shown(given))
	}

	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return tarsy.FieldErrorf(tarsy.CodeUnsupportedMedia, "Content-Type", "JSON is written in UTF-8, not in %q", shown(charset))
	}

	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return tarsy.FieldErrorf(tarsy.CodeUnsupportedMedia, "Content-Encoding", "send the body as it is, not as %q", shown(encoding))
	}

	return nil
}

func tooLarge(field string, limit int64) error {
	what := "the body"
	if field != "" {
		what = field
	}

	return tarsy.FieldErrorf(tarsy.CodeTooLarge, field, "%s is larger than %d bytes", what, limit)
}
