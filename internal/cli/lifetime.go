package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var errLifetime = errors.New("must be a number of days or hours, such as 90d or 12h")

// lifetime is a flag value for a duration: a Go duration, or whole days. Zero means forever.
type lifetime time.Duration

// Set implements pflag.Value.
func (l *lifetime) Set(text string) error {
	value, err := time.ParseDuration(text)

	if number, ok := strings.CutSuffix(text, "d"); ok {
		var days int64

		const most = 100 * 365

		days, err = strconv.ParseInt(number, 10, 64)
		if days > most {
			err = errLifetime
		}

		value = time.Duration(days) * day
	}

	if err != nil || value <= 0 {
		return errLifetime
	}

	*l = lifetime(value)

	return nil
}

// String implements pflag.Value.
func (l *lifetime) String() string {
	if *l == 0 {
		return ""
	}

	return time.Duration(*l).String()
}

// Type implements pflag.Value.
func (l *lifetime) Type() string { return "duration" }

// from returns when a lifetime that begins now ends; nil means never.
func (l *lifetime) from(now time.Time) *time.Time {
	if *l == 0 {
		return nil
	}

	return new(now.Add(time.Duration(*l)))
}
