package mock

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/llm"
)

// answerError answers /_error/{status}/…: any operation below it fails with that status, in the format of its API.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request) {
	status, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/_error/"), "/")

	code, err := strconv.Atoi(status)
	if err != nil || code < http.StatusBadRequest || code > 599 {
		problem.Write(w, r, s.logger, tarsy.Errorf(tarsy.CodeNotFound,
			"There is no %s. /_error/STATUS/… takes a status from 400 to 599, as in /_error/429/v1/chat/completions?retry_after=2.", r.URL.Path))

		return
	}

	failure := llm.ErrorOfStatus(code, nil, "", "this is the error endpoint for status "+status)
	if wait, err := strconv.ParseFloat(r.URL.Query().Get("retry_after"), 64); err == nil && wait > 0 && wait <= time.Hour.Seconds() {
		failure.RetryAfter = time.Duration(wait * float64(time.Second))
	}

	below := r.Clone(r.Context())
	below.URL = &url.URL{Path: "/" + rest}

	handler, _ := s.calls.Handler(below)

	api := s.apis[0]
	if call, ok := handler.(*call); ok && call.api.Name != "" {
		api = call.api
	} else if meant, ok := s.intendedAPI(below); ok {
		api = meant
	}

	s.exchanges.Handler(api, func(x *exchange.Exchange) { x.Fail(api.Error, failure) }).ServeHTTP(w, r)
}
