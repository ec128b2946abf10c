package story

import (
	_ "embed"

	"github.com/goccy/go-yaml"
)

//go:embed notes.yaml
var notesFile []byte

// Notes are the projects and notes of the demo's team.
type Notes struct {
	Projects []NoteProject `yaml:"projects"`
	// Session is the name of the story that the first note is about.
	Session string `yaml:"session"`
	// Notes are texts to capture, in order: the third repeats a task of the first, the last contains nothing to extract.
	Notes []string `yaml:"notes"`
}

// NoteProject is a project of the demo.
type NoteProject struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Epics       []struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
	} `yaml:"epics"`
}

// LoadNotes returns the demo's notes.
func LoadNotes() Notes {
	var notes Notes
	if err := yaml.UnmarshalWithOptions(notesFile, &notes, yaml.Strict()); err != nil {
		panic("story: notes.yaml: " + err.Error())
	}

	return notes
}
