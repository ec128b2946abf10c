package engine

import (
	"encoding/json"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// The functions of this file build the steps of a question and its answer. Their callers hold r.mu until the step is
// submitted. A question changes nothing of the investigation: its status, analysis and summary stay.

const (
	chatStage = "Chat Response"
	// chatAgent answers where the chain no longer says who does; it is missing when it is to run, and says so.
	chatAgent = "ChatAgent"
)

// askStep begins the stage that answers the question that was asked first.
func (r *sessionRun) askStep(recipe chain.Chain) progress.Step {
	now := r.engine.now()
	i := slices.IndexFunc(r.state.Requests, func(q tarsy.Request) bool { return q.Kind == tarsy.RequestChat })
	request := r.state.Requests[i]

	var question tarsy.Question
	if err := json.Unmarshal(request.Payload, &question); err != nil {
		panic("engine: a stored question does not decode: " + err.Error())
	}

	request.Status, request.ClosedAt = tarsy.RequestDone, &now
	step := progress.Step{Answered: []tarsy.Request{request}}

	chat := r.chat()
	if chat == nil {
		chat = &tarsy.Chat{ID: question.ChatID, SessionID: r.lease.SessionID, CreatedBy: request.Author, CreatedAt: now}
		step.Events = append(step.Events, tarsy.ChatCreated(*chat))
	}

	message := tarsy.ChatUserMessage{
		ID: question.MessageID, ChatID: chat.ID, SessionID: r.lease.SessionID, Author: request.Author, Content: question.Content, CreatedAt: now,
	}
	stage := r.newStage(tarsy.StageChat, chatStage, 1, now)
	stage.ID, stage.ChatID, stage.ChatUserMessageID = question.StageID, &chat.ID, &message.ID
	step.ChatMessages = []tarsy.ChatUserMessage{message}
	step.Events = append(step.Events, tarsy.ChatAsked(message, stage.ID))

	answerer := chain.Agent{Spec: agent.Spec{Name: chatAgent}}
	if recipe.Chat != nil {
		answerer = *recipe.Chat
	}

	addStage(&step, stage, []chain.Agent{answerer}, now)

	event := r.event(tarsy.EventUserQuestion, question.Content, now)
	event.StageID, event.ExecutionID = &stage.ID, &step.Executions[0].ID
	event.Metadata = map[string]any{"author": request.Author, "chat_id": chat.ID, "message_id": message.ID}
	step.Timeline = []tarsy.TimelineEvent{event}
	step.Events = append(step.Events, tarsy.TimelineCreated(event))

	r.touchChat(&step, *chat)

	return step
}

// finishChatStep ends a stage whose answer is there, or whose agent failed.
func (r *sessionRun) finishChatStep(index int) progress.Step {
	step := r.finishStageStep(index)
	r.touchChat(&step, *r.chat())

	return step
}

// closeChatStep ends the answer that is being written.
func (r *sessionRun) closeChatStep(status tarsy.Status, message string) progress.Step {
	now := r.engine.now()
	step := progress.Step{Answered: r.answer(tarsy.RequestDone)}
	r.closeOpen(&step, status, message, now)
	r.touchChat(&step, *r.chat())

	return step
}

// chat returns the session's chat, if it has one.
func (r *sessionRun) chat() *tarsy.Chat {
	if len(r.state.Chats) == 0 {
		return nil
	}

	return &r.state.Chats[0]
}

// touchChat notes when something last happened in the chat, and so in the session.
func (r *sessionRun) touchChat(step *progress.Step, chat tarsy.Chat) {
	now := r.engine.now()
	session := r.state.Session
	session.LastInteractionAt, chat.LastInteractionAt = &now, &now
	step.Session, step.Chats = &session, []tarsy.Chat{chat}
}
