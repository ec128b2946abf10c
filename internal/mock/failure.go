package mock

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/mock/exchange"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/llm"
)

// answerError answers /_error/{status}/…: any operation below it fails with that status, in the form of its API.
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
	if call, ok := handler.(*call); ok {
		api = call.api
	}

	s.exchanges.Handler(api, func(x *exchange.Exchange) { x.Fail(api.Error, failure) }).ServeHTTP(w, r)
}

// unknownPath is the answer to a request that is of no API. Its error is where the SDKs of most APIs look for a message.
type unknownPath struct {
	*problem.Problem

	APIs  map[string][]string `json:"apis"`
	Error struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	} `json:"error"`
}

// answerUnknown says which operations there are.
func (s *Server) answerUnknown(x *exchange.Exchange) {
	apis := map[string][]string{}

	for _, api := range s.apis {
		for _, route := range api.Routes {
			apis[api.Name] = append(apis[api.Name], route.Pattern)
		}
	}

	message := fmt.Sprintf("There is no %s %s.%s", x.Request.Method, x.Request.URL.Path, s.hint(x.Request.Method, x.Request.URL.Path))
	unknown := unknownPath{Problem: problem.New(tarsy.Errorf(tarsy.CodeNotFound, "%s", message)), APIs: apis}
	unknown.Error.Message, unknown.Error.Type, unknown.Error.Code = message, "not_found_error", "unknown_path"

	x.Entry.Unexpected, x.Entry.Error = true, message
	x.Problem(http.StatusNotFound, unknown)
}

// hint names the operation that was most likely meant: bases of SDKs differ in whether they end with the version.
func (s *Server) hint(method, path string) string {
	for _, api := range s.apis {
		for _, route := range api.Routes {
			of, pattern, _ := strings.Cut(route.Pattern, " ")
			if path != "/" && of == method && (strings.HasSuffix(pattern, path) || strings.HasSuffix(path, pattern)) {
				return fmt.Sprintf(" Did you mean %s, with another base URL?", pattern)
			}

			if pattern == path {
				return " It takes " + of + "."
			}
		}
	}

	return " The APIs here: " + strings.Join(s.operations(), ", ") + "."
}

// operations are the paths of all APIs, in order.
func (s *Server) operations() []string {
	var all []string

	for _, api := range s.apis {
		for _, route := range api.Routes {
			all = append(all, route.Pattern)
		}
	}

	slices.Sort(all)

	return all
}
