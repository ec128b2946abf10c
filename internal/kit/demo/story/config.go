package story

import (
	_ "embed" // For config.yaml.
	"strconv"
	"strings"
)

//go:embed config.yaml
var config string

// Config returns the demo's configuration. command and arguments start the cluster's MCP server on stdio.
func Config(command string, arguments ...string) []byte {
	quoted := make([]string, len(arguments))
	for i, argument := range arguments {
		quoted[i] = strconv.Quote(argument)
	}

	// YAML reads Go's quoted strings as the same text.
	replacer := strings.NewReplacer(
		"CLUSTER_COMMAND", strconv.Quote(command),
		"CLUSTER_ARGUMENTS", "["+strings.Join(quoted, ", ")+"]",
	)

	return []byte(replacer.Replace(config))
}
