package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

// help builds the help of a command.
type help struct {
	out   strings.Builder
	width int // of the terminal; zero leaves texts as they are
}

// describeCommand returns the help of a command, wrapped to the width of a terminal.
func describeCommand(cmd *cobra.Command, width int) string {
	h := &help{width: width}

	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}

	h.prose(text)
	h.usage(cmd)

	if cmd.Example != "" {
		h.heading("Examples:")

		for line := range strings.SplitSeq(cmd.Example, "\n") {
			h.lines(foldCommand(line, h.width))
		}
	}

	h.commands(cmd)

	if flags := cmd.Flags(); flags.HasAvailableFlags() {
		h.heading("Flags:")
		h.flags(flags.FlagUsages())
	}

	if cmd.HasAvailableSubCommands() {
		h.out.WriteString("\n")
		h.prose(fmt.Sprintf("Use %q for more information about a command.", cmd.CommandPath()+" [command] --help"))
	}

	return h.out.String()
}

func (h *help) heading(text string) { h.out.WriteString("\n" + text + "\n") }

func (h *help) lines(lines []string) {
	for _, line := range lines {
		h.out.WriteString(line + "\n")
	}
}

// prose writes paragraphs. Their line breaks in the source do not count, except before an indented line.
func (h *help) prose(text string) {
	text = strings.TrimSpace(text)
	if h.width == 0 {
		h.out.WriteString(text + "\n")

		return
	}

	var paragraph []string

	flush := func() {
		if len(paragraph) > 0 {
			h.wrap(strings.Join(paragraph, " "), "", "")
		}

		paragraph = nil
	}

	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.TrimLeft(line, " \t") != line {
			flush()
			h.out.WriteString(line + "\n")

			continue
		}

		paragraph = append(paragraph, line)
	}

	flush()
}

// wrap writes text in lines, of which the first begins with first and all others with rest.
func (h *help) wrap(text, first, rest string) {
	if h.width == 0 {
		h.out.WriteString(first + text + "\n")

		return
	}

	h.lines(terminal.Palette{}.Wrap([]terminal.Span{{Text: text}}, h.width, first, rest))
}

func (h *help) usage(cmd *cobra.Command) {
	h.heading("Usage:")

	if cmd.Runnable() {
		h.wrap(cmd.UseLine(), "  ", "    ")
	}

	if cmd.HasAvailableSubCommands() {
		h.wrap(cmd.CommandPath()+" [command]", "  ", "    ")
	}

	if len(cmd.Aliases) > 0 {
		h.heading("Aliases:")
		h.wrap(cmd.NameAndAliases(), "  ", "    ")
	}
}

// commands lists the commands below a command, by group.
func (h *help) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}

	list := func(title, group string) {
		begun := false

		for _, child := range cmd.Commands() {
			if child.GroupID != group || !child.IsAvailableCommand() && child.Name() != "help" {
				continue
			}

			if !begun {
				h.heading(title)

				begun = true
			}

			name := "  " + terminal.Pad(child.Name(), child.NamePadding()) + "  "
			h.wrap(child.Short, name, strings.Repeat(" ", len(name)))
		}
	}

	for _, group := range cmd.Groups() {
		list(group.Title, group.ID)
	}

	list("Commands:", "")
}

// flags writes flags with their descriptions in a column of their own, or below the flag if it is too long.
func (h *help) flags(usages string) {
	const widest = 34

	if h.width == 0 {
		h.out.WriteString(usages)

		return
	}

	for usage := range strings.Lines(usages) {
		usage = strings.TrimRight(usage, "\n")
		flag := strings.TrimLeft(usage, " ")
		flag, text, _ := strings.Cut(flag, "   ")
		flag = usage[:len(usage)-len(strings.TrimLeft(usage, " "))] + flag

		if terminal.Width(flag) > widest-2 {
			h.lines([]string{flag})

			flag = ""
		}

		h.wrap(strings.TrimLeft(text, " "), terminal.Pad(flag, widest), strings.Repeat(" ", widest))
	}
}

// foldCommand splits a command that is wider than the terminal where a shell lets it continue on the next line.
func foldCommand(line string, width int) []string {
	if width == 0 || terminal.Width(line) <= width {
		return []string{line}
	}

	const continued = ` \`

	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	folded := []string{indent}
	begun := false

	for _, word := range shellWords(line) {
		last := &folded[len(folded)-1]

		switch {
		case !begun:
			*last += word
		case terminal.Width(*last+" "+word+continued) <= width:
			*last += " " + word
		default:
			*last += continued
			folded = append(folded, indent+"  "+word)
		}

		begun = true
	}

	return folded
}

// shellWords splits a command at spaces outside quotes, which it keeps.
func shellWords(line string) []string {
	var quote rune

	return strings.FieldsFunc(line, func(r rune) bool {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		default:
			return r == ' '
		}

		return false
	})
}
