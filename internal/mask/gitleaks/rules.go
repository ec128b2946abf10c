// Package gitleaks contains the detection rules of gitleaks as data. Gitleaks itself is not imported: its configuration package would
// bring a configuration framework, a logger and a file system abstraction into the binary.
//
// rules.json is generated from the release named in it. To use another release, change the version in internal/tools/gitleaksrules and
// run go generate here.
package gitleaks

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:generate go run tarsy.dev/tarsy/internal/tools/gitleaksrules -o rules.json

//go:embed rules.json
var data []byte

// File is the content of rules.json.
type File struct {
	// Note describes the origin of the file, for its readers.
	Note string `json:"note"`
	// Version of gitleaks that the rules were taken from, such as v8.30.1.
	Version string `json:"version"`
	// Allowlist applies to every rule.
	Allowlist Allowlist `json:"allowlist"`
	Rules     []Rule    `json:"rules"`
}

// Rule finds one kind of secret.
type Rule struct {
	// ID in kebab case, such as aws-access-token.
	ID string `json:"id"`
	// Keywords in lower case: the expression can only match near one of them. Never empty.
	Keywords []string `json:"keywords"`
	// Regex in RE2 syntax.
	Regex string `json:"regex"`
	// SecretGroup is the number of the group that is the secret; 0 means the first group that matched.
	SecretGroup int `json:"secret_group,omitempty"`
	// Entropy in bits per character that a secret must exceed; 0 means any.
	Entropy    float64     `json:"entropy,omitempty"`
	Allowlists []Allowlist `json:"allowlists,omitempty"`
}

// Allowlist names matches that are not secrets.
type Allowlist struct {
	// All means that both an expression and a stop word must match; otherwise one of them is enough.
	All bool `json:"all,omitempty"`
	// Target is what the expressions are matched against: the secret (empty), the whole "match", or its "line".
	Target string `json:"target,omitempty"`
	// Regexes in RE2 syntax, of which any may match.
	Regexes []string `json:"regexes,omitempty"`
	// StopWords in lower case, of which any may be part of the secret.
	StopWords []string `json:"stop_words,omitempty"`
}

// Load reads the embedded rules.
func Load() (File, error) {
	var file File
	if err := json.Unmarshal(data, &file); err != nil {
		return File{}, fmt.Errorf("read the embedded gitleaks rules: %w", err)
	}

	return file, nil
}
