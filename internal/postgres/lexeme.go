package postgres

import "strings"

// maxLabelWord is the maximum length, in characters, of the word for a label in session_list, as in label_words.
const maxLabelWord = 250

// labelWord is the word for a label, truncated as it is stored.
func labelWord(name, value string) string {
	word := "=" + name + "=" + value
	if runes := []rune(word); len(runes) > maxLabelWord {
		return string(runes[:maxLabelWord])
	}

	return word
}

// lexeme is a word as a quoted lexeme of a tsquery.
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
