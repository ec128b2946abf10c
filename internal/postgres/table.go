package postgres

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
)

// The session-owned tables. Their columns are the fields of the structs that hold their rows, so a column added by a newer
// release is neither read nor written. The names after the table are the columns that a step may change in an existing row; a
// table without any takes new rows only.
var (
	sessionsTable = newTable[tarsy.Session]("sessions", "status", "current_stage_index", "current_stage_id", "final_analysis",
		"executive_summary", "executive_summary_error", "outcome", "cause", "verdict_error", "error_code", "error_message", "concluded_early", "runbook",
		"started_at", "completed_at", "last_interaction_at")
	stagesTable     = newTable[tarsy.Stage]("stages", "status", "error_message", "started_at", "completed_at")
	executionsTable = newTable[tarsy.Execution]("executions", "status", "error_code", "error_message", "llm_provider",
		"forced_conclusion", "shortened_through", "started_at", "completed_at")
	TimelineTable        = newTable[tarsy.TimelineEvent]("timeline_events", "status", "content", "metadata", "updated_at", "completed_at")
	messagesTable        = newTable[tarsy.Message]("messages", "content")
	llmInteractionsTable = newTable[tarsy.LLMInteraction]("llm_interactions")
	mcpInteractionsTable = newTable[tarsy.MCPInteraction]("mcp_interactions", "tool_result", "summary", "is_error", "attempt",
		"status", "duration_ms", "error_message", "completed_at").
		external("approval", `(SELECT a.approval FROM approvals a WHERE a.id = mcp_interactions.id)`)
	approvalsTable    = newTable[approvalRow]("approvals", "approval")
	chatsTable        = newTable[tarsy.Chat]("chats", "last_interaction_at")
	chatMessagesTable = newTable[tarsy.ChatUserMessage]("chat_user_messages")
	VerdictsTable     = newTable[tarsy.Verdict]("verdicts")
	requestsTable     = newTable[tarsy.Request]("requests")
)

// table is a table whose rows are of type R.
type table[R any] struct {
	name string
	// columns are those known to this program.
	columns Columns
	// changes are the columns that a step may change.
	changes Columns
	// fields are the indexes of the struct fields, by column.
	fields map[string][]int
	// put is the statement that puts rows from JSON.
	put string
	// expressions read columns of other tables.
	expressions map[string]string
}

func newTable[R any](name string, changes ...string) table[R] {
	t := table[R]{name: name, columns: ColumnsOf[R](), changes: changes, fields: map[string][]int{}}

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

// external declares that a column is stored in another table and read by an expression. It is not put with the row.
func (t table[R]) external(column, expression string) table[R] {
	stored := slices.DeleteFunc(slices.Clone(t.columns), func(c string) bool { return c == column })
	t.put = putSQL(t.name, stored, t.changes)
	t.expressions = map[string]string{column: expression}

	return t
}

// copy adds some columns of a row to a map, by name.
func (t table[R]) copy(to map[string]any, row R, names Columns) {
	fields := reflect.ValueOf(row)
	for _, name := range names {
		to[name] = fields.FieldByIndex(t.fields[name]).Interface()
	}
}

// SelectWhere returns a query for whole rows.
func (t table[R]) SelectWhere(rest string) string {
	return "SELECT " + t.columns.With(t.expressions) + " FROM " + t.name + " WHERE " + rest
}

// Columns are column names.
type Columns []string

// ColumnsOf returns the columns that the fields of a struct are read from and written to: their JSON names, including those of
// embedded structs.
func ColumnsOf[R any]() Columns {
	var names Columns
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
			// Its fields are visited themselves.
		case name == "" || name == "-":
			panic(fmt.Sprintf("postgres: field %s of %s has no name", field.Name, reflect.TypeFor[R]()))
		default:
			fields = append(fields, namedField{name: name, index: field.Index})
		}
	}

	return fields
}

// List returns the columns as a list for a statement.
func (c Columns) List() string { return strings.Join(c, ", ") }

// Of returns the columns as a list, qualified with the name or alias of their table.
func (c Columns) Of(table string) string { return table + "." + strings.Join(c, ", "+table+".") }

// either lists columns of one table if a condition holds, and of another otherwise.
func (c Columns) either(condition, then, otherwise string) string {
	items := make([]string, len(c))
	for i, name := range c {
		items[i] = "CASE WHEN " + condition + " THEN " + then + "." + name + " ELSE " + otherwise + "." + name + " END"
	}

	return strings.Join(items, ", ")
}

// With lists the columns, with some of them replaced by expressions.
func (c Columns) With(expressions map[string]string) string {
	items := slices.Clone(c)

	for i, name := range c {
		if expression, ok := expressions[name]; ok {
			items[i] = expression + " AS " + name
		}
	}

	return strings.Join(items, ", ")
}
