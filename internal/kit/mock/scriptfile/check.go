package scriptfile

import (
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/schema"
)

// exclusive are pairs of keys of a reply that contradict each other.
var exclusive = [][2]string{
	{"chunks", "text"}, {"chunks", "thinking"}, {"chunks", "tool_calls"},
	{"error", "fault"}, {"error", "hang"}, {"fault", "hang"},
}

// content are the keys of a reply that make up an answer.
var content = []string{"thinking", "text", "chunks", "tool_calls"}

// checker finds the errors in a file that its value types do not rule out.
type checker struct {
	name     string
	file     *File
	marks    map[string]schema.Mark
	problems []Problem
}

// check returns all problems, those already known first. A value that could not be read is not also reported as missing,
// and only the first of several problems with a value is reported.
func (c *checker) check() []Problem {
	known := len(c.problems)

	schema.Check(c.file, c.marks, c.fail)
	c.replies("replies", c.file.Replies)

	for i, route := range c.file.Routes {
		path := fmt.Sprintf("routes[%d]", i)
		c.when(path+".when", route.When)
		c.replies(path+".replies", route.Replies)
	}

	for _, p := range c.file.MCPServers.Check() {
		c.fail("mcp_servers."+p.Path, p.Message, "")
	}

	if c.file.Discord != nil {
		for _, p := range c.file.Discord.Check() {
			c.fail("discord."+p.Path, p.Message, "")
		}
	}

	all := c.problems[:known:known]

	for _, p := range c.problems[known:] {
		unread := slices.ContainsFunc(all[:known], func(before Problem) bool { return touches(before.Path, p.Path) })
		if !unread && !slices.ContainsFunc(all, func(before Problem) bool { return before.Path == p.Path }) {
			all = append(all, p)
		}
	}

	return all
}

// touches reports whether two paths are equal or one contains the other.
func touches(a, b string) bool {
	long, short := a, b
	if len(short) > len(long) {
		long, short = short, long
	}

	rest, ok := strings.CutPrefix(long, short)

	return ok && short != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (c *checker) fail(path, message, hint string) {
	at := schema.PlaceOf(c.marks, path)
	if at.File == "" {
		at.File = c.name
	}

	c.problems = append(c.problems, Problem{
		File: at.File, Line: at.Line, Column: at.Column, Path: path, Message: message, Hint: hint,
	})
}

// set reports whether a key is present in the file.
func (c *checker) set(path, key string) bool {
	_, ok := c.marks[schema.Join(path, key)]

	return ok
}

func (c *checker) when(path string, when When) {
	for key, text := range map[string]*Text{
		"model": when.Model, "system": when.System, "user": when.User, "tool_result": when.ToolResult,
	} {
		if text != nil {
			c.text(path+"."+key, *text)
		}
	}

	for name, text := range when.Header {
		c.text(schema.Join(path+".header", name), text)
	}
}

func (c *checker) text(path string, text Text) {
	if text == (Text{}) {
		c.fail(path, "says nothing about the text", "write a part of it, or equals, contains or matches")
	}
}

func (c *checker) replies(path string, replies []Reply) {
	for i := range replies {
		at := fmt.Sprintf("%s[%d]", path, i)
		c.reply(at, &replies[i])

		if i > 0 && replies[i-1].Times < 0 {
			c.fail(at, "is never reached", fmt.Sprintf("reply %d before it answers forever", i))
		}
	}
}

func (c *checker) reply(path string, reply *Reply) {
	for _, pair := range exclusive {
		if c.set(path, pair[0]) && c.set(path, pair[1]) {
			c.fail(path+"."+pair[1], "cannot stand beside "+pair[0], "keep one of the two")
		}
	}

	for i := range reply.Chunks {
		c.chunk(fmt.Sprintf("%s.chunks[%d]", path, i))
	}

	if at := path + ".error"; reply.Error != nil && !c.set(at, "status") && !c.set(at, "class") && !c.set(at, "message") {
		c.fail(path+".error", "says nothing", "give it a status, a class or a message")
	}

	c.order(path, reply)
	c.gate(path, reply.Gate)
}

// order finds content and gates after the end of an answer.
func (c *checker) order(path string, reply *Reply) {
	after, by := -1, ""

	switch {
	case reply.Error != nil:
		after, by = reply.Error.AfterChunks, "error"
	case reply.Fault != nil:
		after, by = reply.Fault.AfterChunks, "fault"
	}

	if after == 0 {
		for _, key := range content {
			if c.set(path, key) {
				c.fail(path+"."+key, "is never sent: the "+by+" comes before it", "set "+by+".after_chunks")
			}
		}
	}

	if after >= 0 && reply.Gate != nil && reply.Gate.AfterChunks > after {
		c.fail(path+".gate", "is never reached: the "+by+" comes before it",
			fmt.Sprintf("it comes after %d chunks, the gate after %d", after, reply.Gate.AfterChunks))
	}
}

func (c *checker) gate(path string, gate *Gate) {
	if gate == nil || !c.set("", "gates") || slices.Contains(c.file.Gates, gate.Name) {
		return
	}

	c.fail(path+".gate.name", fmt.Sprintf("unknown gate %q", gate.Name), nearest.HintWithList(gate.Name, c.file.Gates, "gates"))
}

func (c *checker) chunk(path string) {
	kinds := []string{"text", "thinking", "tool_call", "code_execution", "google_search", "url_context"}
	given := slices.DeleteFunc(slices.Clone(kinds), func(key string) bool { return !c.set(path, key) })

	if len(given) != 1 {
		c.fail(path, fmt.Sprintf("has %d chunk kinds", len(given)), "set exactly one of "+strings.Join(kinds, ", "))
	}
}
