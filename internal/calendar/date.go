// Package calendar provides dates without a time, and times at the precision of the database.
package calendar

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// Date is a day without time and zone, written as YYYY-MM-DD.
type Date struct { //nolint:recvcheck // decoding needs a pointer, everything else a value
	// Midnight UTC.
	day time.Time
}

// ParseDate parses a date in the form YYYY-MM-DD.
func ParseDate(text string) (Date, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1 {
		return Date{}, fmt.Errorf("%q is not a date as YYYY-MM-DD", text)
	}

	return Date{day}, nil
}

// DateOf returns the date of t in its time zone.
func DateOf(t time.Time) Date {
	return Date{time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)}
}

// String returns the date as YYYY-MM-DD.
func (d Date) String() string { return d.day.Format(time.DateOnly) }

// Before reports whether the date is earlier than another.
func (d Date) Before(other Date) bool { return d.day.Before(other.day) }

// MarshalText implements encoding.TextMarshaler.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Date) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDate(string(text))

	return err
}

// Value implements driver.Valuer.
func (d Date) Value() (driver.Value, error) { return d.day, nil }

// Scan implements sql.Scanner.
func (d *Date) Scan(source any) error {
	day, ok := source.(time.Time)
	if !ok {
		return fmt.Errorf("a date in the database is a %T", source)
	}

	*d = DateOf(day)

	return nil
}

// Time converts a time to UTC with microsecond precision, as the database stores it, so that it compares equal before and after
// storing.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
