package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/notebook"
)

// EntitiesCSV streams entities as CSV. No cell becomes a formula when a spreadsheet opens it.
func EntitiesCSV(w io.Writer, entities iter.Seq2[notebook.EntityExport, error]) error {
	table := csv.NewWriter(w)

	err := table.Write([]string{
		"id", "type", "title", "content", "owner", "due_on", "status", "state", "project", "epic", "tags", "confidence", "created_by", "edited_by",
		"created_at", "updated_at", "note_id", "session_id", "version",
	})
	if err != nil {
		return err
	}

	for e, err := range entities {
		if err != nil {
			return err
		}

		cells := []string{
			e.ID, string(e.Type), e.Title, e.Content, e.Owner, dueOn(e), string(e.Status), string(e.State), e.Project, e.Epic,
			strings.Join(e.Tags, ", "), confidence(e), e.CreatedBy, e.EditedBy, e.CreatedAt.UTC().Format(time.RFC3339), e.UpdatedAt.UTC().Format(time.RFC3339),
			optional(e.NoteID), optional(e.SessionID), strconv.FormatInt(e.Version, 10),
		}
		for i := range cells {
			cells[i] = cell(cells[i])
		}

		if err := table.Write(cells); err != nil {
			return err
		}
	}

	table.Flush()

	return table.Error()
}

// formulaStart are the characters that start a formula, in every width variant that a spreadsheet may accept.
const formulaStart = "=+-@\t\r＝＋－＠﹦﹢﹣﹫−"

// innerFormula matches what would start a formula if a spreadsheet split the cell: some use semicolons or tabs as separators.
var innerFormula = regexp.MustCompile(`([;\t]["'\s]*)([=+\-@＝＋－＠﹦﹢﹣﹫−])`)

// cell makes spreadsheets show a text as text. The leading apostrophe is their own notation for that.
func cell(text string) string {
	text = innerFormula.ReplaceAllString(text, "$1'$2")

	visible := strings.TrimLeftFunc(text, func(r rune) bool {
		return r != '\t' && r != '\r' && (unicode.IsSpace(r) || plaintext.Invisible(r) || r == '"')
	})
	if visible != "" && strings.ContainsRune(formulaStart, []rune(visible)[0]) {
		return "'" + text
	}

	return text
}

// EntitiesMarkdown streams entities as a table in Markdown. Texts of people and models remain text: they add no HTML, links,
// images or table cells.
func EntitiesMarkdown(w io.Writer, entities iter.Seq2[notebook.EntityExport, error]) error {
	_, err := io.WriteString(w, "# Entities\n\n"+
		"| type | title | status | owner | due | project | epic | tags | content |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")

	for e, failed := range entities {
		if failed != nil {
			return failed
		}

		if err == nil {
			_, err = fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", e.Type, plain(e.Title), words(string(e.Status)), plain(e.Owner),
				dueOn(e), plain(e.Project), plain(e.Epic), plain(strings.Join(e.Tags, ", ")), plain(e.Content))
		}

		if err != nil {
			return err
		}
	}

	return err
}

// address matches what Markdown renderers turn into links without brackets: a colon followed by a character, www., and e-mail
// addresses.
var address = regexp.MustCompile(`(?i):\S|www\.|@`)

// plain is inline for text of any length that must not contain links either.
func plain(text string) string {
	return address.ReplaceAllStringFunc(inline(text, len(text)), func(found string) string {
		switch found[0] {
		case ':':
			return "&#58;" + found[1:]
		case '@':
			return "&#64;"
		default:
			return found[:3] + "&#46;"
		}
	})
}

func dueOn(e notebook.EntityExport) string {
	if e.DueOn == nil {
		return ""
	}

	return e.DueOn.String()
}

func confidence(e notebook.EntityExport) string {
	if e.Confidence == nil {
		return ""
	}

	return strconv.FormatFloat(*e.Confidence, 'f', -1, 64)
}

func optional(id *string) string {
	if id == nil {
		return ""
	}

	return *id
}
