package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/flowtest"
)

func TestConsoleEchoesEachLine(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, configure, flowtest.WithConsole()).Start()

	host.Console().Send("Hello, world!")
	require.Equal(t, "[bot]: Hello, world!", host.Console().WaitLine())

	host.Console().Send("")
	host.Console().AssertQuiet()

	host.AssertOrdered("console",
		flowtest.Expect("what was typed", func(l console.Line) bool { return l.Sender == "user" && l.Text == "Hello, world!" }),
		flowtest.Expect("the answer", func(m console.Message) bool { return m.Sender == "bot" }),
	)
}

func TestConsoleEchoDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	flowtest.Golden(t, "flow.mmd", []byte(flowtest.New(t, configure, flowtest.WithConsole()).Flow().Mermaid()))
}
