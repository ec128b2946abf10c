package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/postgres"
)

// runExecutions runs the executions of a stage at once and waits for all of them: one that fails stops no other.
// It returns why the work could not go on, if so.
func (r *sessionRun) runExecutions(ctx context.Context, recipe Recipe, tasks []task) error {
	var (
		group sync.WaitGroup
		errs  = make([]error, len(tasks))
	)

	for i, t := range tasks {
		group.Go(func() { errs[i] = r.runExecution(ctx, recipe, t) })
	}

	group.Wait()

	// Why the round was stopped says more than what each execution made of it.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return errors.Join(errs...)
}

func (r *sessionRun) runExecution(ctx context.Context, recipe Recipe, t task) error {
	in, ok := r.input(recipe, t)
	if !ok {
		return r.failExecution(ctx, t, "unknown_agent", "the chain no longer has this agent")
	}

	err := agent.Run(ctx, r.engine.Agent, in)

	switch {
	case err == nil || ctx.Err() != nil || r.soft.Err() != nil:
		return err
	case errors.Is(err, errCommitFailed) || errors.Is(err, postgres.ErrFenceLost):
		return err
	default:
		return r.failExecution(ctx, t, "internal", err.Error())
	}
}

// input gathers what the database holds of one execution.
func (r *sessionRun) input(recipe Recipe, t task) (agent.Input, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	i := slices.IndexFunc(r.state.Executions, func(e tarsy.Execution) bool { return e.ID == t.execution })
	execution := r.state.Executions[i]

	if t.stage >= len(recipe.Stages) || execution.AgentIndex > len(recipe.Stages[t.stage].Agents) {
		return agent.Input{}, false
	}

	configured := recipe.Stages[t.stage].Agents[execution.AgentIndex-1]
	in := agent.Input{
		Session: r.state.Session, Stage: r.state.Stages[t.stage], Execution: execution, Spec: configured.Spec,
		Earlier: r.earlier(t.stage), Runbook: r.state.Session.Runbook, Recorder: r, Fence: r.lease.Fence, Yield: r.soft,
	}

	for _, m := range r.state.Messages {
		if m.ExecutionID == execution.ID {
			in.Messages = append(in.Messages, m)
		}
	}

	for _, e := range r.state.Timeline {
		if e.ExecutionID != nil && *e.ExecutionID == execution.ID {
			in.Timeline = append(in.Timeline, e)
		}
	}

	for _, c := range r.state.LLMInteractions {
		if c.ExecutionID != nil && *c.ExecutionID == execution.ID {
			in.LLMInteractions = append(in.LLMInteractions, c)
		}
	}

	for _, c := range r.state.MCPInteractions {
		if c.ExecutionID == execution.ID {
			in.MCPInteractions = append(in.MCPInteractions, c)
		}
	}

	if servers := toolServers(r.state.Session.MCPSelection, configured.Servers); len(servers) > 0 {
		in.OpenTools = func(ctx context.Context) (agent.Tools, error) { return r.engine.OpenTools(ctx, servers) }
	}

	return in, true
}

// toolServers chooses the MCP servers of an execution: the alert's selection replaces the configured ones.
func toolServers(selection *tarsy.MCPSelection, configured []ServerTools) []ServerTools {
	if selection == nil {
		return configured
	}

	servers := make([]ServerTools, 0, len(selection.Servers))
	for _, s := range selection.Servers {
		servers = append(servers, ServerTools{Server: s.Name, Tools: s.Tools})
	}

	return servers
}

// failExecution ends an execution that could not run.
func (r *sessionRun) failExecution(ctx context.Context, t task, code, message string) error {
	pending := r.submit(func() tarsy.Step { return r.failExecutionStep(t.execution, code, message) })

	return r.wait(context.WithoutCancel(ctx), pending)
}

// event makes a completed timeline event of the session. The caller holds r.mu.
func (r *sessionRun) event(eventType tarsy.EventType, content string, now time.Time) tarsy.TimelineEvent {
	return tarsy.TimelineEvent{
		ID: tarsy.NewID(), SessionID: r.lease.SessionID, SequenceNumber: r.nextSequence(), EventType: eventType,
		Status: tarsy.EventCompleted, Content: tarsy.CleanText(content), CreatedAt: now, UpdatedAt: now, CompletedAt: &now,
	}
}

// conclude writes the executive summary and finishes the session, in one step. A summary that fails leaves its
// reason on the session, which completes all the same.
func (r *sessionRun) conclude(ctx context.Context, recipe Recipe) (released bool, err error) {
	if err := r.Outside(ctx); err != nil {
		return false, err
	}

	r.mu.Lock()
	analysis := r.finalAnalysis()
	r.mu.Unlock()

	// A summary that is cut off costs only its repetition, so a stopping server does not wait for it.
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.soft, func() { cancel(context.Cause(r.soft)) })()

	summary, interaction, err := agent.Summarise(callCtx, r.engine.Agent, agent.SummaryInput{
		SessionID: r.lease.SessionID, Analysis: analysis, Limit: recipe.Summary.Limit,
		Provider: recipe.Summary.Provider, Model: recipe.Summary.Model, Backend: recipe.Summary.Backend,
	})
	if err != nil && callCtx.Err() != nil {
		return false, context.Cause(callCtx)
	}

	return r.finish(ctx, func() tarsy.Step { return r.concludeStep(summary, interaction, err) })
}
