import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { approvalOf } from './approval';
import { detailAt, journalOf, timelineAt } from './fake/story';
import { fromRest, type Known, reduce, type Step, withDetail } from './reducer';
import type { SessionView } from './view';

const events = [
  { content: 'one', whole: false },
  { content: 'two', whole: true },
  { content: 'three', whole: false },
  { content: 'four', whole: false, asks: true },
];
const journal = journalOf({ stages: [{ events: [events, events] }, { events: [events] }], chat: true });
const length = 400;

function settled(before: Known, step: Step): Known {
  return { ...step.known, events: new Map([...before.events, ...step.changed]) };
}

function fold(known: Known, from: number, to: number): Known {
  return settled(known, reduce(known, journal.slice(from, to), length));
}

/** The part of a view that the journal reports; usage and similar fields come from REST. */
function fromJournal({ version, events: all, view }: Known) {
  return {
    version,
    status: view.session.status,
    stages: view.stages.map(({ stage, executions, events: loose }) => ({
      id: stage.id,
      status: stage.status,
      question: stage.chat_user_message_id,
      loose,
      executions: executions.map((one) => [one.execution.id, one.execution.status, one.events]),
      nested: stage.executions.map((one) => one.status),
    })),
    listed: view.session.stages.map((stage) => stage.status),
    loose: view.events,
    calls: [...view.calls],
    waiting: view.waiting,
    events: [...all.values()].map((each) => [each.id, each.status, each.content, approvalOf(each)?.status]).sort(),
  };
}

const place = fc.nat(journal.length);
const whole = fromJournal(fromRest(detailAt(journal, journal.length), timelineAt(journal, journal.length)));

describe('session state', () => {
  test('is independent of the REST versions and of how the journal is split', () => {
    fc.assert(
      fc.property(place, place, fc.array(place), (detail, timeline, cuts) => {
        // The question of a stage that starts right after the REST response appears only in the next SessionDetail.
        fc.pre(journal[Math.min(detail, timeline) - 1]?.type !== 'chat.user_message');
        let known = fromRest(detailAt(journal, detail), timelineAt(journal, timeline));
        for (const end of [...cuts.sort((a, b) => a - b), journal.length]) known = fold(known, known.version, end);
        expect(fromJournal(known)).toEqual(whole);
      }),
    );
  });

  test('does not revert a status when the journal repeats what REST has reported', () => {
    const ranks = ['pending', 'in_progress', 'active', 'completed'];
    const rank = (view: SessionView) =>
      [view.session.status, ...view.stages.map(({ stage }) => stage.status)].map((s) => ranks.indexOf(s));
    fc.assert(
      fc.property(place, place, (detail, timeline) => {
        let known = fromRest(detailAt(journal, detail), timelineAt(journal, timeline));
        while (known.version < journal.length) {
          const before = rank(known.view);
          known = fold(known, known.version, known.version + 1);
          const after = rank(known.view);
          for (const [n, status] of before.entries()) expect(after[n]).toBeGreaterThanOrEqual(status);
        }
      }),
    );
  });

  test('does not revert a status when the SessionDetail is older than the journal', () => {
    const begun = fromRest(detailAt(journal, 2), timelineAt(journal, 2));
    const { view } = withDetail(fold(begun, 2, journal.length), detailAt(journal, 4));
    expect(view.session.status).toBe('completed');
    expect(view.stages[0]?.stage.status).toBe('completed');
    expect(view.stages[0]?.executions[0]?.execution.status).toBe('completed');
    expect(view.stages).toHaveLength(3);
    // Fields that the journal does not report are taken from REST.
    expect(view.session.usage.total_tokens).toBe(4);
    expect(view.stages[0]?.stage.expected_agent_count).toBe(7);
  });

  test('places events of an unknown stage once the SessionDetail has it', () => {
    const early = fromRest(detailAt(journal, 2), timelineAt(journal, journal.length));
    expect(early.strays).toBe(true);
    const later = withDetail(early, detailAt(journal, journal.length));
    expect(later.strays).toBe(false);
    expect(fromJournal({ ...later, version: journal.length })).toEqual(whole);
  });

  test('ignores events that are already included', () => {
    const known = fold(fromRest(detailAt(journal, 2), timelineAt(journal, 2)), 2, 20);
    const step = reduce(known, journal.slice(3, 9), length);
    expect(step.known).toEqual(known);
    expect(step.known.view).toBe(known.view);
    expect(step.changed.size).toBe(0);
    expect(step.eventMissing).toBe(false);
  });

  test('takes no events after a missing one', () => {
    const begun = fromRest(detailAt(journal, 2), timelineAt(journal, 2));
    const step = reduce(begun, journal.slice(3), length);
    expect(step.eventMissing).toBe(true);
    expect(fromJournal(settled(begun, step))).toEqual(fromJournal(begun));
  });

  test('does not mutate its input', () => {
    const begun = fromRest(detailAt(journal, 5), timelineAt(journal, 5));
    const before = structuredClone(begun);
    reduce(begun, journal.slice(5), length);
    withDetail(begun, detailAt(journal, 9));
    expect(begun).toEqual(before);
  });

  test('skips events of unknown types but advances the position', () => {
    const begun = fromRest(detailAt(journal, 2), timelineAt(journal, 2));
    const strange = { ...journal[2], type: 'approval.forgotten' } as unknown as (typeof journal)[number];
    const known = settled(begun, reduce(begun, [strange], length));
    expect(known.version).toBe(3);
    expect(known.view).toBe(begun.view);
  });

  describe('approvals', () => {
    const asked = journal.findIndex((message) => message.type === 'approval.status');
    const decided = journal.findIndex(
      (message) => message.type === 'approval.status' && message.approval.status === 'approved',
    );
    const eventOf = (at: number) => (journal[at] as { event_id: string }).event_id;

    test('a request is listed and added to the metadata of its call', () => {
      const known = fold(fromRest(detailAt(journal, 2), timelineAt(journal, 2)), 2, asked + 1);
      const id = eventOf(asked);
      expect(known.view.waiting).toEqual([id]);
      expect(known.events.get(id)?.metadata).toMatchObject({
        approval_id: `mcp-${id}`,
        approval: { status: 'waiting', rule: 'approvals.rules[0]' },
      });
    });

    test('a decision removes the call from the list and updates its event', () => {
      const begun = fromRest(detailAt(journal, asked + 1), timelineAt(journal, asked + 1));
      expect(begun.view.waiting).toContain(eventOf(decided));
      const known = fold(begun, asked + 1, decided + 1);
      expect(known.view.waiting).not.toContain(eventOf(decided));
      expect(approvalOf(known.events.get(eventOf(decided)))).toMatchObject({ status: 'approved', decided_by: 'ada' });
    });

    test('a decision from REST is kept when the journal repeats the request', () => {
      const known = fromRest(detailAt(journal, asked), timelineAt(journal, decided + 1));
      const after = fold(known, asked, asked + 1);
      expect(approvalOf(after.events.get(eventOf(asked)))?.status).toBe('approved');
      expect(after.view.waiting).not.toContain(eventOf(asked));
    });

    test('the view stays the same object while the waiting calls are unchanged', () => {
      const known = fromRest(detailAt(journal, asked + 1), timelineAt(journal, asked + 1));
      const again = { ...journal[asked], db_event_id: known.version + 1 } as (typeof journal)[number];
      expect(reduce(known, [again], length).known.view).toBe(known.view);
    });
  });
});
