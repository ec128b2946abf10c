package postgres

import "strings"

// maxLabelWord is how many characters of a label its word in session_list has, as label_words makes it.
const maxLabelWord = 250

// labelWord is the word of a label, cut as it is stored.
func labelWord(name, value string) string {
	word := "=" + name + "=" + value
	if runes := []rune(word); len(runes) > maxLabelWord {
		return string(runes[:maxLabelWord])
	}

	return word
}

// lexeme is a word as a tsquery has it.
func lexeme(word string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(word) + "'"
}

func lexemes(words []string) []string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = lexeme(word)
	}

	return quoted
}
