package plan

import (
	"encoding/json"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

const (
	chatStage = "Chat Response"
	// chatAgent is the agent's name if the chain no longer takes questions. The execution then fails with that reason.
	chatAgent = "ChatAgent"
)

// ask begins the stage that answers the oldest question. A question does not change the investigation's status, analysis or summary.
func (s Steps) ask() progress.Step {
	now := s.Now
	i := slices.IndexFunc(s.State.Requests, func(q tarsy.Request) bool { return q.Kind == tarsy.RequestChat })
	request := s.State.Requests[i]

	var question tarsy.Question
	if err := json.Unmarshal(request.Payload, &question); err != nil {
		panic("plan: a stored question does not decode: " + err.Error())
	}

	request.Status, request.ClosedAt = tarsy.RequestDone, &now
	step := progress.Step{Answered: []tarsy.Request{request}}

	chat := chatOf(s.State)
	if chat == nil {
		chat = &tarsy.Chat{ID: question.ChatID, SessionID: s.State.Session.ID, CreatedBy: request.Author, CreatedAt: now}
		step.Events = append(step.Events, tarsy.ChatCreated(*chat))
	}

	message := tarsy.ChatUserMessage{
		ID: question.MessageID, ChatID: chat.ID, SessionID: s.State.Session.ID, Author: request.Author, Content: question.Content, CreatedAt: now,
	}
	stage := s.newStage(tarsy.StageChat, chatStage, 1)
	stage.ID, stage.ChatID, stage.ChatUserMessageID = question.StageID, &chat.ID, &message.ID
	step.ChatMessages = []tarsy.ChatUserMessage{message}
	step.Events = append(step.Events, tarsy.ChatAsked(message, stage.ID))

	answerer := chain.Agent{Spec: agent.Spec{Name: chatAgent}}
	if s.Chain.Chat != nil {
		answerer = *s.Chain.Chat
	}

	addStage(&step, stage, []chain.Agent{answerer}, now)

	event := s.newEvent(tarsy.EventUserQuestion, question.Content)
	event.StageID, event.ExecutionID = &stage.ID, &step.Executions[0].ID
	event.Metadata = tarsy.NewMetadata(tarsy.QuestionMetadata{Author: request.Author, ChatID: chat.ID, MessageID: message.ID})
	step.Timeline = []tarsy.TimelineEvent{event}
	step.Events = append(step.Events, tarsy.TimelineCreated(event))

	s.touchChat(&step, *chat)

	return step
}

// closeChat ends the current answer.
func (s Steps) closeChat(status tarsy.Status, message string) progress.Step {
	step := progress.Step{Answered: s.closeRequests(tarsy.RequestDone)}
	closeOpen(&step, s.State, status, message, s.Now)
	s.touchChat(&step, *chatOf(s.State))

	return step
}

// touchChat records the time of the last activity in the chat, and so in the session.
func (s Steps) touchChat(step *progress.Step, chat tarsy.Chat) {
	session := s.State.Session
	session.LastInteractionAt, chat.LastInteractionAt = &s.Now, &s.Now
	step.Session, step.Chats = &session, []tarsy.Chat{chat}
}
