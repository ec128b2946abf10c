package story

import (
	"bufio"
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

// isNote reports whether a call is about a note.
func isNote(req *llm.Request) bool {
	return req.Purpose == infer.PurposeExtract || req.Purpose == infer.PurposeOrganize
}

// noteReply answers a call about a note. Any note works: a few regular expressions stand in for the model, which is enough
// for notes in plain sentences.
func noteReply(req *llm.Request) script.Reply {
	if len(req.Messages) == 0 {
		return script.Reply{}
	}

	prompt := req.Messages[len(req.Messages)-1].Content

	var answer any = organize(prompt)
	if req.Purpose == infer.PurposeExtract {
		answer = extract(prompt)
	}

	text, err := json.Marshal(answer)
	if err != nil {
		return script.Reply{Err: &llm.Error{Class: llm.ClassInvalid, Message: err.Error()}}
	}

	return script.Reply{Text: string(text)}
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?](\s|$)`)
	bullet      = regexp.MustCompile(`^\s*([-*•]|\d+[.)]|#+|>)\s+`)
	promptDate  = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

	isQuestion = regexp.MustCompile(`\?\s*$`)
	isDecision = regexp.MustCompile(`(?i)\b(we )?(decided|agreed|chose|will not|won't|keep)\b`)
	isRisk     = regexp.MustCompile(`(?i)\b(risk|may|might|could) (fail|break|happen|run|overflow|lose|return|recur|be)|\brisk\b|\bwithout an alert\b`)
	isTask     = regexp.MustCompile(`(?i)\b(todo|needs? to|should|must|has to|have to|please|will|follow up)\b|^(add|fix|raise|set|remove|update|write|move|check|create|roll|alert|limit|document|rotate|increase|replace|notify|review|restart|scale)\b`)
	isInsight  = regexp.MustCompile(`(?i)\b(because|caused|root cause|turns out|learned|happens when|is due to|was due to)\b`)
	isHedged   = regexp.MustCompile(`(?i)\b(maybe|perhaps|probably|not sure|i think|might want)\b`)

	namedOwner = regexp.MustCompile(`@([A-Za-z][\w-]*)|\b([A-Z][a-z]+) (?:will|should|must|has to|to) |\bowner: ?([\w-]+)`)
	weekday    = regexp.MustCompile(`(?i)\bby (monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow)\b`)
	writtenDay = regexp.MustCompile(`\b(?:by|until|due) (\d{4}-\d\d-\d\d)\b`)
	topic      = regexp.MustCompile(`\b[a-z][a-z0-9]*(?:-[a-z0-9]+)+\b`)
)

// extract returns an entity for each sentence of a note whose type is recognizable.
func extract(prompt string) infer.ExtractAnswer {
	answer := infer.ExtractAnswer{Entities: []infer.EntityAnswer{}}
	captured, _ := calendar.ParseDate(promptDate.FindString(prompt))

	for _, sentence := range sentences(block(prompt, "NOTE")) {
		kind, ok := kindOf(sentence)
		if !ok || len(answer.Entities) == mostEntities {
			continue
		}

		e := infer.EntityAnswer{
			Type: kind, Title: title(sentence), Owner: owner(sentence), DueDate: dueDate(sentence, captured), Tags: []string{}, Evidence: sentence,
			Confidence: sure,
		}

		if isHedged.MatchString(sentence) {
			e.Confidence = unsure
		}

		e.Tags = append(e.Tags, topic.FindAllString(sentence, mostTags)...)
		answer.Entities = append(answer.Entities, e)
	}

	return answer
}

const (
	sure, unsure           = 0.92, 0.48
	mostEntities, mostTags = 12, 3
	longestTitle           = 120
	// sameWords is the share of a candidate's title words that an entity's title must contain to be its duplicate.
	sameWords = 0.6
)

func kindOf(sentence string) (notebook.EntityType, bool) {
	switch plain := plainText(sentence); {
	case isQuestion.MatchString(plain):
		return notebook.EntityQuestion, true
	case isDecision.MatchString(plain):
		return notebook.EntityDecision, true
	case isRisk.MatchString(plain):
		return notebook.EntityRisk, true
	case isTask.MatchString(plain):
		return notebook.EntityTask, true
	case isInsight.MatchString(plain):
		return notebook.EntityInsight, true
	default:
		return "", false
	}
}

// sentences splits a text into sentences, which keep their line breaks. Headings, tables and code are left out.
func sentences(text string) []string {
	var (
		found  []string
		item   strings.Builder
		fenced bool
	)

	split := func() {
		for rest := item.String(); rest != ""; {
			end := len(rest)
			if at := sentenceEnd.FindStringIndex(rest); at != nil {
				end = at[0] + 1
			}

			if sentence := strings.TrimSpace(rest[:end]); len(strings.Fields(sentence)) > 2 {
				found = append(found, sentence)
			}

			rest = rest[end:]
		}

		item.Reset()
	}

	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		fence := strings.HasPrefix(trimmed, "```")
		fenced = fenced != fence

		// A list item, an empty line and anything that is not prose end the previous sentence.
		other := fenced || fence || trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "|")
		if marked := bullet.MatchString(line); other || marked {
			split()

			line = bullet.ReplaceAllString(line, "")
		}

		if !other {
			item.WriteString(line)
		}
	}

	split()

	return found
}

// plainText removes Markdown emphasis and TODO markers.
func plainText(sentence string) string {
	return strings.NewReplacer("**", "", "`", "", "TODO: ", "", "TODO ", "").Replace(sentence)
}

// title turns a sentence into a single line with an initial capital and no full stop at the end.
func title(sentence string) string {
	line := strings.TrimRight(strings.Join(strings.Fields(plainText(sentence)), " "), ".! ")
	if runes := []rune(line); len(runes) > longestTitle {
		line = strings.TrimSpace(string(runes[:longestTitle])) + "…"
	}

	first, size := utf8.DecodeRuneInString(line)

	return string(unicode.ToUpper(first)) + line[size:]
}

func owner(sentence string) string {
	for _, name := range namedOwner.FindAllStringSubmatch(plainText(sentence), -1) {
		for _, found := range name[1:] {
			switch found {
			case "", "We", "It", "This", "That", "They", "Nobody", "Somebody":
			default:
				return found
			}
		}
	}

	return ""
}

// dueDate resolves a date in a sentence relative to the day of the note.
func dueDate(sentence string, captured calendar.Date) string {
	if day := writtenDay.FindStringSubmatch(sentence); day != nil {
		if _, err := calendar.ParseDate(day[1]); err == nil {
			return day[1]
		}
	}

	named := weekday.FindStringSubmatch(sentence)
	from, err := time.Parse(time.DateOnly, captured.String())

	if named == nil || err != nil {
		return ""
	}

	for day := from.AddDate(0, 0, 1); ; day = day.AddDate(0, 0, 1) {
		if strings.EqualFold(named[1], "tomorrow") || strings.EqualFold(named[1], day.Weekday().String()) {
			return day.Format(time.DateOnly)
		}
	}
}

// Lines of the prompt that asks where to file entities.
type (
	projectLine struct {
		ID          string `json:"project_id"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Epics       []struct {
			ID          string `json:"epic_id"`
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"epics"`
	}

	entityLine struct {
		Number     int      `json:"entity"`
		Title      string   `json:"title"`
		Content    string   `json:"content"`
		Tags       []string `json:"tags"`
		Candidates []struct {
			ID    string `json:"candidate_id"`
			Title string `json:"title"`
		} `json:"candidates"`
	}
)

// organize files each entity under the project or epic with which it shares the most words.
func organize(prompt string) infer.OrganizeAnswer {
	answer := infer.OrganizeAnswer{Entities: []infer.PlaceAnswer{}}
	projects := lines[projectLine](block(prompt, "PROJECTS"))

	for _, entity := range lines[entityLine](block(prompt, "ENTITIES")) {
		place := infer.PlaceAnswer{Entity: entity.Number, Reason: "No matching project.", Confidence: unsure}
		about := wordsOf(entity.Title + " " + entity.Content + " " + strings.Join(entity.Tags, " "))
		best := 0

		for _, p := range projects {
			project := wordsOf(p.Name + " " + p.Description)
			if n := shared(about, project); n > best {
				best = n
				place.ProjectID, place.EpicID = p.ID, ""
				place.Reason = "It shares words with the project " + p.Name + "."
			}

			for _, e := range p.Epics {
				if n := shared(about, wordsOf(e.Name+" "+e.Description)); n > 0 && n+shared(about, project) > best {
					best = n + shared(about, project)
					place.ProjectID, place.EpicID = p.ID, e.ID
					place.Reason = "It shares words with the epic " + e.Name + "."
				}
			}
		}

		if best > 1 {
			place.Confidence = sure
		}

		for _, c := range entity.Candidates {
			if n := shared(wordsOf(entity.Title), wordsOf(c.Title)); float64(n) >= sameWords*float64(len(wordsOf(c.Title))) {
				place.DuplicateOf, place.Reason = c.ID, "Both describe the same work."
			}
		}

		answer.Entities = append(answer.Entities, place)
	}

	return answer
}

// block returns the named data block of a prompt.
func block(prompt, name string) string {
	_, after, _ := strings.Cut(prompt, "<!-- "+name+"_START -->\n")
	text, _, _ := strings.Cut(after, "\n<!-- "+name+"_END -->")

	return text
}

func lines[T any](text string) []T {
	var found []T

	scanner := bufio.NewScanner(strings.NewReader(text))
	scanner.Buffer(nil, len(text)+1)

	for scanner.Scan() {
		var line T
		if json.Unmarshal(scanner.Bytes(), &line) == nil {
			found = append(found, line)
		}
	}

	return found
}

// wordsOf returns the significant words of a text, shortened so that singular and plural are equal.
func wordsOf(text string) map[string]bool {
	const shortest, longest = 4, 6

	words := map[string]bool{}

	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if runes := []rune(word); len(runes) >= shortest {
			words[string(runes[:min(len(runes), longest)])] = true
		}
	}

	return words
}

func shared(a, b map[string]bool) int {
	n := 0

	for word := range a {
		if b[word] {
			n++
		}
	}

	return n
}
