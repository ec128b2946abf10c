package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Problem is an error in a script. Path is its location below mcp_servers, such as
// kubernetes.tools[0].results[1].when.namespace.
type Problem struct {
	Path    string
	Message string
}

// String returns the problem on one line.
func (p Problem) String() string { return p.Path + ": " + p.Message }

// Check returns the errors that the types of the fields do not rule out, sorted by server name.
func (s Servers) Check() []Problem {
	_, problems := compile(s)

	return problems
}

// Names that can be part of a URL path and that the protocol allows.
var (
	serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)
	toolName   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
)

// compiler converts a script to servers that answer calls.
type compiler struct{ problems []Problem }

func (c *compiler) fail(path, message string, values ...any) {
	c.problems = append(c.problems, Problem{Path: path, Message: fmt.Sprintf(message, values...)})
}

func compile(servers Servers) (map[string]*server, []Problem) {
	var c compiler

	made := make(map[string]*server, len(servers))

	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if !serverName.MatchString(name) {
			c.fail(name, "the name of a server has letters, digits, _, - and . only, and begins with a letter or digit")
		}

		made[name] = c.server(name, servers[name])
	}

	return made, c.problems
}

func (c *compiler) server(name string, source Server) *server {
	s := &server{name: name, source: source, tools: make(map[string]*tool, len(source.Tools))}

	for i, t := range source.Tools {
		path := fmt.Sprintf("%s.tools[%d]", name, i)

		if !toolName.MatchString(t.Name) {
			c.fail(path+".name", "the name of a tool has 1 to 128 letters, digits, _, - and .")
		} else if s.tools[t.Name] != nil {
			c.fail(path+".name", "there is a tool %q already", t.Name)
		}

		s.tools[t.Name] = c.tool(path, t)
		s.order = append(s.order, t.Name)
	}

	return s
}

func (c *compiler) tool(path string, source Tool) *tool {
	t := &tool{source: source, schema: source.Schema}
	if t.schema == nil {
		t.schema = map[string]any{"type": "object"}
	}

	if validator, err := validator(t.schema); err != nil {
		c.fail(path+".schema", "%s", err)
	} else {
		t.validator = validator
	}

	if len(source.Results) == 0 {
		c.fail(path+".results", "a tool needs at least one result")
	}

	for i, r := range source.Results {
		t.results = append(t.results, c.result(fmt.Sprintf("%s.results[%d]", path, i), r))
	}

	return t
}

// validator compiles a schema. The SDK has additional rules, and panics if they are violated.
func validator(source map[string]any) (made *jsonschema.Resolved, err error) {
	raw, err := json.Marshal(source)
	if err != nil {
		return nil, fmt.Errorf("is not a JSON value: %w", err)
	}

	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fmt.Errorf("is not a JSON Schema: %w", err)
	}

	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("is not a JSON Schema: %w", err)
	}

	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("cannot be the schema of a tool: %v", reason)
		}
	}()

	probe := mcpsdk.NewServer(&mcpsdk.Implementation{Name: "probe"}, nil)
	probe.AddTool(&mcpsdk.Tool{Name: "probe", InputSchema: json.RawMessage(raw)}, nil)

	return resolved, nil
}

func (c *compiler) result(path string, source Result) *result {
	r := &result{
		source:     source,
		conditions: conditions(source.When, func(at, message string) { c.fail(path+".when."+at, "%s", message) }),
	}

	kinds := 0

	for _, given := range []bool{source.Text != nil, source.JSON != nil, source.Error != nil, source.Fault != ""} {
		if given {
			kinds++
		}
	}

	if kinds != 1 {
		c.fail(path, "a result has one of text, json, error and fault, not %d of them", kinds)
	}

	for name, given := range map[string]*string{"text": source.Text, "error": source.Error} {
		if given == nil {
			continue
		}

		var err error
		if r.text, err = parseText(*given); err != nil {
			c.fail(path+"."+name, "%s", err)
		}
	}

	var err error
	if r.json, err = plain(source.JSON); err != nil {
		c.fail(path+".json", "%s", err)
	}

	switch source.Fault {
	case "", FaultDrop, FaultHang, FaultMalformed, FaultProtocolError:
	default:
		c.fail(path+".fault", "%q is not one of drop, hang, malformed, protocol_error", source.Fault)
	}

	if source.Delay < 0 {
		c.fail(path+".delay", "is less than nothing")
	}

	if source.Times < 0 {
		c.fail(path+".times", "is less than nothing")
	}

	return r
}
