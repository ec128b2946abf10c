package slack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Limits of blocks, in characters and items.
const (
	maxBlocks     = 50
	maxViewBlocks = 100
	maxID         = 255
	maxURL        = 3000
	maxAlt        = 2000
	maxSection    = 3000
	maxFields     = 10
	maxField      = 2000
	maxHeader     = 150
	maxContext    = 10
	maxActions    = 25
	maxButton     = 75
	maxValue      = 2000
	maxLabel      = 2000
	maxMarkdown   = 12_000
	maxOptions    = 100
	maxOption     = 75
)

// blockCheck collects what Slack rejects in blocks. Locations are JSON pointers.
type blockCheck struct {
	problems []string
	seen     map[string]bool
}

func (k *blockCheck) addf(at, format string, args ...any) {
	k.problems = append(k.problems, fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

// checkBlocks returns the blocks at a location, and their problems.
func checkBlocks(raw json.RawMessage, at string, most int) ([]map[string]any, []string) {
	var blocks []map[string]any

	k := &blockCheck{seen: map[string]bool{}}

	if json.Unmarshal(raw, &blocks) != nil {
		k.addf(at, "must be an array of objects")

		return nil, k.problems
	}

	if len(blocks) > most {
		k.addf(at, "no more than %d items allowed", most)
	}

	for i, b := range blocks {
		k.block(fmt.Sprintf("%s/%d", at, i), b)
	}

	return blocks, k.problems
}

// messageBlocks checks the blocks of a message and returns them with IDs, or nil if there are none; the server's lock is
// held.
func messageBlocks(s *Server, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}

	if text := strings.TrimSpace(string(raw)); !strings.HasPrefix(text, "[") || !json.Valid(raw) {
		return nil, refusal("invalid_blocks_format")
	}

	blocks, problems := checkBlocks(raw, "/blocks", maxBlocks)
	if len(problems) > 0 {
		return nil, &apiError{Code: "invalid_blocks", Messages: problems}
	}

	if len(blocks) == 0 {
		return nil, nil
	}

	return s.nameBlocks(raw, blocks), nil
}

// nameBlocks gives IDs to blocks and buttons without one; the lock is held.
func (s *Server) nameBlocks(raw json.RawMessage, blocks []map[string]any) json.RawMessage {
	changed := false
	name := func(o map[string]any, key string) {
		if id, _ := o[key].(string); id == "" {
			o[key], changed = s.makeID("id"), true
		}
	}

	for _, b := range blocks {
		name(b, "block_id")

		for _, e := range elements(b) {
			if e["type"] == "button" {
				name(e, "action_id")
			}
		}
	}

	if !changed {
		return raw
	}

	named, err := json.Marshal(blocks)
	if err != nil {
		panic("slack: blocks: " + err.Error())
	}

	return named
}

// elements returns the elements of a block: those in its list, the one beside its text, or its input.
func elements(block map[string]any) []map[string]any {
	var found []map[string]any

	list, _ := block["elements"].([]any)
	for _, e := range append(slices.Clone(list), block["accessory"], block["element"]) {
		if o, ok := e.(map[string]any); ok {
			found = append(found, o)
		}
	}

	return found
}

// button finds a button in blocks, and returns it with the ID of its block.
func button(raw json.RawMessage, actionID string) (map[string]any, string) {
	var blocks []map[string]any

	_ = json.Unmarshal(raw, &blocks) // they were checked when they were sent

	for _, b := range blocks {
		for _, e := range elements(b) {
			if e["type"] == "button" && e["action_id"] == actionID {
				id, _ := b["block_id"].(string)

				return e, id
			}
		}
	}

	return nil, ""
}

// block checks one block.
func (k *blockCheck) block(at string, b map[string]any) {
	k.length(at, b, "block_id", maxID)

	if id, _ := b["block_id"].(string); id != "" {
		if k.seen[id] {
			k.addf(at+"/block_id", "`block_id` already exists: %s", id)
		}

		k.seen[id] = true
	}

	kind, _ := b["type"].(string)

	check, ok := map[string]func(k *blockCheck, at string, b map[string]any){
		"section": (*blockCheck).section, "header": (*blockCheck).header, "context": (*blockCheck).context, "actions": (*blockCheck).actions,
		"image": (*blockCheck).image, "input": (*blockCheck).input, "markdown": (*blockCheck).markdown,
		"divider": nil, "rich_text": nil, "table": nil, "video": nil, "file": nil, "context_actions": nil, "call": nil,
	}[kind]

	switch {
	case !ok:
		k.addf(at+"/type", "unsupported type: %s", kind)
	case check != nil:
		check(k, at, b)
	}
}

func (k *blockCheck) section(at string, b map[string]any) {
	if b["text"] == nil && b["fields"] == nil {
		k.addf(at, "missing required field: text")
	}

	if b["text"] != nil {
		k.text(at+"/text", b["text"], maxSection, "plain_text", "mrkdwn")
	}

	if b["fields"] != nil {
		for i, field := range k.items(at, b, "fields", maxFields) {
			k.text(fmt.Sprintf("%s/fields/%d", at, i), field, maxField, "plain_text", "mrkdwn")
		}
	}

	k.elements(at, b)
}

func (k *blockCheck) header(at string, b map[string]any) {
	k.text(at+"/text", b["text"], maxHeader, "plain_text")
}

func (k *blockCheck) context(at string, b map[string]any) {
	for i, e := range k.items(at, b, "elements", maxContext) {
		place := fmt.Sprintf("%s/elements/%d", at, i)

		if o, _ := e.(map[string]any); o["type"] == "image" {
			k.image(place, o)
		} else {
			k.text(place, e, maxSection, "plain_text", "mrkdwn")
		}
	}
}

func (k *blockCheck) actions(at string, b map[string]any) {
	k.items(at, b, "elements", maxActions)
	k.elements(at, b)
}

func (k *blockCheck) image(at string, b map[string]any) {
	k.length(at, b, "image_url", maxURL)
	k.length(at, b, "alt_text", maxAlt)

	if b["image_url"] == nil && b["slack_file"] == nil {
		k.addf(at, "missing required field: image_url")
	}

	if b["alt_text"] == nil {
		k.addf(at, "missing required field: alt_text")
	}
}

func (k *blockCheck) input(at string, b map[string]any) {
	k.text(at+"/label", b["label"], maxLabel, "plain_text")

	if b["element"] == nil {
		k.addf(at, "missing required field: element")
	}

	k.elements(at, b)
}

func (k *blockCheck) markdown(at string, b map[string]any) { k.length(at, b, "text", maxMarkdown) }

// elements checks the interactive elements of a block.
func (k *blockCheck) elements(at string, b map[string]any) {
	seen := map[string]bool{}
	list, _ := b["elements"].([]any)

	for i, e := range elements(b) {
		place := fmt.Sprintf("%s/elements/%d", at, i)

		switch {
		case i < len(list):
		case b["accessory"] != nil:
			place = at + "/accessory"
		default:
			place = at + "/element"
		}

		k.element(place, e)

		id, _ := e["action_id"].(string)
		if id != "" && seen[id] {
			k.addf(place+"/action_id", "`action_id` already exists in this block: %s", id)
		}

		seen[id] = true
	}
}

func (k *blockCheck) element(at string, e map[string]any) {
	k.length(at, e, "action_id", maxID)
	k.length(at, e, "url", maxURL)
	k.length(at, e, "value", maxValue)

	if e["type"] == "button" {
		k.text(at+"/text", e["text"], maxButton, "plain_text")

		if style, given := e["style"]; given && style != "primary" && style != "danger" {
			k.addf(at+"/style", "must be one of: primary, danger")
		}
	}

	if e["options"] != nil {
		for i, option := range k.items(at, e, "options", maxOptions) {
			o, _ := option.(map[string]any)
			k.text(fmt.Sprintf("%s/options/%d/text", at, i), o["text"], maxOption, "plain_text", "mrkdwn")
		}
	}
}

// text checks a text object, which is required.
func (k *blockCheck) text(at string, value any, most int, kinds ...string) {
	o, ok := value.(map[string]any)
	if !ok {
		k.addf(at, "missing required field")

		return
	}

	if kind, _ := o["type"].(string); !slices.Contains(kinds, kind) {
		k.addf(at+"/type", "must be one of: %s", strings.Join(kinds, ", "))
	}

	if text, _ := o["text"].(string); text == "" {
		k.addf(at+"/text", "must be more than 0 characters")
	}

	k.length(at, o, "text", most)
}

// length checks the length of a text.
func (k *blockCheck) length(at string, o map[string]any, name string, most int) {
	if text, _ := o[name].(string); len([]rune(text)) > most {
		k.addf(at+"/"+name, "must be less than %d characters", most+1)
	}
}

// items returns a list, which must be neither empty nor too long.
func (k *blockCheck) items(at string, o map[string]any, name string, most int) []any {
	list, _ := o[name].([]any)

	switch {
	case len(list) == 0:
		k.addf(at+"/"+name, "no less than 1 items allowed")
	case len(list) > most:
		k.addf(at+"/"+name, "no more than %d items allowed", most)
	}

	return list
}
