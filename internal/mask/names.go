package mask

import (
	"fmt"
	"maps"
	"slices"

	"tarsy.dev/tarsy/internal/nearest"
)

// kubernetesSecret is the masker that reads the structure of manifests.
const kubernetesSecret = "kubernetes_secret"

// gitleaksGroup is the group of the gitleaks rules, which have no names of their own here.
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

// patterns are all patterns, without the masker of manifests.
var patterns = []string{
	apiKey, password, certificate, authority, token, email, sshKey, base64Secret, base64Short, privateKey, secretKey, awsAccessKey,
	awsSecretKey, githubToken, slackToken,
}

// credentials are the patterns for what opens a door. Mail addresses are no secrets, and short base64 is too often
// something else; so both are only in the group all.
var credentials = []string{
	apiKey, password, token, secretKey, privateKey, sshKey, awsAccessKey, awsSecretKey, githubToken, slackToken, base64Secret,
}

// groups are names for several patterns.
var groups = map[string][]string{
	"basic":       {apiKey, password},
	"secrets":     credentials,
	"security":    slices.Concat(credentials, []string{certificate, authority}),
	"kubernetes":  {kubernetesSecret, apiKey, password, token, secretKey, privateKey, sshKey, certificate, authority, base64Secret},
	"cloud":       {apiKey, token, secretKey, privateKey, awsAccessKey, awsSecretKey, githubToken, slackToken},
	"all":         slices.Concat(patterns, []string{kubernetesSecret}),
	gitleaksGroup: {gitleaksGroup},
}

// names is a set of patterns, and of the group gitleaks.
type names map[string]bool

// add adds what rules ask for.
func (n names) add(rules Rules) error {
	for _, group := range rules.Groups {
		members, ok := groups[group]
		if !ok {
			return fmt.Errorf("unknown masking group %q: %s", group, nearest.Hint(group, slices.Sorted(maps.Keys(groups)), "groups"))
		}

		for _, member := range members {
			n[member] = true
		}
	}

	known := slices.Concat(patterns, []string{kubernetesSecret})
	for _, pattern := range rules.Patterns {
		if !slices.Contains(known, pattern) {
			return fmt.Errorf("unknown masking pattern %q: %s", pattern, nearest.Hint(pattern, known, "patterns"))
		}

		n[pattern] = true
	}

	return nil
}
