package message

import (
	"reflect"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Headline describes the event in a few words.
func (m *Message) Headline() string {
	switch {
	case m.Event == Started:
		return "Investigating"
	case m.Event == ApprovalNeeded:
		return "Approval needed"
	case m.OutcomeText != "":
		return m.OutcomeText
	default:
		return "Investigation " + strings.ReplaceAll(string(m.Status), "_", " ")
	}
}

// Facts returns the facts about the alert apart from its title.
func (m *Message) Facts() []string {
	place := tarsy.AlertFacts{Service: m.Service, Namespace: m.Namespace}.Place()

	var all []string

	for _, fact := range []string{string(m.Severity), place, m.Cluster, m.Team} {
		if fact != "" {
			all = append(all, fact)
		}
	}

	return all
}

// Line is a line of a conclusion: its name, its text, and how reliable or risky it is.
type Line struct{ Name, Text, Caution string }

// Conclusion returns the cause and the first next step of a verdict. Texts are truncated to one line.
func (m *Message) Conclusion() []Line {
	var lines []Line

	add := func(name, text, caution string) {
		if text = strings.Join(strings.Fields(text), " "); text == "" {
			return
		}

		cut := plaintext.Cut(text, tarsy.MaxVerdictLine)
		if len(cut) < len(text) {
			cut += "…"
		}

		lines = append(lines, Line{Name: name, Text: cut, Caution: caution})
	}

	add("Cause", m.Cause, string(m.Confidence)+" confidence")

	if len(m.NextSteps) > 0 {
		step := tarsy.NextStep{Risk: m.NextSteps[0].Risk, Reversible: m.NextSteps[0].Reversible}
		add("Next step", m.NextSteps[0].Title, step.Caution())
	}

	return lines
}

// Text returns the summary of a completed session, or the error of any other session.
func (m *Message) Text() string {
	switch {
	case m.Event == Started, m.Event == ApprovalNeeded:
		return ""
	case m.Status != tarsy.SessionCompleted:
		return m.Error
	case m.Summary != "":
		return m.Summary
	default:
		return m.Analysis
	}
}

// LinkTitle returns the title of the link to the session.
func (m *Message) LinkTitle() string {
	if m.Event == ApprovalNeeded {
		return "Decide in TARSy"
	}

	return "Open in TARSy"
}

// WithTexts returns a copy of a message with all of its texts changed, for templates of channels with markup.
func WithTexts(m Message, change func(string) string) Message {
	changeTexts(reflect.ValueOf(&m).Elem(), change)

	return m
}

func changeTexts(v reflect.Value, change func(string) string) {
	switch v.Kind() { //nolint:exhaustive // messages have no others
	case reflect.String:
		v.SetString(change(v.String()))
	case reflect.Struct:
		for _, field := range v.Fields() {
			changeTexts(field, change)
		}
	case reflect.Slice:
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(fresh, v)
		v.Set(fresh)

		for i := range v.Len() {
			changeTexts(v.Index(i), change)
		}
	case reflect.Map:
		fresh := reflect.MakeMap(v.Type())

		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			changeTexts(value, change)
			fresh.SetMapIndex(key, value)
		}

		v.Set(fresh)
	}
}

// Inert makes a model's Markdown text safe to show: links show their target, no image is loaded, and invisible characters
// become visible.
func Inert(text string) string {
	return strings.ReplaceAll(string(plaintext.EscapeInvisible([]byte(plaintext.Clean(text)))), "](", "] (")
}

// Asks describes the request of an approval in one sentence.
func (a Approval) Asks() string {
	return "The agent " + a.Agent + " wants to call " + a.Server + "." + a.Tool + " (call " + a.Call + "):"
}
