package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/release"
)

// build describes how the program was built.
type build struct {
	// Version is that of the release, which later commits share until the next one; Commit distinguishes them.
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"commit_time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildVersion() build {
	b := build{Version: release.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}

	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}

	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.time":
			b.Time = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}

	return b
}

func userAgent() string { return "tarsy-cli/" + buildVersion().Version }

func versionCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", GroupID: groupHelp, Args: namedArgs,
		Example: "  tarsy version\n  tarsy version -o json",
	}
	format := outputFlag(cmd)

	cmd.RunE = func(*cobra.Command, []string) error {
		b := buildVersion()
		if format.value == formatJSON {
			return t.printJSON(b)
		}

		parts := []string{"tarsy " + b.Version}

		if b.Commit != "" {
			commit := "commit " + b.Commit[:min(len(b.Commit), 12)]
			if b.Modified {
				commit += " (modified)"
			}

			parts = append(parts, commit)
		}

		return t.printf("%s\n", strings.Join(append(parts, b.Go, b.Platform), ", "))
	}

	return cmd
}
