package postgres

// The summary's statements.
const (
	UsageCallsSQL = usageCallsSQL
	UsageToolsSQL = usageToolsSQL
)
