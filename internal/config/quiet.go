package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/quiet"
)

// QuietHours is the key quiet_hours of the channels that send messages to people.
type QuietHours struct {
	From     string   `yaml:"from" doc:"Start, such as 22:00." required:"true"`
	To       string   `yaml:"to" doc:"End, such as 07:00. If it is not after from, it is on the next day." required:"true"`
	TimeZone string   `yaml:"time_zone" doc:"Time zone of from and to, such as Europe/Berlin." default:"UTC"`
	Days     []string `yaml:"days" doc:"Days on which quiet hours start; the default is every day." enum:"mon,tue,wed,thu,fri,sat,sun"`
	Except   []string `yaml:"except" doc:"Severities of alerts whose messages are sent immediately." enum:"critical,high,warning,info" default:"critical"`
}

var errQuietHours = errors.New("from and to must differ")

// Hours returns the parsed quiet hours; nil if q is nil, which is never quiet.
func (q *QuietHours) Hours() (*quiet.Hours, error) {
	if q == nil {
		return nil, nil //nolint:nilnil // nil hours are never quiet
	}
	var (
		h   quiet.Hours
		err error
	)
	if h.From, err = sinceMidnight("from", q.From); err != nil {
		return nil, err
	}
	if h.To, err = sinceMidnight("to", q.To); err != nil {
		return nil, err
	}
	if h.From == h.To {
		return nil, errQuietHours
	}
	// An empty name and "Local" are accepted by LoadLocation but are not real zone names.
	if h.Location, err = time.LoadLocation(q.TimeZone); err != nil || q.TimeZone == "" || q.TimeZone == "Local" {
		return nil, fmt.Errorf("time_zone must be a time zone such as Europe/Berlin, not %q", q.TimeZone)
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if slices.Contains(q.Days, strings.ToLower(day.String()[:3])) {
			h.Days = append(h.Days, day)
		}
	}
	for _, severity := range q.Except {
		h.Except = append(h.Except, tarsy.Severity(severity))
	}
	return &h, nil
}

// Templates parses the templates of chat messages by event.
func Templates(written map[string]string) (map[message.Event]*message.Template, error) {
	all := make(map[message.Event]*message.Template)
	for _, event := range slices.Sorted(maps.Keys(written)) {
		template, err := message.Parse(written[event], false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", event, err)
		}
		all[message.Event(event)] = template
	}
	return all, nil
}

// checkTemplates finds templates of chat messages that are invalid or unused.
func (c *Config) checkTemplates(path string, written map[string]string) []Problem {
	var problems []Problem
	events := []string{string(message.Started), string(message.Finished), string(message.Failed), string(message.ApprovalNeeded)}
	for _, event := range slices.Sorted(maps.Keys(written)) {
		if !slices.Contains(events, event) {
			problems = append(problems, c.problem(joinPath(path, event), "unknown event", nearest.HintWithList(event, events, "events")))
		} else if _, err := message.Parse(written[event], false); err != nil {
			problems = append(problems, c.problem(joinPath(path, event), err.Error(), "see docs/notifications.md"))
		}
	}
	return problems
}

// checkQuietHours finds invalid quiet hours. path is that of the key quiet_hours.
func (c *Config) checkQuietHours(path string, q *QuietHours) []Problem {
	if _, err := q.Hours(); err != nil {
		return []Problem{c.problem(path, err.Error(), "")}
	}
	return nil
}
