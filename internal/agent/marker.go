package agent

import (
	"fmt"
	"strings"
)

// block puts text that others wrote between markers. The text cannot end its own block.
func block(name, text string) string {
	return fmt.Sprintf("<!-- %s_START -->\n%s\n<!-- %s_END -->", name, neutral(text), name)
}

// neutral takes from a text what would make a marker of it; a model still reads what it said.
func neutral(text string) string { return strings.ReplaceAll(text, "<!--", "&lt;!--") }

// oneLine is a text in one line, for where a line means something.
func oneLine(text string) string { return neutral(strings.Join(strings.Fields(text), " ")) }
