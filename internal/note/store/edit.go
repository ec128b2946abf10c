package store

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/notebook"
)

// Line returns a person's text as it is stored in a single-line field: clean, masked and with single spaces. If it is longer than limit
// characters, it returns an error about the field.
func Line(field, text string, limit int, mask func(string) string) (string, error) {
	return Body(field, strings.Join(strings.Fields(plaintext.Clean(text)), " "), limit, mask)
}

// Body is Line for multi-line texts.
func Body(field, text string, limit int, mask func(string) string) (string, error) {
	text = strings.TrimSpace(plaintext.Clean(text))
	if n := utf8.RuneCountInString(text); n > limit {
		return "", tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "%s has %d characters; at most %d are allowed", field, n, limit)
	}

	// A mask can be longer than the secret it replaces.
	masked := []rune(mask(text))

	return string(masked[:min(len(masked), limit)]), nil
}

// Name is Line for a field that must not be empty.
func Name(field, text string, limit int, mask func(string) string) (string, error) {
	name, err := Line(field, text, limit, mask)
	if err == nil && name == "" {
		return "", tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "%s must not be empty", field)
	}

	return name, err
}

// EditEntity applies a person's changes to an entity: checked, cleaned and masked. It stores nothing; the caller has locked the entity. The
// project and epic that the input names cannot be deleted until the end of the transaction.
func EditEntity(ctx context.Context, tx *Tx, e notebook.EntityDetail, in notebook.EntityInput, mask func(string) string) (notebook.EntityDetail, error) {
	if err := editTexts(&e, in, mask); err != nil {
		return e, err
	}

	if in.Type != nil {
		if e.Type = *in.Type; !slices.Contains(notebook.EntityTypes(), e.Type) {
			return e, oneOfError("type", notebook.EntityTypes())
		}
	}

	if in.Status != nil {
		if e.Status = *in.Status; !slices.Contains(notebook.EntityStatuses(), e.Status) {
			return e, oneOfError("status", notebook.EntityStatuses())
		}
	}

	if in.DueOn != nil {
		e.DueOn = nil

		if *in.DueOn != "" {
			day, err := calendar.ParseDate(*in.DueOn)
			if err != nil {
				return e, tarsy.FieldErrorf(tarsy.CodeInvalidField, "due_on", "due_on must be a date such as 2026-11-30, or empty")
			}

			e.DueOn = &day
		}
	}

	err := fileEntity(ctx, tx, &e, in)

	return e, err
}

// editTexts sets title, content, owner and tags.
func editTexts(e *notebook.EntityDetail, in notebook.EntityInput, mask func(string) string) (err error) {
	if in.Title != nil {
		if e.Title, err = Name("title", *in.Title, MaxTitle, mask); err != nil {
			return err
		}
	}

	if in.Content != nil {
		if e.Content, err = Body("content", *in.Content, MaxContent, mask); err != nil {
			return err
		}
	}

	if in.Owner != nil {
		if e.Owner, err = Line("owner", *in.Owner, MaxOwner, mask); err != nil {
			return err
		}
	}

	if in.Tags != nil {
		tags := make([]string, len(*in.Tags))
		for i, tag := range *in.Tags {
			tags[i] = mask(tag)
		}

		e.Tags, err = CleanTags(tags)
	}

	return err
}

// fileEntity sets the project and epic. An epic alone also sets its project.
func fileEntity(ctx context.Context, tx *Tx, e *notebook.EntityDetail, in notebook.EntityInput) error {
	if in.ProjectID != nil {
		project, err := lockReference(ctx, tx, "projects", "project_id", *in.ProjectID, NoProject)
		if err != nil {
			return err
		}

		if IDText(project) != IDText(e.ProjectID) {
			e.ProjectID, e.EpicID = project, nil
		}
	}

	if in.EpicID == nil {
		return nil
	}

	epic, err := lockReference(ctx, tx, "epics", "epic_id", *in.EpicID, NoEpic)
	if err != nil || epic == nil {
		e.EpicID = nil

		return err
	}

	var project string

	if err := tx.QueryRow(ctx, `SELECT project_id FROM epics WHERE id = $1`, *epic).Scan(&project); err != nil {
		return err
	}

	if in.ProjectID != nil && project != *in.ProjectID {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "epic_id", "epic_id names an epic of another project")
	}

	e.ProjectID, e.EpicID = &project, epic

	return nil
}

// lockReference checks that a row exists and prevents its deletion until the end of the transaction. An empty ID returns nil.
func lockReference(ctx context.Context, tx *Tx, table, field, id string, missing func(string) error) (*string, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // none is what was asked for
	}

	if !ident.Valid(id) {
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "%s must be an id, or empty", field)
	}

	_, err := one[struct{ ID string }](ctx, tx, missing(id), `SELECT id FROM `+table+` WHERE id = $1 FOR KEY SHARE`, id)
	if e, ok := err.(*tarsy.Error); ok { //nolint:errorlint // the error of this call
		e.Field = field
	}

	return &id, err
}

func oneOfError[S ~string](field string, values []S) error {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = string(value)
	}

	return tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "%s must be one of %s", field, strings.Join(names, ", "))
}
