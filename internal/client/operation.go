package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy"
)

// Operation is an operation of the API, written as its method and path, with the types of its input and output. An input whose fields have
// the tag query is sent as the query, any other as the JSON body.
type Operation[In, Out any] string

// Creation is an operation that creates something once per idempotency key, no matter how often it is sent.
type Creation[In, Out any] string

// Listing is an operation that returns a list. Its string continues with the name of the list in the response, and with "paged" if a
// response contains only one page.
type Listing[In, Item any] string

// None is the input of an operation without input, written as nil, or the output of one without output.
type None = *struct{}

const (
	// pageSize is the largest page that servers return.
	pageSize = 200
	// createAttempts is the maximum number of attempts of a request that creates something.
	createAttempts = 3
	// createPause limits the time between two attempts, whatever the server asks for.
	createPause = 5 * time.Second
)

// Call sends a request. The ids replace the path parameters, in order.
func Call[In, Out any](ctx context.Context, c *Client, op Operation[In, Out], in In, ids ...string) (Out, error) {
	query, body := split(in)

	return send[Out](ctx, c, string(op), query, body, "", ids)
}

// Create sends a request that creates something, and retries it if it may not have arrived. All attempts use the same idempotency key, a
// random one if key is empty, so that only one thing is created even if an earlier attempt did arrive.
func Create[In, Out any](ctx context.Context, c *Client, op Creation[In, Out], key string, in In, ids ...string) (Out, error) {
	if key == "" {
		key = rand.Text()
	}

	query, body := split(in)

	for attempt := 1; ; attempt++ {
		created, err := send[Out](ctx, c, string(op), query, body, key, ids)

		pause, again := c.pauseBefore(attempt, err)
		if !again {
			return created, err
		}

		select {
		case <-ctx.Done():
			return created, err
		case <-time.After(pause):
		}
	}
}

// List iterates over a list, page by page if it is paged. A limit of zero means no limit. An error ends the iteration.
func List[In, Item any](ctx context.Context, c *Client, op Listing[In, Item], in In, limit int, ids ...string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		words := strings.Fields(string(op))
		field, paged := words[2], len(words) > 3

		query, _ := split(in)
		if query == nil {
			query = url.Values{}
		}

		for left := limit; ; {
			if size := pageSize; paged {
				if limit > 0 {
					size = min(left, pageSize)
				}

				query.Set("limit", strconv.Itoa(size))
			}

			items, next, err := readPage[Item](ctx, c, string(op), query, field, ids)
			if err != nil {
				var none Item

				yield(none, err)

				return
			}

			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}

			left -= len(items)

			if next == "" || limit > 0 && left <= 0 {
				return
			}

			query.Set("cursor", next)
		}
	}
}

func readPage[Item any](ctx context.Context, c *Client, pattern string, query url.Values, field string, ids []string) (items []Item, next string, err error) {
	page, err := send[map[string]json.RawMessage](ctx, c, pattern, query, nil, "", ids)
	if err != nil {
		return nil, "", err
	}

	for name, into := range map[string]any{field: &items, "next_cursor": &next} {
		if page[name] == nil {
			continue
		}

		if err := json.Unmarshal(page[name], into); err != nil {
			return nil, "", fmt.Errorf("%s answered %s with an unexpected response: %w", c.Server(), pattern, err)
		}
	}

	return items, next, nil
}

// All collects a list. Unless there is an error, the result is not nil.
func All[Item any](list iter.Seq2[Item, error]) ([]Item, error) {
	all := []Item{}

	for item, err := range list {
		if err != nil {
			return nil, err
		}

		all = append(all, item)
	}

	return all, nil
}

func send[Out any](ctx context.Context, c *Client, pattern string, query url.Values, body any, key string, ids []string) (Out, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()

	var out Out

	request, err := c.request(ctx, pattern, ids, query, body)
	if err != nil {
		return out, err
	}

	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}

	if _, nothing := any(out).(None); nothing {
		return out, c.do(request, nil)
	}

	err = c.do(request, &out)

	return out, err
}

// methodAndPath splits the pattern of an operation, and replaces the path parameters with ids.
func methodAndPath(pattern string, ids []string) (method, path string) {
	words := strings.Fields(pattern)
	segments := strings.Split(words[1], "/")

	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") && len(ids) > 0 {
			segments[i], ids = url.PathEscape(ids[0]), ids[1:]
		}
	}

	return words[0], strings.Join(segments, "/")
}

// split returns the query and the body of an input. In the query, which omits zero fields, a list is joined by commas, or repeated if the
// tag says so. A nil pointer, or one to a zero value, has neither query nor body.
func split(in any) (url.Values, any) {
	if query, ok := in.(url.Values); ok {
		return query, nil
	}

	value := reflect.ValueOf(in)

	switch {
	case !value.IsValid(), value.Kind() == reflect.Pointer && (value.IsNil() || value.Elem().IsZero()):
		return nil, nil
	case value.Kind() != reflect.Struct:
		return nil, in
	}

	var query url.Values

	for field, value := range value.Fields() {
		name, option, ok := strings.Cut(field.Tag.Get("query"), ",")
		if name == "" {
			return nil, in
		}

		if query == nil {
			query = url.Values{}
		}

		switch list, isList := reflect.TypeAssert[[]string](value); {
		case value.IsZero():
		case ok && option == "repeat":
			query[name] = list
		case isList:
			query.Set(name, strings.Join(list, ","))
		default:
			query.Set(name, fmt.Sprint(value.Interface()))
		}
	}

	return query, nil
}

// pauseBefore reports whether to retry after an attempt, and after which pause.
func (c *Client) pauseBefore(attempt int, err error) (pause time.Duration, again bool) {
	if err == nil || attempt == createAttempts {
		return 0, false
	}

	pause = c.cfg.RetryWait << (attempt - 1)

	if problem, ok := errors.AsType[*Problem](err); ok {
		// An intake pause lasts longer than anyone waits for a command.
		again = problem.Status == http.StatusServiceUnavailable && problem.Code != tarsy.CodeIntakePaused

		return min(max(pause, problem.RetryAfter), createPause), again
	}

	_, unreachable := errors.AsType[*UnreachableError](err)

	return min(pause, createPause), unreachable
}
