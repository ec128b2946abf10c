package postgres

import "tarsy.dev/tarsy"

// factColumns are the columns of tarsy.AlertFacts.
var factColumns = ColumnsOf[tarsy.AlertFacts]()

// alertStateSQL reads the alert state of session s; null if the alert has no identity.
const alertStateSQL = `
SELECT jsonb_build_object('firing', a.firing, 'occurrences', a.occurrences, 'last_at', a.last_at, 'times', to_jsonb(a.times),
    'resolved_at', a.resolved_at, 'flapping', a.flapping, 'storm', a.storm, 'members', a.members, 'firing_members', a.firing_members,
    'earlier_session_id', a.earlier_session_id)
FROM session_alerts a WHERE a.session_id = s.id`

type alertStateRow struct {
	Alert *tarsy.AlertState `json:"alert"`
}
