package postgres

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
)

// The session-owned tables. Their columns are the fields of the structs that hold their rows, so a column that a newer
// release has added is neither read nor written. What follows the name are the columns that a step may change in a row
// that exists already; a table without any takes new rows only.
var (
	sessionsTable = newTable[tarsy.Session]("sessions", "status", "current_stage_index", "current_stage_id", "final_analysis",
		"executive_summary", "executive_summary_error", "outcome", "cause", "verdict_error", "error_code", "error_message", "concluded_early", "runbook",
		"started_at", "completed_at", "last_interaction_at")
	stagesTable     = newTable[tarsy.Stage]("stages", "status", "error_message", "started_at", "completed_at")
	executionsTable = newTable[tarsy.Execution]("executions", "status", "error_code", "error_message", "llm_provider",
		"forced_conclusion", "shortened_through", "started_at", "completed_at")
	timelineTable        = newTable[tarsy.TimelineEvent]("timeline_events", "status", "content", "metadata", "updated_at", "completed_at")
	messagesTable        = newTable[tarsy.Message]("messages", "content")
	llmInteractionsTable = newTable[tarsy.LLMInteraction]("llm_interactions")
	mcpInteractionsTable = newTable[tarsy.MCPInteraction]("mcp_interactions", "tool_result", "summary", "is_error", "attempt",
		"status", "duration_ms", "error_message", "completed_at").
		elsewhere("approval", `(SELECT a.approval FROM approvals a WHERE a.id = mcp_interactions.id)`)
	approvalsTable    = newTable[approvalRow]("approvals", "approval")
	chatsTable        = newTable[tarsy.Chat]("chats", "last_interaction_at")
	chatMessagesTable = newTable[tarsy.ChatUserMessage]("chat_user_messages")
	verdictsTable     = newTable[tarsy.Verdict]("verdicts")
	requestsTable     = newTable[tarsy.Request]("requests")
)

// table is a table whose rows are of type R.
type table[R any] struct {
	name string
	// columns are those that this program knows.
	columns columns
	// changes are the columns that a step may change.
	changes columns
	// fields are where a struct has the values of its columns.
	fields map[string][]int
	// put is the statement that puts rows, from JSON.
	put string
	// expressions are what columns of other tables are read by.
	expressions map[string]string
}

func newTable[R any](name string, changes ...string) table[R] {
	t := table[R]{name: name, columns: columnsOf[R](), changes: changes, fields: map[string][]int{}}

	for _, f := range namedFields[R]() {
		t.fields[f.name] = f.index
	}

	for _, c := range changes {
		if !slices.Contains(t.columns, c) {
			panic(fmt.Sprintf("postgres: rows of %s have no column %s", name, c))
		}
	}

	t.put = putSQL(t.name, t.columns, t.changes)

	return t
}

// elsewhere makes a column one of another table, which an expression reads. It is not put with the row.
func (t table[R]) elsewhere(column, expression string) table[R] {
	stored := slices.DeleteFunc(slices.Clone(t.columns), func(c string) bool { return c == column })
	t.put = putSQL(t.name, stored, t.changes)
	t.expressions = map[string]string{column: expression}

	return t
}

// copy adds some columns of a row by name.
func (t table[R]) copy(to map[string]any, row R, names columns) {
	fields := reflect.ValueOf(row)
	for _, name := range names {
		to[name] = fields.FieldByIndex(t.fields[name]).Interface()
	}
}

// selectWhere reads whole rows.
func (t table[R]) selectWhere(rest string) string {
	return "SELECT " + t.columns.with(t.expressions) + " FROM " + t.name + " WHERE " + rest
}

// ColumnList returns the columns that the fields of a struct are read from, as a statement lists them, those of another name for the
// table if it has one.
func ColumnList[R any](table string) string {
	if table == "" {
		return columnsOf[R]().list()
	}

	return columnsOf[R]().of(table)
}

// columns are names of columns.
type columns []string

// columnsOf returns the columns that the fields of a struct are read from and written to: their names in JSON, those of
// embedded structs included.
func columnsOf[R any]() columns {
	var names columns
	for _, f := range namedFields[R]() {
		names = append(names, f.name)
	}

	return names
}

type namedField struct {
	name  string
	index []int
}

func namedFields[R any]() []namedField {
	var fields []namedField

	for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")

		switch {
		case field.Anonymous && name == "":
			// Its fields come by themselves.
		case name == "" || name == "-":
			panic(fmt.Sprintf("postgres: field %s of %s has no name", field.Name, reflect.TypeFor[R]()))
		default:
			fields = append(fields, namedField{name: name, index: field.Index})
		}
	}

	return fields
}

// list is how a statement names the columns.
func (c columns) list() string { return strings.Join(c, ", ") }

// of names the columns of a table that a statement calls by another name.
func (c columns) of(table string) string { return table + "." + strings.Join(c, ", "+table+".") }

// either lists the columns of one table where a condition holds, and of another where it does not.
func (c columns) either(condition, then, otherwise string) string {
	items := make([]string, len(c))
	for i, name := range c {
		items[i] = "CASE WHEN " + condition + " THEN " + then + "." + name + " ELSE " + otherwise + "." + name + " END"
	}

	return strings.Join(items, ", ")
}

// with lists the columns, some of them replaced by an expression.
func (c columns) with(expressions map[string]string) string {
	items := slices.Clone(c)

	for i, name := range c {
		if expression, ok := expressions[name]; ok {
			items[i] = expression + " AS " + name
		}
	}

	return strings.Join(items, ", ")
}
