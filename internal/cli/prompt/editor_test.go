package prompt

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"
)

// desk is an editor model without a terminal. It records what was done.
type desk struct {
	*editorModel

	entered     []string
	interrupted []int
	left        bool
}

func newDesk(history ...string) *desk {
	d := &desk{}
	d.editorModel = &editorModel{
		line: NewLine(history), width: 80,
		enter:     func(text string) { d.entered = append(d.entered, text) },
		interrupt: func(number int) { d.interrupted = append(d.interrupted, number) },
	}

	return d
}

// send passes messages to the model and runs the resulting commands, except for the next tick.
func (d *desk) send(messages ...tea.Msg) {
	for _, msg := range messages {
		if _, ticks := msg.(tickMsg); ticks {
			continue
		}

		_, cmd := d.Update(msg)
		d.run(cmd)
	}
}

// run runs a command. It uses reflection because bubbletea does not export the type of command sequences.
func (d *desk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}

	msg := cmd()

	if all := reflect.ValueOf(msg); msg != nil && all.Kind() == reflect.Slice {
		for i := range all.Len() {
			if next, ok := reflect.TypeAssert[tea.Cmd](all.Index(i)); ok {
				d.run(next)
			}
		}

		return
	}

	if _, quit := msg.(tea.QuitMsg); quit {
		d.left = true

		return
	}

	d.send(msg)
}

func (d *desk) typeText(text string) {
	for _, r := range text {
		d.send(tea.KeyPressMsg{Text: string(r), Code: r})
	}
}

func (d *desk) enterText(text string) {
	d.typeText(text)
	d.send(tea.KeyPressMsg{Code: tea.KeyEnter})
}

func ctrl(key rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: key, Mod: tea.ModCtrl} }

func (d *desk) shows(t *testing.T, lines ...string) {
	t.Helper()

	got := strings.Split(d.View().Content, "\n")
	for i, line := range got {
		got[i] = strings.TrimRight(line, " ")
	}

	require.Equal(t, lines, got)
}

func TestEditorEntersOneLineAtATime(t *testing.T) {
	t.Parallel()

	d := newDesk()
	d.enterText("")
	d.enterText("  ")
	require.Empty(t, d.entered, "an empty line is not entered")
	d.shows(t, ">")

	d.enterText(" one ")
	require.Equal(t, []string{"one"}, d.entered)
	d.shows(t, "⠋ Answering… Ctrl-C cancels.", ">")

	d.enterText("two")
	d.shows(t, "⠋ Answering… What you entered follows. Ctrl-C cancels the answer.", "> two")
	require.Len(t, d.entered, 1)
	d.send(doneMsg{})
	require.Equal(t, []string{"one", "two"}, d.entered)

	// A line that is changed after Enter is not entered automatically.
	d.enterText("thre")
	d.typeText("e")
	d.send(doneMsg{})
	require.Len(t, d.entered, 2)
	d.shows(t, "> three")

	d.enterText("")
	require.Equal(t, []string{"one", "two", "three"}, d.entered)
	d.enterText("/exit")
	require.False(t, d.left, "the answer is waited for")
	d.send(doneMsg{})
	require.True(t, d.left)
	d.shows(t, "")
}

func TestEditorInterruptsEachLineOnceThenLeaves(t *testing.T) {
	t.Parallel()

	d := newDesk()
	d.typeText("typed")
	d.send(ctrl('c'))
	require.False(t, d.left, "what was typed is taken back")
	d.shows(t, ">")

	for number := 1; number <= 2; number++ {
		d.enterText("why?")
		d.send(statusMsg("→ pods …"))
		d.shows(t, "⠋ → pods …", ">")
		d.send(ctrl('c'))
		require.Len(t, d.interrupted, number)
		d.shows(t, "⠋ Cancelling the answer… Press Ctrl-C again to leave.", ">")
		d.send(doneMsg{})
	}

	require.Equal(t, []int{1, 2}, d.interrupted)
	d.enterText("why?")
	d.shows(t, "⠋ Answering… Ctrl-C cancels.", ">")
	d.send(ctrl('c'))
	require.False(t, d.left)
	d.send(ctrl('c'))
	require.True(t, d.left, "a server that does not answer keeps nobody")
	require.Equal(t, []int{1, 2, 3}, d.interrupted)

	d = newDesk()
	d.send(ctrl('c'))
	require.True(t, d.left, "there is nothing to interrupt")
}

func TestEditorLeavesWithCtrlDOnEmptyLineOnly(t *testing.T) {
	t.Parallel()

	d := newDesk()
	d.typeText("ab")
	d.send(tea.KeyPressMsg{Code: tea.KeyHome}, ctrl('d'))
	require.False(t, d.left)
	d.shows(t, "> b")
	d.send(ctrl('d'))
	d.enterText("why?")
	d.send(ctrl('d'))
	require.False(t, d.left, "the answer is waited for")
	d.send(doneMsg{})
	require.True(t, d.left)
}

func TestEditorTakesPastedTextAndFitsTerminal(t *testing.T) {
	t.Parallel()

	d := newDesk("asked before")
	d.send(tea.PasteMsg{Content: "two\nlines\x1b[2J"})
	d.shows(t, "> two lines")
	require.Equal(t, len("> two lines"), d.View().Cursor.X)
	d.send(tea.WindowSizeMsg{Width: 10, Height: 5})
	d.shows(t, ">  lines")
	d.send(tea.WindowSizeMsg{})
	d.shows(t, ">  lines")
	d.send(tea.KeyPressMsg{Code: tea.KeyUp}, tea.WindowSizeMsg{Width: 80, Height: 5})
	d.shows(t, "> asked before")

	d.send(tea.KeyPressMsg{Code: tea.KeyKpEnter}, tickMsg{})
	require.Equal(t, 1, d.View().Cursor.Y, "the line is below what is being done")
	require.True(t, slices.Equal([]string{"asked before"}, d.entered))
}
