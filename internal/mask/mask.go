// Package mask hides secrets in text: it replaces them with markers such as [MASKED_TOKEN]. It is a function of its configuration and
// the text, and knows nothing of sessions, MCP or the database.
//
// Masking a text has three steps: configured secret values by exact match, then parsers for structured text (Kubernetes Secrets), then
// the patterns. Patterns run only near their words, which one pass over the text finds; every step takes time linear in the text.
package mask

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Rules configure what to mask in one place.
type Rules struct {
	Enabled bool
	// Groups are names of groups, see Groups.
	Groups []string
	// Patterns are names of single patterns, including the code masker kubernetes_secret.
	Patterns []string
	Custom   []Custom
}

// Config configures a Masker.
type Config struct {
	// Secrets are values that are hidden everywhere, even where rules are disabled. Short values and ordinary words are not: hiding
	// them would garble text.
	Secrets []string
	// Alerts are the rules for text that users wrote.
	Alerts Rules
	// Servers are the rules for tool results, by MCP server id.
	Servers map[string]Rules
	// Default are the rules for tool results of servers without an entry.
	Default Rules
	// Limit is the processor time for one text; 0 means three seconds. Custom patterns can exceed it by one match.
	Limit time.Duration
	// Previous is the masker that this one replaces and whose counts it continues. It may be nil.
	Previous *Masker
}

// DefaultRules returns the rules that apply without configuration.
func DefaultRules() Rules {
	return Rules{Enabled: true, Groups: []string{"kubernetes", "security", gitleaksGroup}}
}

// Masker hides secrets. It is safe for concurrent use and stores only its compiled patterns and counts.
type Masker struct {
	*counts

	secrets *secrets
	alerts  *policy
	servers map[string]*policy
	other   *policy
	limit   time.Duration
}

// counts are shared with the maskers that a masker replaces.
type counts struct {
	failures atomic.Int64
	// texts and results count the secrets that were masked in each.
	texts, results atomic.Int64
}

// New checks the names and compiles the custom patterns. Everything else is compiled on first use.
func New(cfg Config) (*Masker, error) {
	alerts, err := newPolicy(cfg.Alerts)
	if err != nil {
		return nil, fmt.Errorf("masking of alerts: %w", err)
	}

	other, err := newPolicy(cfg.Default)
	if err != nil {
		return nil, fmt.Errorf("masking of tool results: %w", err)
	}

	servers := make(map[string]*policy, len(cfg.Servers))
	for id, rules := range cfg.Servers {
		if servers[id], err = newPolicy(rules); err != nil {
			return nil, fmt.Errorf("masking of MCP server %s: %w", id, err)
		}
	}

	if cfg.Limit <= 0 {
		cfg.Limit = defaultLimit
	}

	m := &Masker{secrets: newSecrets(cfg.Secrets), alerts: alerts, servers: servers, other: other, limit: cfg.Limit, counts: &counts{}}
	if cfg.Previous != nil {
		m.counts = cfg.Previous.counts
	}

	return m, nil
}

// Result masks the result of a tool. It fails closed: on an error there is no text.
func (m *Masker) Result(serverID, text string) (string, error) {
	rules, ok := m.servers[serverID]
	if !ok {
		rules = m.other
	}

	masked, err := m.mask(rules, text)
	if err != nil {
		m.failures.Add(1)

		return "", err
	}

	m.results.Add(hidden(text, masked))

	return masked, nil
}

// Text masks text that a user wrote. It fails open: the returned text is always usable. With an error it was not checked completely:
// ErrTooSlow means that only finders without expressions masked it, any other error that nothing was masked.
func (m *Masker) Text(text string) (string, error) {
	masked, err := m.mask(m.alerts, text)
	if err != nil {
		m.failures.Add(1)
	}

	if err != nil && !errors.Is(err, ErrTooSlow) {
		return text, err
	}

	m.texts.Add(hidden(text, masked))

	return masked, err
}

// Failures counts the texts that could not be masked, or not completely.
func (m *Masker) Failures() int64 { return m.failures.Load() }

// Masked counts the secrets that were masked in user texts and in tool results.
func (m *Masker) Masked() (texts, results int64) { return m.texts.Load(), m.results.Load() }

// hidden returns how many secrets were replaced in a text: the number of new markers. If custom replacements contain no marker, a text
// counts once.
func hidden(before, after string) int64 {
	if before == after {
		return 0
	}

	return int64(max(strings.Count(after, markerStart)-strings.Count(before, markerStart), 1))
}

func (m *Masker) mask(rules *policy, text string) (masked string, err error) {
	defer func() {
		if r := recover(); r != nil {
			// The recovered value may contain the text, so it is left out.
			masked, err = "", fmt.Errorf("mask %d bytes: panic", len(text))
		}
	}()

	text = m.secrets.mask(text)
	if !rules.enabled {
		return text, nil
	}

	work := newBudget(m.limit)
	defer work.stop()

	if masked = rules.mask(text, work); work.over {
		return masked, fmt.Errorf("mask %d bytes: %w", len(text), ErrTooSlow)
	}

	return masked, nil
}

// policy is a compiled Rules.
type policy struct {
	enabled    bool
	kubernetes bool
	custom     []custom
	wanted     names
}

func newPolicy(rules Rules) (*policy, error) {
	p := &policy{enabled: rules.Enabled, wanted: names{}}
	if err := p.wanted.add(rules); err != nil {
		return nil, err
	}

	p.kubernetes = p.wanted[kubernetesSecret]
	delete(p.wanted, kubernetesSecret)

	for _, c := range rules.Custom {
		made, err := newCustom(c)
		if err != nil {
			return nil, err
		}

		p.custom = append(p.custom, made)
	}

	return p, nil
}

// maxRounds limits how often a text is swept. Hiding one secret may expose another, which masking the result again would find; so the
// sweep is repeated until it finds nothing. More than two rounds were never observed.
const maxRounds = 6

// mask hides secrets within the time limit. After that, custom patterns and rules are skipped, and what the other finders find is still
// hidden: their time is linear, and short.
func (p *policy) mask(text string, work *budget) string {
	if p.kubernetes && strings.Contains(text, "Secret") {
		text = splice(text, kubernetesSpans(text))
	}

	for _, c := range p.custom {
		if work.over {
			break
		}

		text = c.mask(text, work)
	}

	if len(p.wanted) == 0 {
		return text
	}

	for range maxRounds {
		spans := sweepPlain(text, p.wanted, work)
		if len(spans) == 0 {
			break
		}

		text = splice(text, spans)
	}

	return text
}
