package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// buildTime is the CPU time that the go command spent building.
type buildTime struct{ compile, link time.Duration }

// readBuildTime reads the action graph that go writes with -debug-actiongraph. It contains the exact times of the programs that go started,
// on every system. The flag is undocumented, so without the file there are no times.
func readBuildTime(file string) (buildTime, bool) {
	var (
		b       buildTime
		actions []struct {
			Mode    string        `json:"Mode"`
			CmdUser time.Duration `json:"CmdUser"`
			CmdSys  time.Duration `json:"CmdSys"`
		}
	)

	raw, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(raw, &actions) != nil {
		return b, false
	}

	for _, a := range actions {
		switch a.Mode {
		case "build", "vet":
			b.compile += a.CmdUser + a.CmdSys
		case "link":
			b.link += a.CmdUser + a.CmdSys
		}
	}

	return b, true
}

func (b buildTime) String() string {
	return fmt.Sprintf("%.0f s of CPU time to compile and %.0f s to link", b.compile.Seconds(), b.link.Seconds())
}
