package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

func TestQuietHoursAreRead(t *testing.T) {
	t.Parallel()
	written := &config.QuietHours{From: "22:00", To: "07:30", TimeZone: "Europe/Berlin", Days: []string{"sat", "sun"}, Except: []string{"critical", "high"}}
	hours, err := written.Hours()
	require.NoError(t, err)
	require.Equal(t, 22*time.Hour, hours.From)
	require.Equal(t, 7*time.Hour+30*time.Minute, hours.To)
	require.Equal(t, "Europe/Berlin", hours.Location.String())
	require.Equal(t, []time.Weekday{time.Sunday, time.Saturday}, hours.Days)
	require.Equal(t, []tarsy.Severity{tarsy.SeverityCritical, tarsy.SeverityHigh}, hours.Except)

	hours, err = (*config.QuietHours)(nil).Hours()
	require.NoError(t, err)
	require.Nil(t, hours)
}

func TestQuietHoursThatCannotBeAppliedAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, to, zone, want string }{
		{"22:00", "22:00", "UTC", "from and to must differ"},
		{"24:00", "07:00", "UTC", `from must be a time of day such as 22:00, not "24:00"`},
		{"22:00", "7", "UTC", `to must be a time of day such as 22:00, not "7"`},
		{"22:00", "07:00", "Europe/Nowhere", `time_zone must be a time zone such as Europe/Berlin, not "Europe/Nowhere"`},
		{"22:00", "07:00", "Local", `time_zone must be a time zone such as Europe/Berlin, not "Local"`},
		{"22:00", "07:00", "", `time_zone must be a time zone such as Europe/Berlin, not ""`},
	} {
		_, err := (&config.QuietHours{From: tt.from, To: tt.to, TimeZone: tt.zone}).Hours()
		require.EqualError(t, err, tt.want)
	}
}
