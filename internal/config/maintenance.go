package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones are known also where the system has none, such as in a minimal image
)

// MaintenanceTimes is when a maintenance window holds: once, or every week.
type MaintenanceTimes struct {
	start, end time.Time

	days []time.Weekday
	// from and to are hours and minutes of the day; to is on the next day unless it is after from.
	from, to time.Time
	zone     *time.Location
}

var (
	errMaintenanceTimes = errors.New("set start and end, or days with from and to")
	errMaintenanceEnd   = errors.New("end must be after start")
)

// Times reads when the window holds.
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
	if t.start, err = time.Parse(time.RFC3339, m.Start); err != nil {
		return t, fmt.Errorf("start must be a time such as 2026-11-15T22:00:00Z, not %q", m.Start)
	}
	if t.end, err = time.Parse(time.RFC3339, m.End); err != nil {
		return t, fmt.Errorf("end must be a time such as 2026-11-15T23:30:00Z, not %q", m.End)
	}
	if !t.end.After(t.start) {
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
			t.days = append(t.days, day)
		}
	}
	if t.from, err = time.Parse("15:04", m.From); err != nil {
		return t, fmt.Errorf("from must be a time of day such as 22:00, not %q", m.From)
	}
	if t.to, err = time.Parse("15:04", m.To); err != nil {
		return t, fmt.Errorf("to must be a time of day such as 23:30, not %q", m.To)
	}
	if t.zone, err = time.LoadLocation(m.Zone); err != nil {
		return t, fmt.Errorf("zone must be a time zone such as Europe/Berlin, not %q", m.Zone)
	}
	return t, nil
}

// Covers reports whether the window holds at a time. A weekly window follows the clock of its zone, also when that is changed.
func (t MaintenanceTimes) Covers(at time.Time) bool {
	if t.zone == nil {
		return !at.Before(t.start) && at.Before(t.end)
	}
	local := at.In(t.zone)
	// A window that began yesterday may reach into today.
	for _, offset := range []int{-1, 0} {
		day := time.Date(local.Year(), local.Month(), local.Day()+offset, 0, 0, 0, 0, t.zone)
		next := 0
		if !t.to.After(t.from) {
			next = 1
		}
		begin := time.Date(day.Year(), day.Month(), day.Day(), t.from.Hour(), t.from.Minute(), 0, 0, t.zone)
		end := time.Date(day.Year(), day.Month(), day.Day()+next, t.to.Hour(), t.to.Minute(), 0, 0, t.zone)
		if slices.Contains(t.days, day.Weekday()) && !at.Before(begin) && at.Before(end) {
			return true
		}
	}
	return false
}

// checkMaintenance finds windows that never hold, or whose times cannot be read.
func (c *Config) checkMaintenance() []Problem {
	var problems []Problem
	for i, m := range c.Alerts.Maintenance {
		if _, err := m.Times(); err != nil {
			problems = append(problems, c.problem(fmt.Sprintf("alerts.maintenance[%d]", i), err.Error(), ""))
		}
	}
	return problems
}
