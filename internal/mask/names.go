package mask

import (
	"fmt"
	"slices"

	"tarsy.dev/tarsy/internal/nearest"
)

// kubernetesSecret is the masker that parses manifests.
const kubernetesSecret = "kubernetes_secret"

// gitleaksGroup is the group of the gitleaks rules, which are not named individually here.
const gitleaksGroup = "gitleaks"

// Names of the patterns.
const (
	apiKey       = "api_key"
	password     = "password"
	certificate  = "certificate"
	authority    = "certificate_authority_data"
	token        = "token"
	email        = "email"
	sshKey       = "ssh_key"
	base64Secret = "base64_secret"
	base64Short  = "base64_short"
	privateKey   = "private_key"
	secretKey    = "secret_key"
	awsAccessKey = "aws_access_key"
	awsSecretKey = "aws_secret_key"
	githubToken  = "github_token"
	slackToken   = "slack_token"
)

// patterns are all patterns, except for the masker of manifests.
var patterns = []string{
	apiKey, password, certificate, authority, token, email, sshKey, base64Secret, base64Short, privateKey, secretKey, awsAccessKey,
	awsSecretKey, githubToken, slackToken,
}

// credentials are the patterns for what grants access. Email addresses are not secrets, and short base64 is too often something else;
// so both are only in the group all.
var credentials = []string{
	apiKey, password, token, secretKey, privateKey, sshKey, awsAccessKey, awsSecretKey, githubToken, slackToken, base64Secret,
}

// group is a name for several patterns.
type group struct {
	name    string
	members []string
}

// groups are all groups, in the order of the documentation.
var groups = []group{
	{"basic", []string{apiKey, password}},
	{"secrets", credentials},
	{"security", slices.Concat(credentials, []string{certificate, authority})},
	{"kubernetes", []string{kubernetesSecret, apiKey, password, token, secretKey, privateKey, sshKey, certificate, authority, base64Secret}},
	{"cloud", []string{apiKey, token, secretKey, privateKey, awsAccessKey, awsSecretKey, githubToken, slackToken}},
	{"all", Patterns()},
	{gitleaksGroup, []string{gitleaksGroup}},
}

// Patterns returns the names of all patterns that a configuration can use.
func Patterns() []string { return append(slices.Clone(patterns), kubernetesSecret) }

// Groups returns the names of all groups of patterns that a configuration can use.
func Groups() []string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = g.name
	}

	return all
}

// names is a set of patterns, and of the group gitleaks.
type names map[string]bool

// add adds the names that rules select.
func (n names) add(rules Rules) error {
	for _, wanted := range rules.Groups {
		at := slices.IndexFunc(groups, func(g group) bool { return g.name == wanted })
		if at < 0 {
			return fmt.Errorf("unknown masking group %q: %s", wanted, nearest.Hint(wanted, Groups(), "groups"))
		}

		for _, member := range groups[at].members {
			n[member] = true
		}
	}

	known := Patterns()
	for _, pattern := range rules.Patterns {
		if !slices.Contains(known, pattern) {
			return fmt.Errorf("unknown masking pattern %q: %s", pattern, nearest.Hint(pattern, known, "patterns"))
		}

		n[pattern] = true
	}

	return nil
}
