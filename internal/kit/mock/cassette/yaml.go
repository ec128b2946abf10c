package cassette

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// emitter writes a tree as readable YAML: multi-line texts, and texts full of quotes, are blocks.
type emitter struct{ out []byte }

const step = 2

func (e *emitter) spaces(n int) { e.out = append(e.out, strings.Repeat(" ", n)...) }

func (e *emitter) text(s string) { e.out = append(e.out, s...) }

// members writes an object; begun means that the first line is already indented.
func (e *emitter) members(of object, indent int, begun bool) {
	for i, p := range of {
		if i > 0 || !begun {
			e.spaces(indent)
		}

		if plainKey.MatchString(p.name) && !reserved.MatchString(p.name) {
			e.text(p.name)
		} else {
			e.out = exchange.AppendString(e.out, p.name)
		}

		e.text(":")

		switch v := p.value.(type) {
		case object:
			e.nested(len(v) == 0, " {}\n", func() { e.members(v, indent+step, false) })
		case list:
			e.nested(len(v) == 0, " []\n", func() { e.items(v, indent+step) })
		default:
			e.scalar(v, indent+step)
		}
	}
}

func (e *emitter) items(of list, indent int) {
	for _, item := range of {
		e.spaces(indent)
		e.text("-")

		switch v := item.(type) {
		case object:
			if len(v) == 0 {
				e.text(" {}\n")

				continue
			}

			e.text(" ")
			e.members(v, indent+step, true)
		case list:
			e.nested(len(v) == 0, " []\n", func() { e.items(v, indent+step) })
		default:
			e.scalar(v, indent+step)
		}
	}
}

func (e *emitter) nested(empty bool, short string, long func()) {
	if empty {
		e.text(short)

		return
	}

	e.text("\n")
	long()
}

func (e *emitter) scalar(value any, indent int) {
	e.text(" ")

	switch v := value.(type) {
	case string:
		e.string(v, indent)

		return
	case json.Number:
		e.text(string(v))
	case bool:
		if v {
			e.text("true")
		} else {
			e.text("false")
		}
	default:
		e.text("null")
	}

	e.text("\n")
}

var (
	plainKey   = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_.$-]*$`)
	plainValue = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./ ,()!?'+=%@-]*$`)
	reserved   = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n)$`)
)

// longLine is the length above which a text is easier to read as a block.
const longLine = 80

func (e *emitter) string(s string, indent int) {
	switch {
	case plainValue.MatchString(s) && !reserved.MatchString(s) && !strings.HasSuffix(s, " ") && len(s) <= longLine:
		e.text(s + "\n")
	case (len(s) > longLine || strings.ContainsAny(s, "\n\"\\")) && blockable(s):
		e.block(s, indent)
	default:
		e.out = append(exchange.AppendString(e.out, s), '\n')
	}
}

func (e *emitter) block(s string, indent int) {
	body := strings.TrimRight(s, "\n")

	switch len(s) - len(body) {
	case 0:
		e.text("|-\n")
	case 1:
		e.text("|\n")
	default:
		e.text("|+\n")
	}

	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			e.spaces(indent)
		}

		e.text(line + "\n")
	}

	for range len(s) - len(body) - 1 {
		e.text("\n")
	}
}

// blockable reports whether a text can be written as a block unchanged.
func blockable(s string) bool {
	if strings.Trim(s, "\n") == "" || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") || strings.Contains(s, "\t") {
		return false
	}

	for _, r := range s {
		if r != '\n' && !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return false
		}
	}

	return true
}
