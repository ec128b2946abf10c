package api

import "sync"

// auditAction is what the audit log records of an operation.
type auditAction struct {
	// name is stable: people search for it.
	name string
	// target is the type of what the operation changes. Its id is the parameter of the path, unless the code that makes the change knows another.
	target string
	// onlyDenied tells that requests which succeed are not recorded.
	onlyDenied bool
}

// auditActions are the actions by the pattern of their route: one for every operation that changes something, which a test checks.
// Alerts are recorded only where they were denied: there are many, and each one is a session or a suppressed alert with its author. The
// tools of /mcp make requests of their own, which are recorded as what they are.
var auditActions = sync.OnceValue(func() map[string]auditAction {
	return map[string]auditAction{
		"POST /api/v1/alerts":                      {name: "alert.submit", target: "session", onlyDenied: true},
		"POST " + webhookPath:                      {name: "alert.deliver", target: "webhook", onlyDenied: true},
		"POST " + mcpPath:                          {name: "mcp.call", onlyDenied: true},
		"POST /api/v1/suppressed/{id}/investigate": {name: "suppressed.investigate", target: "suppressed_alert"},
		"POST /api/v1/silences":                    {name: "silence.create", target: "silence"},
		"DELETE /api/v1/silences/{id}":             {name: "silence.end", target: "silence"},

		"POST /api/v1/sessions/{id}/cancel":        {name: "session.cancel", target: "session"},
		"POST /api/v1/sessions/{id}/rerun":         {name: "session.rerun", target: "session"},
		"DELETE /api/v1/sessions/{id}":             {name: "session.delete", target: "session"},
		"POST /api/v1/sessions/{id}/chat/messages": {name: "session.ask", target: "session"},
		"POST /api/v1/approvals/{id}/approve":      {name: "approval.approve", target: "approval"},
		"POST /api/v1/approvals/{id}/reject":       {name: "approval.reject", target: "approval"},
		"PATCH /api/v1/sessions/{id}/handling":     {name: "session.handle", target: "session"},
		"POST /api/v1/sessions/handling":           {name: "session.handle_many", target: "session"},
		"PUT /api/v1/sessions/{id}/feedback":       {name: "feedback.give", target: "session"},
		"DELETE /api/v1/sessions/{id}/feedback":    {name: "feedback.withdraw", target: "session"},

		"POST /api/v1/sessions/cancel":                   {name: "session.cancel_many", target: "session"},
		"POST /api/v1/sessions/{id}/shares":              {name: "share.create", target: "session"},
		"DELETE /api/v1/sessions/{id}/shares/{share_id}": {name: "share.revoke", target: "session"},
		"PUT /api/v1/system/pauses/{kind}":               {name: "pause.set", target: "pause"},
		"DELETE /api/v1/system/pauses/{kind}":            {name: "pause.end", target: "pause"},

		"POST /api/v1/notes":                {name: "note.create", target: "note"},
		"POST /api/v1/notes/reprocess":      {name: "note.reprocess_all", target: "note"},
		"POST /api/v1/notes/{id}/reprocess": {name: "note.reprocess", target: "note"},
		"POST /api/v1/review/{id}/resolve":  {name: "review.resolve", target: "review_item"},
		"POST /api/v1/review/{id}/undo":     {name: "review.undo", target: "review_item"},
		"POST /api/v1/review/bulk":          {name: "review.resolve_many", target: "review_item"},

		"POST /api/v1/entities":            {name: "entity.create", target: "entity"},
		"PATCH /api/v1/entities/{id}":      {name: "entity.update", target: "entity"},
		"DELETE /api/v1/entities/{id}":     {name: "entity.delete", target: "entity"},
		"POST /api/v1/entities/{id}/move":  {name: "entity.move", target: "entity"},
		"POST /api/v1/projects":            {name: "project.create", target: "project"},
		"PATCH /api/v1/projects/{id}":      {name: "project.update", target: "project"},
		"DELETE /api/v1/projects/{id}":     {name: "project.delete", target: "project"},
		"POST /api/v1/projects/{id}/epics": {name: "epic.create", target: "epic"},
		"PATCH /api/v1/epics/{id}":         {name: "epic.update", target: "epic"},
		"DELETE /api/v1/epics/{id}":        {name: "epic.delete", target: "epic"},
		"POST /api/v1/tags":                {name: "tag.create", target: "tag"},
		"PATCH /api/v1/tags/{name}":        {name: "tag.rename", target: "tag"},
		"DELETE /api/v1/tags/{name}":       {name: "tag.delete", target: "tag"},

		"POST /api/v1/jobs/{id}/retry":      {name: "job.retry", target: "job"},
		"POST /api/v1/queues/{name}/pause":  {name: "queue.pause", target: "queue"},
		"POST /api/v1/queues/{name}/resume": {name: "queue.resume", target: "queue"},
		"POST /api/v1/system/config/reload": {name: "config.reload", target: "server"},
		"PUT /api/v1/system/log-level":      {name: "log_level.set", target: "server"},
		"POST /api/v1/keys":                 {name: "key.create", target: "key"},
		"DELETE /api/v1/keys/{id}":          {name: "key.revoke", target: "key"},
		"POST " + loginPath:                 {name: "browser.login", target: "key"},
		"GET " + oidcCallbackPath:           {name: "user.login", target: userTarget},
		"POST /api/v1/logout":               {name: "browser.logout", target: "key"},
	}
})
