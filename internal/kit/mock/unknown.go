package mock

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/anthropic"
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/internal/kit/mock/gemini"
	"tarsy.dev/tarsy/internal/kit/mock/openai"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/llm"
)

// unknownPath is the response to a request that belongs to no API. Its error is where most SDKs look for a message.
type unknownPath struct {
	*problem.Problem

	APIs  map[string][]string `json:"apis"`
	Error struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	} `json:"error"`
}

// answerUnknown answers 404, in the format of the API that the caller most likely meant, and names the operations that
// exist.
func (s *Server) answerUnknown(x *exchange.Exchange) {
	method, path := x.Request.Method, x.Request.URL.Path
	x.Entry.Unexpected = true

	if api, ok := s.intendedAPI(x.Request); ok {
		x.Entry.API = api.Name
		x.Fail(api.Error, &llm.Error{
			Class: llm.ClassInvalid, Status: http.StatusNotFound, Code: "unknown_url",
			Message: fmt.Sprintf("There is no %s %s.%s", method, path, hint([]exchange.API{api}, method, path)),
		})

		return
	}

	apis := map[string][]string{}

	for _, api := range s.apis {
		for _, route := range api.Routes {
			apis[api.Name] = append(apis[api.Name], route.Pattern)
		}
	}

	message := fmt.Sprintf("There is no %s %s.%s", method, path, hint(s.apis, method, path))
	unknown := unknownPath{Problem: problem.New(tarsy.Errorf(tarsy.CodeNotFound, "%s", message)), APIs: apis}
	unknown.Error.Message, unknown.Error.Type, unknown.Error.Code = message, "not_found_error", "unknown_url"

	x.Entry.Error = message
	x.Problem(http.StatusNotFound, unknown)
}

// intendedAPI returns the API that a request to an unknown path was most likely meant for, if its path or the place of its
// key indicates one.
func (s *Server) intendedAPI(r *http.Request) (exchange.API, bool) {
	name := apiOfPath(r.URL.Path)
	if name == "" {
		name = apiOfKey(r)
	}

	if name == "" && strings.HasPrefix(r.URL.Path, "/v1/") {
		name = openai.Name
	}

	at := slices.IndexFunc(s.apis, func(api exchange.API) bool { return api.Name == name })
	if at < 0 {
		return exchange.API{}, false
	}

	return s.apis[at], true
}

func apiOfPath(path string) string {
	has := func(part string) bool { return strings.Contains(path, part) }

	switch {
	case has("/messages") && !has("/threads/"):
		return anthropic.Name
	case has("/openai/"), has("/chat/"), has("/completions"), has("/responses"), has("/embeddings"):
		return openai.Name
	case strings.HasPrefix(path, "/v1beta"), has("/publishers/google/"), has("/models/") && has(":"):
		return gemini.Name
	default:
		return ""
	}
}

func apiOfKey(r *http.Request) string {
	switch {
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "":
		return anthropic.Name
	case r.Header.Get("X-Goog-Api-Key") != "", r.URL.Query().Has("key"):
		return gemini.Name
	case r.Header.Get("Authorization") != "", r.Header.Get("Api-Key") != "":
		return openai.Name
	default:
		return ""
	}
}

// hint names the operation that was most likely meant: SDKs differ in whether their base URL ends with the version.
func hint(apis []exchange.API, method, path string) string {
	var all []string

	for _, api := range apis {
		for _, route := range api.Routes {
			of, pattern, _ := strings.Cut(route.Pattern, " ")
			if path != "/" && of == method && (strings.HasSuffix(pattern, path) || strings.HasSuffix(path, pattern)) {
				return fmt.Sprintf(" Did you mean %s, with another base URL?", pattern)
			}

			if pattern == path {
				return " It takes " + of + "."
			}

			all = append(all, route.Pattern)
		}
	}

	slices.Sort(all)

	return " Available operations: " + strings.Join(all, ", ") + "."
}
