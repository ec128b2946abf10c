package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// tool is a tool that is ready for calls.
type tool struct {
	source    Tool
	schema    map[string]any
	validator *jsonschema.Resolved
	results   []*result

	mu sync.Mutex
}

// result is a result that is ready for calls.
type result struct {
	source     Result
	conditions []condition
	text       text
	json       any
	// used is how often it was used; the tool's lock guards it.
	used int
}

// refusal is the reason why a call has no result; it is sent to the caller.
type refusal struct{ message string }

func (r *refusal) Error() string { return r.message }

// arguments decodes and validates the arguments of a call.
func (t *tool) arguments(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}

	value, err := decode(raw)
	if err != nil {
		return nil, err
	}

	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the arguments are not an object: %s", show(value))
	}

	var instance any
	if err := json.Unmarshal(raw, &instance); err != nil {
		return nil, fmt.Errorf("decode the arguments: %w", err)
	}

	if err := t.validator.Validate(instance); err != nil {
		return object, fmt.Errorf("invalid arguments for tool %s: %w", t.source.Name, err)
	}

	return object, nil
}

// choose takes the first matching result.
func (t *tool) choose(arguments map[string]any) (int, *result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	var why []string

	for i, r := range t.results {
		mismatch := r.mismatch(arguments)
		if mismatch != "" {
			why = append(why, fmt.Sprintf("result %d: %s", i, mismatch))

			continue
		}

		r.used++

		return i, r, nil
	}

	return -1, nil, &refusal{fmt.Sprintf("the script has no result for tool %s with arguments %s: %s",
		t.source.Name, show(arguments), strings.Join(why, "; "))}
}

// mismatch returns why a result does not match, or "" if it does.
func (r *result) mismatch(arguments map[string]any) string {
	var why []string

	for _, c := range r.conditions {
		value, there := lookup(arguments, c.path)
		if c.holds(value, there) {
			continue
		}

		is := "is missing"
		if there {
			is = "is " + show(value)
		}

		why = append(why, fmt.Sprintf("%s %s, wanted %s", c.path, is, c.wants))
	}

	if len(why) == 0 && r.source.Times > 0 && r.used >= r.source.Times {
		why = append(why, fmt.Sprintf("fits, but was used %d of %d times", r.used, r.source.Times))
	}

	return strings.Join(why, ", ")
}

// unused describes the results that should have been used up and are not.
func (t *tool) unused(server string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()

	var list []string

	for i, r := range t.results {
		if r.used < r.source.Times {
			list = append(list, fmt.Sprintf("MCP server %s, tool %s, result %d: used %d of %d times", server, t.source.Name, i, r.used, r.source.Times))
		}
	}

	return list
}
