package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
)

// anonymousLimit is the maximum body size of a request that needs no key, such as a login.
const anonymousLimit = 4 << 10

// firstBodyBytes is the initial size of a body's buffer; it doubles when full.
const firstBodyBytes = 4 << 10

// read reads the caller's JSON body, up to limit bytes. A request without a body has an empty one, whatever type it claims. trusted
// means that the caller is already authenticated and permitted; otherwise the body decides, or anyone may send it.
func (b *bodies) read(w http.ResponseWriter, r *http.Request, who *caller, limit int64, trusted bool) error {
	if r.ContentLength > limit {
		discard(w, r, limit)

		return tooLarge("", limit)
	}

	who.held = heldBody{network: who.remote.network, trusted: trusted}

	err := b.receive(w, r, who, limit)
	if err != nil {
		who.body = nil
		b.release(who)
	}

	_, isTooLarge := errors.AsType[*http.MaxBytesError](err)

	switch {
	case isTooLarge:
		discard(w, r, limit)

		return tooLarge("", limit)
	case tarsy.CodeOf(err) == tarsy.CodeOverloaded:
		discard(w, r, limit)

		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return tarsy.Errorf(tarsy.CodeInvalidRequest, "the body did not arrive in time")
	case err != nil:
		return tarsy.Errorf(tarsy.CodeInvalidRequest, "the body could not be read to its end")
	case len(who.body) == 0:
		who.body = nil
		b.release(who)

		return nil
	default:
		return checkMediaType(r)
	}
}

// receive reads a body into memory that is counted before it is used. The buffer grows with what has arrived, because anyone can
// announce a large body.
func (b *bodies) receive(w http.ResponseWriter, r *http.Request, who *caller, limit int64) error {
	body := http.MaxBytesReader(w, r.Body, limit)

	for {
		if have := cap(who.body); len(who.body) == have {
			size := max(2*have, firstBodyBytes)

			// One more byte, to detect the end of the body.
			for _, most := range []int64{r.ContentLength + 1, limit + 1} {
				if int64(have) < most {
					size = min(size, int(most))
				}
			}

			err := b.hold(r.Context(), who, size)
			if err != nil {
				return err
			}

			who.body = append(make([]byte, 0, size), who.body...)
			b.drop(who, have)
		}

		n, err := body.Read(who.body[len(who.body):cap(who.body)])
		who.body = who.body[:len(who.body)+n]

		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return err
		}
	}
}

// discard keeps reading for a while: a client that is cut off while still sending does not see the error. A client that sent Expect
// gets the error without sending the body.
func discard(w http.ResponseWriter, r *http.Request, limit int64) {
	const times = 8

	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, times*limit)
	}

	// Do not wait for the rest.
	ignoreBody(w, r)
}

func checkMediaType(r *http.Request) error {
	given := r.Header.Get("Content-Type")
	mediaType, parameters, err := mime.ParseMediaType(given)

	isJSON := err == nil && (mediaType == "application/json" ||
		strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+json") ||
		// Amazon SNS sends its JSON as text/plain. A web page cannot send the header to another origin without a preflight.
		mediaType == "text/plain" && r.Header.Get(alert.SNSHeader) != "" && strings.HasPrefix(r.URL.Path, webhookPrefix))
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
