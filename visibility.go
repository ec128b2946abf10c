package tarsy

import "slices"

// Visibility is which sessions somebody sees. The zero value sees all of them.
type Visibility struct {
	// Limits it to sessions of Teams and to those without a team.
	Limited bool
	// The teams, if it is limited.
	Teams []string
}

// Includes reports whether a session that belongs to a team is visible.
func (v Visibility) Includes(team string) bool {
	return !v.Limited || team == "" || slices.Contains(v.Teams, team)
}

// Values are the teams of visible sessions, including the empty one; nil means any.
func (v Visibility) Values() []string {
	if !v.Limited {
		return nil
	}

	return append([]string{""}, v.Teams...)
}
