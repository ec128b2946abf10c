package mock

import (
	"fmt"
	"strings"
)

// Verdict is what did not go as planned in a lane: replies that were not requested, and requests that were not expected.
type Verdict struct {
	Lane       string   `json:"lane"`
	Unused     []string `json:"unused,omitempty"`
	Unexpected []string `json:"unexpected,omitempty"`
}

// Verify returns a verdict for every lane. What belongs to no lane, such as MCP servers and requests that were refused one,
// is part of lane "", and so is a server without any requests.
func (s *Server) Verify() []Verdict {
	names := s.lanes.names()
	if len(names) == 0 {
		names = []string{""}
	}

	verdicts := make([]Verdict, 0, len(names))
	for _, name := range names {
		verdicts = append(verdicts, s.VerifyLane(name))
	}

	if names[0] == "" {
		return verdicts
	}

	if v := s.verifyRest(Verdict{}); len(v.Unused)+len(v.Unexpected) > 0 {
		verdicts = append(verdicts, v)
	}

	return verdicts
}

// verifyRest adds what belongs to no lane.
func (s *Server) verifyRest(v Verdict) Verdict {
	v.Unexpected = append(v.Unexpected, s.unassigned.unexpectedNow()...)

	if servers := s.mcp.Load(); servers != nil {
		v.Unused = append(v.Unused, servers.Unused()...)
		v.Unexpected = append(v.Unexpected, servers.Unexpected()...)
	}

	for _, now := range []*guilds{s.discord.Load(), s.slack.Load()} {
		if now != nil {
			v.Unused = append(v.Unused, now.Unused()...)
			v.Unexpected = append(v.Unexpected, now.Unexpected()...)
		}
	}

	return v
}

// VerifyLane returns the verdict for one lane. For a lane that was never used, everything is unused.
func (s *Server) VerifyLane(name string) Verdict {
	lane := s.lanes.find(name)
	if lane == nil {
		lane = s.newLane(name)
	}

	v := Verdict{Lane: name, Unused: lane.unusedNow(), Unexpected: lane.unexpectedNow()}
	if name == "" {
		v = s.verifyRest(v)
	}

	return v
}

// Summary lists what did not go as planned, one item per line, or returns "" if there is nothing.
func Summary(verdicts []Verdict) string {
	var lines []string

	for _, v := range verdicts {
		in := ""
		if v.Lane != "" {
			in = fmt.Sprintf("lane %s: ", v.Lane)
		}

		for _, text := range v.Unexpected {
			lines = append(lines, in+"unexpected: "+text)
		}

		for _, text := range v.Unused {
			lines = append(lines, in+"unused: "+text)
		}
	}

	return strings.Join(lines, "\n")
}
