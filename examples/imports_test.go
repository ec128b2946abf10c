package examples_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that uses no model links none of the providers.
func TestProgramsLinkModelsOnlyIfTheyUseThem(t *testing.T) {
	t.Parallel()

	for _, program := range programs() {
		output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+program.name).Output()
		require.NoError(t, err)

		usesModel := strings.Contains(program.name, "agent")
		require.Equal(t, usesModel, strings.Contains(string(output), "tarsy.dev/tarsy/llm/openai\n"), program.name)
	}
}
