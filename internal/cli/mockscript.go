package cli

import (
	"errors"
	"net/http"
	"slices"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/mock/mcpserver"
	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
	"tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/llm/script"
)

// play configures replies from a script.
func (m *mockRun) play(cfg *mock.Config) error {
	file, err := m.load()
	if err != nil {
		return err
	}

	m.file.Store(m.override(file))

	clock := clockwork.NewRealClock()
	cfg.Script = func(string) *script.Script { return m.file.Load().ServerScript(clock) }
	cfg.Models = func() []string { return m.file.Load().Models }
	cfg.Gates = func() []string { return m.file.Load().GateNames() }
	cfg.Lane = m.lane
	cfg.MCP = func() mock.MCP {
		host, err := mcpserver.NewHost(m.file.Load().MCPServers, mcpserver.Options{Clock: clock})
		if err != nil {
			panic("mock: MCP servers of a file that was checked: " + err.Error())
		}

		return host
	}
	cfg.Discord = func() mock.Virtual { return m.virtualDiscord(m.file.Load().Discord) }

	return nil
}

// virtualDiscord returns the Discord of a script, else the default one if the flag is set, else nil.
func (m *mockRun) virtualDiscord(setup *discord.Setup) mock.Virtual {
	if setup == nil && !m.flags.discord {
		return nil
	}

	if setup == nil {
		setup = &discord.Setup{Users: []discord.User{{Name: "alice"}}}
	}

	server, err := discord.New(discord.Config{Setup: *setup, Clock: clockwork.NewRealClock()})
	if err != nil {
		panic("mock: the Discord of a file that was checked: " + err.Error())
	}

	m.discord.Store(server)

	return server
}

// virtualSlack returns a virtual Slack if the flag is set, else nil.
func (m *mockRun) virtualSlack() mock.Virtual {
	if !m.flags.slack {
		return nil
	}

	server, err := slack.New(slack.Config{Setup: slack.Setup{Users: []slack.User{{Name: "alice"}, {Name: "bob"}}}})
	if err != nil {
		panic("mock: the built-in Slack: " + err.Error())
	}

	m.slack.Store(server)

	return server
}

// load reads the script. It prints problems, one per line.
func (m *mockRun) load() (*scriptfile.File, error) {
	if m.flags.script == "" {
		// With Discord or Slack alone, every model call is unexpected.
		return &scriptfile.File{Version: 1}, nil
	}

	file, err := scriptfile.Load(m.flags.script)
	if failed, ok := errors.AsType[*scriptfile.FileError](err); ok {
		m.infof("%s", failed)

		return nil, errShown
	}

	return file, err
}

// lane returns the lane of a request, as the current script isolates them.
func (m *mockRun) lane(r *http.Request) string {
	switch m.file.Load().Isolate {
	case "header":
		return mock.LaneByHeader(r)
	case "key":
		return mock.LaneByKey(r)
	default:
		return ""
	}
}

// override applies the flags to a script.
func (m *mockRun) override(file *scriptfile.File) *scriptfile.File {
	changed := *file
	changed.Profile = m.pace(file.Profile)

	if file.Faults != nil && m.given("seed") {
		faults := *file.Faults
		faults.Seed = m.flags.seed
		changed.Faults = &faults
	}

	paced := func(replies []scriptfile.Reply) []scriptfile.Reply {
		replies = slices.Clone(replies)
		for i := range replies {
			replies[i].Profile = m.pace(replies[i].Profile)
		}

		return replies
	}

	changed.Replies = paced(file.Replies)
	changed.Routes = slices.Clone(file.Routes)

	for i := range changed.Routes {
		changed.Routes[i].Replies = paced(changed.Routes[i].Replies)
	}

	return &changed
}

func (m *mockRun) pace(profile *scriptfile.Profile) *scriptfile.Profile {
	if profile == nil {
		return nil
	}

	changed := *profile
	if m.given("seed") {
		changed.Seed = m.flags.seed
	}

	if m.given("speed") {
		changed.Speed = m.flags.speed
		if changed.Speed == 0 {
			changed.TTFT, changed.TPS = 0, 0
		}
	}

	return &changed
}

// reload switches to a changed script, or prints its problems.
func (m *mockRun) reload(file *scriptfile.File, err error) {
	if err != nil {
		m.infof("Script changed but is invalid; keeping the previous one:\n%s", err)

		return
	}

	before := contents(m.file.Load())
	m.file.Store(m.override(file))
	m.server.Reload()

	if now := contents(file); now != before {
		m.infof("Script changed; restarting it: %s (before: %s).", now, before)
	} else {
		m.infof("Script changed; restarting it: %s.", now)
	}
}
