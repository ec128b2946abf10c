package note

import (
	"context"
	"slices"

	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// Limits on the choices that the model gets.
const (
	maxProjects   = 20
	maxEpics      = 15 // of each project
	maxDuplicates = 5  // of each entity
)

// projectsSQL selects the active projects that share the most words with the entities ($1) in their name, description and open epics.
const projectsSQL = `WHERE p.status = 'active'
	ORDER BY (
		SELECT count(*) FROM (
			SELECT unnest(search_tokens(left(concat_ws(' ', p.name, p.description,
				(SELECT string_agg(e.name || ' ' || e.description, ' ') FROM epics e WHERE e.project_id = p.id AND e.status = 'open')), 32768)))
			INTERSECT SELECT unnest($1::text[])
		) AS shared
	) DESC, p.position, p.id
	LIMIT $2`

// epicsSQL selects the open epics of the projects ($1) that share the most words with the entities ($2).
const epicsSQL = `JOIN (
		SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY (
			SELECT count(*) FROM (SELECT unnest(search_tokens(left(name || ' ' || description, 32768))) INTERSECT SELECT unnest($2::text[])) AS shared
		) DESC, position, id) AS place
		FROM epics WHERE project_id = ANY($1) AND status = 'open'
	) AS ranked ON ranked.id = e.id
	WHERE ranked.place <= $3
	ORDER BY e.project_id, ranked.place`

// organizeInput reads the entities of a note that wait to be organized, the places they can be filed under, and their possible duplicates.
func (p *Processor) organizeInput(ctx context.Context, q store.Querier, noteID string) (infer.OrganizeInput, error) {
	var in infer.OrganizeInput

	entities, err := store.Entities(ctx, q,
		`WHERE e.note_id = $1 AND e.organized_at IS NULL AND e.state IN ('proposed', 'accepted') ORDER BY e.id`, noteID)
	if err != nil || len(entities) == 0 {
		return in, err
	}

	ids := make([]string, len(entities))
	for i, e := range entities {
		ids[i] = e.ID
	}

	words, err := store.Words(ctx, q, ids)
	if err != nil {
		return in, err
	}

	searches := make([]store.Search, len(entities))
	for i, e := range entities {
		searches[i] = store.Search{Entity: e.Entity, Words: words[e.ID]}
	}

	similar, err := store.Similar(ctx, q, p.similarity(), maxDuplicates, searches...)
	if err != nil {
		return in, err
	}

	var all []string

	for i, e := range entities {
		unfiled := infer.Unfiled{Entity: e}
		for _, s := range similar[i] {
			unfiled.Candidates = append(unfiled.Candidates, infer.Candidate{Entity: s.Entity, Score: s.Score})
		}

		in.Entities = append(in.Entities, unfiled)
		all = append(all, words[e.ID]...)
	}

	slices.Sort(all)
	in.Projects, err = projectChoices(ctx, q, slices.Compact(all))

	return in, err
}

func projectChoices(ctx context.Context, q store.Querier, words []string) ([]infer.ProjectChoice, error) {
	projects, err := store.Projects(ctx, q, projectsSQL, words, maxProjects)
	if err != nil || len(projects) == 0 {
		return nil, err
	}

	ids := make([]string, len(projects))
	for i, project := range projects {
		ids[i] = project.ID
	}

	epics, err := store.Epics(ctx, q, epicsSQL, ids, words, maxEpics)
	if err != nil {
		return nil, err
	}

	choices := make([]infer.ProjectChoice, len(projects))
	for i, project := range projects {
		choices[i].Project = project

		for _, epic := range epics {
			if epic.ProjectID == project.ID {
				choices[i].Epics = append(choices[i].Epics, epic)
			}
		}
	}

	return choices, nil
}

// noChoice reports whether there is nothing to ask the model.
func noChoice(in infer.OrganizeInput) bool {
	return len(in.Projects) == 0 && !slices.ContainsFunc(in.Entities, func(u infer.Unfiled) bool { return len(u.Candidates) > 0 })
}

// counts reports whether an entity is proposed or accepted, so that people work with it.
func counts(e notebook.Entity) bool {
	return e.State == notebook.EntityProposed || e.State == notebook.EntityAccepted
}
