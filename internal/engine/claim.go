package engine

import (
	"context"
	"time"

	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/postgres"
)

// claim claims sessions whenever there may be some: after a commit that created work, when a worker becomes free, when a cancellation is
// requested, and at every poll.
func (e *Engine) claim(ctx context.Context, queue *postgres.Watch) {
	defer queue.Close()

	for {
		asked, heard := false, false

		select {
		case <-ctx.Done():
			return
		case <-queue.C:
		case <-e.slots:
		case <-e.cancels:
			asked = true
		case <-e.requests:
			asked, heard = true, true
		}

		for more := true; more && ctx.Err() == nil; {
			more = e.claimOnce(ctx, asked)
		}

		// A session that was being claimed when the request arrived is registered only now; renewing its lease reveals the request.
		if heard {
			e.renewRunning(ctx)
		}
	}
}

// claimOnce claims as many sessions as there are free workers, and starts to work on them. Without a free worker it looks only for sessions
// to cancel and questions to answer, and only if asked is set. It reports whether the batch was full, so that there may be more.
func (e *Engine) claimOnce(ctx context.Context, asked bool) (more bool) {
	settings := e.settings.Load()
	workers := settings.Workers
	if e.Ready != nil && !e.Ready() {
		workers = 0 // without its tools a session would fail or find nothing
	}

	e.mu.Lock()
	free, chats := workers, maxChats
	if workers == 0 {
		chats = 0 // a server that runs no sessions answers no questions
	}

	held := make([]string, 0, len(e.runs))

	for id, r := range e.runs {
		held = append(held, id)

		if r.uncounted {
			chats--
		} else {
			free--
		}
	}
	e.mu.Unlock()

	if free <= 0 && !asked {
		return false
	}

	// Finish a claim that is in progress even if the server is stopping, so that the claimed sessions are handed over properly.
	claimCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databasePatience)
	defer cancel()

	claims, err := e.DB.Claim(claimCtx, postgres.ClaimParams{
		ServerID: e.ServerID, Slots: max(free, 0), MaxSessions: settings.MaxSessions, MaxPerTeam: settings.MaxPerTeam, TeamLimits: settings.TeamLimits,
		Cancels: maxCancels, Chats: max(chats, 0), Held: held, Lease: e.Lease,
		Version: Version, Has: settings.Has, AbandonBefore: e.abandonBefore(),
	})

	var recipes map[string]*chain.Recipe
	if err == nil {
		recipes, err = e.recipes.find(claimCtx, settings, claims)
	}

	e.outage.Note(ctx, err)

	if err != nil {
		return false // claimed sessions are not lost: their leases expire and they are claimed again
	}

	claimed, uncounted := 0, 0

	for _, c := range claims {
		if c.Unloadable != nil {
			e.deferUnloadable(c.Lease, c.Unloadable)

			continue
		}

		e.loaded(c.SessionID)
		e.work(c, recipes[c.RecipeHash], settings)

		if c.Uncounted {
			uncounted++
		} else {
			claimed++
		}
	}

	if uncounted >= maxCancels {
		wake(e.cancels)
	}

	return claimed > 0 && claimed >= free
}

// work runs a claimed session in its own goroutine.
func (e *Engine) work(c postgres.Claim, recipe *chain.Recipe, settings *Settings) {
	r := newSessionRun(e, c, recipe, settings)

	e.mu.Lock()
	e.runs[c.SessionID] = r
	stopping := e.stopping
	e.mu.Unlock()

	if stopping {
		r.yield(errHandOver)
	}

	e.working.Go(func() {
		r.run()

		e.mu.Lock()
		// The session may have been claimed again since it was released.
		if e.runs[c.SessionID] == r {
			delete(e.runs, c.SessionID)
		}
		e.mu.Unlock()

		if r.uncounted {
			wake(e.cancels)
		} else {
			wake(e.slots)
		}
	})
}

// renew renews the leases of all running sessions, in one statement, until ctx is done.
func (e *Engine) renew(ctx context.Context) {
	ticker := e.Clock.NewTicker(e.RenewEvery)
	defer ticker.Stop()

	for {
		e.announce(ctx)

		select {
		case <-ctx.Done():
			return
		case <-ticker.Chan():
		}

		e.renewRunning(ctx)
		// A cancel request whose signal was lost must not wait until a worker is free.
		wake(e.cancels)
	}
}

func (e *Engine) renewRunning(ctx context.Context) {
	runs := e.running()
	if len(runs) == 0 {
		return // not an attempt; the outage state is unchanged
	}

	if err := e.renewLeases(ctx, runs); ctx.Err() == nil {
		e.renewing.Note(ctx, err)
	}
}

// renewLeases renews the leases of runs, and interrupts the runs whose lease is lost.
func (e *Engine) renewLeases(ctx context.Context, runs []*sessionRun) error {
	if len(runs) == 0 {
		return nil
	}

	const patience = 10 * time.Second

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	leases := make([]postgres.Lease, len(runs))
	for i, r := range runs {
		leases[i] = r.lease
	}

	until := e.Clock.Now().Add(e.Lease)

	renew := e.DB.Renew
	if e.settings.Load().ConcludeResolved {
		renew = e.DB.RenewWithAlerts
	}

	renewed, err := renew(ctx, leases, until)
	if err != nil {
		return err
	}

	found := make(map[string]postgres.Renewal, len(renewed))
	for _, n := range renewed {
		found[n.SessionID] = n
	}

	for _, r := range runs {
		n, held := found[r.lease.SessionID]

		switch {
		case !held:
			r.memory.interrupt(postgres.ErrFenceLost)
		case n.Requested:
			r.memory.extendLease(until, n.Resolved)
			r.readRequests(ctx)
		default:
			r.memory.extendLease(until, n.Resolved)
		}
	}

	return nil
}

// watchRequests delivers requests to sessions that run here, and wakes the claimer for requests to other sessions.
func (e *Engine) watchRequests(ctx context.Context, requests *postgres.Watch) {
	defer requests.Close()

	for {
		select {
		case <-ctx.Done():
			return
		case <-requests.C:
		}

		changes, behind := requests.Take()

		for _, c := range changes {
			e.mu.Lock()
			r := e.runs[c.SessionID]
			e.mu.Unlock()

			if r != nil {
				r.readRequests(ctx)
			} else {
				behind = true
			}
		}

		if behind {
			wake(e.requests)
		}
	}
}
