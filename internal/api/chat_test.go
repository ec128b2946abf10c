package api_test

import (
	"context"

	"tarsy.dev/tarsy"
)

func (i *intake) Ask(ctx context.Context, sessionID, author, content string) (tarsy.Question, error) {
	question, asked, err := i.db.AddQuestion(ctx,
		tarsy.Request{ID: tarsy.NewID(), SessionID: sessionID, Kind: tarsy.RequestChat, Author: author, CreatedAt: i.clock.Now()},
		tarsy.Question{ChatID: tarsy.NewID(), MessageID: tarsy.NewID(), StageID: tarsy.NewID(), Content: content})
	if err != nil || asked {
		return question, err
	}

	if _, err := i.db.SessionDetail(ctx, sessionID); err != nil {
		return question, err
	}

	return question, tarsy.Errorf(tarsy.CodeSessionNotOver, "the session is not over")
}
