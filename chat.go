package tarsy

import (
	"time"
)

// MaxQuestionBytes is the longest question that a chat takes.
const MaxQuestionBytes = 32 << 10

// Chat is the follow-up conversation of a session; a session has one at most.
type Chat struct {
	ID                string     `json:"id"`
	SessionID         string     `json:"session_id"`
	CreatedBy         string     `json:"created_by"`
	CreatedAt         time.Time  `json:"created_at"`
	LastInteractionAt *time.Time `json:"last_interaction_at"`
}

// ChatUserMessage is one question. The stage that answers it names it.
type ChatUserMessage struct {
	ID        string    `json:"id"`
	ChatID    string    `json:"chat_id"`
	SessionID string    `json:"session_id"`
	Author    string    `json:"author"`
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at"`
}

// Question is the payload of a chat request: the ids that the asker was told, and what was asked.
type Question struct {
	ChatID    string `json:"chat_id"`
	MessageID string `json:"message_id"`
	StageID   string `json:"stage_id"`
	Content   string `json:"content"`
}
