package terminal

import (
	"fmt"
	"time"
)

const day = 24 * time.Hour

// Duration formats how long something took, for people.
func Duration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
	}
}

// Age formats how long ago something was.
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
}

// Clock formats a running time: 0:07, 12:31, 1:02:03.
func Clock(d time.Duration) string {
	s := int(max(d, 0).Seconds())
	if s < int(time.Hour.Seconds()) {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}

	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
