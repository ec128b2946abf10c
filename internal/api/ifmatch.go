package api

import (
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
)

// ifMatch is the If-Match header of a change: the ETag that the caller saw.
type ifMatch string

// version parses the version from the header.
func (header ifMatch) version() (int64, error) {
	if header == "" {
		return 0, tarsy.FieldErrorf(tarsy.CodeMissingIfMatch, "If-Match",
			"If-Match is missing; send the ETag of the version you are changing, to avoid overwriting another change")
	}

	text, opened := strings.CutPrefix(string(header), `"`)
	text, closed := strings.CutSuffix(text, `"`)

	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !opened || !closed {
		return 0, tarsy.FieldErrorf(tarsy.CodeInvalidField, "If-Match", `If-Match must be an ETag of this server, such as "3" with its quotes`)
	}

	return version, nil
}

// etag is the ETag of a version.
func etag(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }
