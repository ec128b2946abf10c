package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

const (
	// Mark is the prompt of the input line.
	Mark = "> "
	// exitCommand ends the conversation like Ctrl-D.
	exitCommand = "/exit"
	tickEvery   = 150 * time.Millisecond
	// someHeight is assumed until the terminal reports its height.
	someHeight = 24
)

// Config configures an editor.
type Config struct {
	In  io.Reader
	Out io.Writer
	Env []string
	// Columns is the initial width, until the terminal reports its own.
	Columns int
	Palette terminal.Palette
	History []string
	// Interrupt is called when Ctrl-C is pressed while a line is being processed, at most once per line, with the
	// line's number from 1. It may block.
	Interrupt func(number int)
}

// Editor reads lines from a terminal and prints above the line that is being typed. Lines are read from it; EOF means that the user has
// left. Reading and writing are safe during Run.
type Editor struct {
	model   *editorModel
	program *tea.Program
	lines   *io.PipeReader
	typed   *io.PipeWriter
}

// New returns an editor. Nothing is shown before Run.
func New(config Config) *Editor {
	lines, typed := io.Pipe()
	model := &editorModel{
		line: NewLine(config.History), palette: config.Palette, width: config.Columns, interrupt: config.Interrupt,
		// The reader takes one line at a time; the next can be entered once it is done.
		enter: func(text string) { _, _ = io.WriteString(typed, text+"\n") },
	}

	return &Editor{
		model: model, lines: lines, typed: typed,
		program: tea.NewProgram(model, tea.WithInput(config.In), tea.WithOutput(config.Out), tea.WithEnvironment(config.Env),
			tea.WithWindowSize(config.Columns, someHeight), tea.WithoutSignalHandler()),
	}
}

// Run shows the line until the user leaves, Quit is called or ctx ends.
func (e *Editor) Run(ctx context.Context) error {
	defer func() { _ = e.typed.Close() }()
	defer context.AfterFunc(ctx, e.Quit)()

	_, err := e.program.Run()
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("read from the terminal: %w", err)
	}

	return context.Cause(ctx)
}

// Quit ends Run.
func (e *Editor) Quit() { e.program.Send(quitMsg{}) }

// Read implements io.Reader. It reads the lines that were entered.
func (e *Editor) Read(p []byte) (int, error) { return e.lines.Read(p) }

// Write implements io.Writer. It prints whole lines above the one that is being typed.
func (e *Editor) Write(p []byte) (int, error) {
	e.program.Send(tea.Println(strings.TrimSuffix(string(p), "\n"))())

	return len(p), nil
}

// Status shows the progress of the line that was entered.
func (e *Editor) Status(text string) { e.program.Send(statusMsg(text)) }

// Done reports that the line has been processed and the next can be entered.
func (e *Editor) Done() { e.program.Send(doneMsg{}) }

type (
	quitMsg   struct{}
	doneMsg   struct{}
	tickMsg   struct{}
	statusMsg string
)

// editorModel is the bubbletea model of the editor. Only bubbletea calls it.
type editorModel struct {
	line      *Line
	palette   terminal.Palette
	width     int
	enter     func(text string)
	interrupt func(number int)

	number      int            // of the last line that was entered
	busy        bool           // a line is being processed
	interrupted bool           // the line is to be stopped
	next        func() tea.Cmd // what to do afterwards: enter the line typed meanwhile, or leave
	status      string
	frame       int
	gone        bool
}

// Init implements tea.Model.
func (m *editorModel) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *editorModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 {
			m.width = msg.Width
		}
	case tea.PasteMsg:
		m.line.Insert(msg.Content)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case statusMsg:
		m.status = string(msg)
	case doneMsg:
		return m, m.done()
	case tickMsg:
		if m.busy {
			m.frame++

			return m, tick()
		}
	case quitMsg:
		return m, m.leave()
	}

	return m, nil
}

func tick() tea.Cmd { return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tickMsg{} }) }

func (m *editorModel) leave() tea.Cmd {
	m.gone = true // clear the input line

	return tea.Quit
}

func (m *editorModel) press(key tea.KeyPressMsg) tea.Cmd {
	switch name := key.String(); {
	case name == "ctrl+c":
		return m.pressInterrupt()
	case name == "enter":
		return m.whenDone(m.pressEnter)
	case name == "ctrl+d" && m.line.Text() == "":
		return m.whenDone(m.leave)
	default:
		m.next = nil
		m.line.Press(key)
	}

	return nil
}

// whenDone runs do now, or once the current line has been processed.
func (m *editorModel) whenDone(do func() tea.Cmd) tea.Cmd {
	if m.busy {
		m.next = do

		return nil
	}

	return do()
}

func (m *editorModel) done() tea.Cmd {
	next := m.next
	m.busy, m.interrupted, m.status, m.next = false, false, "", nil

	if next == nil {
		return nil
	}

	return next()
}

// pressInterrupt interrupts the line that is being processed, or clears the one that is being typed. Pressed again, it leaves, so that an
// unresponsive server cannot block the user.
func (m *editorModel) pressInterrupt() tea.Cmd {
	switch {
	case m.busy && !m.interrupted:
		m.interrupted = true

		number := m.number

		return func() tea.Msg {
			m.interrupt(number)

			return nil
		}
	case !m.busy && m.line.Text() != "":
		m.line.Clear()

		return nil
	}

	return m.leave()
}

func (m *editorModel) pressEnter() tea.Cmd {
	text := m.line.Take()

	switch text {
	case "":
		return nil
	case exitCommand:
		return m.leave()
	}

	m.busy = true
	m.number++

	echo := m.palette.Wrap([]terminal.Span{{Text: text, Style: terminal.Bold}}, m.width-1, Mark, strings.Repeat(" ", len(Mark)))

	return tea.Sequence(tea.Println(strings.Join(echo, "\n")), func() tea.Msg {
		m.enter(text)

		return tickMsg{}
	})
}

// View implements tea.Model.
func (m *editorModel) View() tea.View {
	if m.gone {
		return tea.NewView("")
	}

	var lines []string

	if m.busy {
		lines = append(lines, m.palette.Paint(terminal.Dim, terminal.Truncate(m.progress(), m.width-1)))
	}

	text, cursor := m.line.View(m.width - len(Mark) - 1)
	view := tea.NewView(strings.Join(append(lines, Mark+text), "\n"))
	view.Cursor = tea.NewCursor(len(Mark)+cursor, len(lines))

	return view
}

func (m *editorModel) progress() string {
	text := Spinner(m.frame) + " "

	switch {
	case m.interrupted:
		return text + "Cancelling the answer… Press Ctrl-C again to leave."
	case m.next != nil:
		return text + "Answering… What you entered follows. Ctrl-C cancels the answer."
	case m.status != "":
		return text + m.status
	default:
		return text + "Answering… Ctrl-C cancels."
	}
}

// Spinner returns the progress indicator of a frame.
func Spinner(frame int) string {
	signs := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

	return string(signs[frame%len(signs)])
}
