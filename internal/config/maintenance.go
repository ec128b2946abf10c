package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for systems without time zone data, such as a minimal image
)

// MaintenanceTimes is when a maintenance window is active: once, from Start to End, or every week.
type MaintenanceTimes struct {
	Start, End time.Time

	// Days on which a weekly window begins. From and To are relative to midnight in Zone.
	Days     []time.Weekday
	From, To time.Duration
	Zone     *time.Location
}

var (
	errMaintenanceTimes = errors.New("set start and end, or days with from and to")
	errMaintenanceEnd   = errors.New("end must be after start")
)

// Times parses when the window is active.
func (m Maintenance) Times() (MaintenanceTimes, error) {
	once, weekly := m.Start != "" || m.End != "", len(m.Days) > 0 || m.From != "" || m.To != ""
	if once == weekly {
		return MaintenanceTimes{}, errMaintenanceTimes
	}
	if once {
		return m.once()
	}
	return m.weekly()
}

func (m Maintenance) once() (MaintenanceTimes, error) {
	var (
		t   MaintenanceTimes
		err error
	)
	if t.Start, err = time.Parse(time.RFC3339, m.Start); err != nil {
		return t, fmt.Errorf("start must be a time such as 2026-11-15T22:00:00Z, not %q", m.Start)
	}
	if t.End, err = time.Parse(time.RFC3339, m.End); err != nil {
		return t, fmt.Errorf("end must be a time such as 2026-11-15T23:30:00Z, not %q", m.End)
	}
	if !t.End.After(t.Start) {
		return t, errMaintenanceEnd
	}
	return t, nil
}

func (m Maintenance) weekly() (MaintenanceTimes, error) {
	var (
		t   MaintenanceTimes
		err error
	)
	if len(m.Days) == 0 {
		return t, errMaintenanceTimes
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if slices.Contains(m.Days, strings.ToLower(day.String())) {
			t.Days = append(t.Days, day)
		}
	}
	if t.From, err = sinceMidnight("from", m.From); err != nil {
		return t, err
	}
	if t.To, err = sinceMidnight("to", m.To); err != nil {
		return t, err
	}
	if t.Zone, err = time.LoadLocation(m.Zone); err != nil {
		return t, fmt.Errorf("zone must be a time zone such as Europe/Berlin, not %q", m.Zone)
	}
	return t, nil
}

// sinceMidnight parses a time of day.
func sinceMidnight(key, text string) (time.Duration, error) {
	at, err := time.Parse("15:04", text)
	if err != nil {
		return 0, fmt.Errorf("%s must be a time of day such as 22:00, not %q", key, text)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

// checkMaintenance finds windows that are never active or whose times are invalid.
func (c *Config) checkMaintenance() []Problem {
	var problems []Problem
	for i, m := range c.Alerts.Maintenance {
		if _, err := m.Times(); err != nil {
			problems = append(problems, c.problem(fmt.Sprintf("alerts.maintenance[%d]", i), err.Error(), ""))
		}
	}
	return problems
}
