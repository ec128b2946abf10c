package prompt

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"
)

// typed presses keys: special keys by their codes, all others as typed.
func typed(l *Line, keys ...any) {
	for _, key := range keys {
		switch key := key.(type) {
		case string:
			for _, r := range key {
				l.Press(tea.KeyPressMsg{Text: string(r), Code: r})
			}
		case rune:
			l.Press(tea.KeyPressMsg{Code: key})
		}
	}
}

func TestLineIsEditedAtCursor(t *testing.T) {
	t.Parallel()

	l := NewLine(nil)
	typed(l, "wy", tea.KeyLeft, "h", tea.KeyEnd, "?!", tea.KeyBackspace, tea.KeyHome, "so ", tea.KeyDelete, "W")
	require.Equal(t, "so Why?", l.Text())

	l.Press(tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl})
	require.Equal(t, "so hy?", l.Text())
	l.Press(tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl})
	require.Equal(t, "so ", l.Text())
	l.Press(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
	require.Empty(t, l.Text())

	l.Insert("two\nlines\x1b[2J")
	require.Equal(t, "two lines", l.Take())
}

func TestLineRecallsHistoryAndDraft(t *testing.T) {
	t.Parallel()

	l := NewLine([]string{"one", "two\x1b]0;title\a", "two"})
	typed(l, "draft", tea.KeyUp)
	require.Equal(t, "two", l.Text(), "repeated lines count once")
	typed(l, tea.KeyUp, tea.KeyUp)
	require.Equal(t, "one", l.Text())
	typed(l, tea.KeyDown, tea.KeyDown, tea.KeyDown)
	require.Equal(t, "draft", l.Text())
	require.Equal(t, "draft", l.Take())
	typed(l, tea.KeyUp)
	require.Equal(t, "draft", l.Text())
}

func TestLineShowsPartAroundCursor(t *testing.T) {
	t.Parallel()

	l := NewLine(nil)
	typed(l, "0123456789")

	text, cursor := l.View(5)
	require.Equal(t, "6789", text)
	require.Equal(t, 4, cursor)

	typed(l, tea.KeyHome)

	text, cursor = l.View(5)
	require.Equal(t, "01234", text)
	require.Equal(t, 0, cursor)
}
