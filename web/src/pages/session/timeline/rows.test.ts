import { describe, expect, test } from 'vitest';
import { Events, execution, session, stage } from '../fixture';
import { firstEvent, RowList } from './group';
import { eventsOf, type Row, RowMemory, rowsOf } from './rows';

const names = (rows: readonly Row[]) => rows.map((row) => row.key);

describe('rowsOf', () => {
  test('shows a stage of one agent as a header and its events', () => {
    const events = new Events();
    const ids = [events.add('a', 'llm_thinking'), events.add('b', 'llm_response')];
    const { rows, events: count } = rowsOf(session([stage('one', [execution('x', ids)])]), {
      header: true,
      lookup: events.lookup,
    });
    expect(names(rows)).toEqual(['header', 'stage-one', 'a', 'b', 'end']);
    expect(count).toBe(2);
  });

  test('shows several agents as one row with a lane each', () => {
    const events = new Events();
    const lanes = [
      execution('x', [events.add('a', 'llm_thinking')]),
      execution('y', [events.add('b', 'llm_thinking')]),
    ];
    const { rows, places } = rowsOf(session([stage('one', lanes, { expected_agent_count: 2 })]), {
      header: false,
      lookup: events.lookup,
    });
    expect(names(rows)).toEqual(['stage-one', 'parallel-one', 'end']);
    expect(places.get('b')).toEqual({ row: 1, lane: 1, laneRow: 0 });
  });

  test('shows lanes as soon as several agents are expected', () => {
    const events = new Events();
    const one = stage('one', [execution('x', [events.add('a', 'llm_thinking')])], { expected_agent_count: 3 });
    const { rows } = rowsOf(session([one]), { header: false, lookup: events.lookup });
    expect(names(rows)).toEqual(['stage-one', 'parallel-one', 'end']);
  });

  test('places session events among the stages by sequence number', () => {
    const events = new Events();
    const runbook = events.add('runbook', 'error');
    const first = stage('one', [execution('x', [events.add('a', 'llm_thinking')])]);
    const between = events.add('between', 'error');
    const second = stage('two', [execution('y', [events.add('b', 'llm_thinking')])]);
    const summary = events.add('summary', 'executive_summary');
    const { rows } = rowsOf(session([first, second], [runbook, between, summary]), {
      header: false,
      lookup: events.lookup,
    });
    expect(names(rows)).toEqual(['runbook', 'stage-one', 'a', 'between', 'stage-two', 'b', 'summary', 'end']);
  });

  test('places session events by time if a stage has no events yet', () => {
    const events = new Events();
    const first = stage('one', [execution('x', [events.add('a', 'llm_thinking')])]);
    const summary = events.add('summary', 'executive_summary', { created_at: '2030-01-01T00:10:00Z' });
    const later = stage('two', [], { stage_type: 'chat', created_at: '2030-01-01T00:20:00Z' });
    const { rows } = rowsOf(session([first, later], [summary]), { header: false, lookup: events.lookup });
    expect(names(rows)).toEqual(['stage-one', 'a', 'summary', 'end', 'stage-two']);
  });

  test('puts the end mark before the questions, or last while running', () => {
    const events = new Events();
    const first = stage('one', [execution('x', [events.add('a', 'llm_thinking')])]);
    const chat = stage('chat', [execution('y', [events.add('answer', 'final_analysis')])], { stage_type: 'chat' }, [
      events.add('question', 'user_question'),
    ]);
    const options = { header: false, lookup: events.lookup };
    expect(names(rowsOf(session([first, chat]), options).rows)).toEqual([
      'stage-one',
      'a',
      'end',
      'stage-chat',
      'question',
      'answer',
    ]);
    expect(names(rowsOf(session([first, chat], [], { status: 'in_progress' }), options).rows).at(-1)).toBe('end');
  });

  test('reuses the rows of unchanged executions', () => {
    const events = new Events();
    const still = [events.add('a', 'llm_thinking')];
    const growing = [events.add('b', 'llm_thinking')];
    let asked = 0;
    const options = {
      header: false,
      memory: new RowMemory(),
      lookup: (id: string) => {
        asked++;
        return events.lookup(id);
      },
    };
    const before = rowsOf(session([stage('one', [execution('x', still)])]), options).rows[1];
    asked = 0;
    const after = rowsOf(
      session([stage('one', [execution('x', still)]), stage('two', [execution('y', growing)])]),
      options,
    ).rows[1];
    expect(after).toBe(before);
    expect(asked).toBe(1);
  });

  test('looks up each of 10,000 events about once', () => {
    const events = new Events();
    const lanes = Array.from({ length: 4 }, (_, lane) =>
      execution(
        `x${lane}`,
        Array.from({ length: 2500 }, (_, n) => events.add(`${lane}-${n}`, 'llm_tool_call')),
      ),
    );
    let asked = 0;
    const { events: count, places } = rowsOf(session([stage('one', lanes, { expected_agent_count: 4 })]), {
      header: true,
      lookup: (id) => {
        asked++;
        return events.lookup(id);
      },
    });
    expect(count).toBe(10_000);
    expect(places.size).toBe(10_000);
    expect(asked).toBeLessThanOrEqual(10_010);
  });
});

describe('summaries', () => {
  test('belong to the row of their tool call, even if not adjacent', () => {
    const events = new Events();
    const ids = [
      events.add('call', 'llm_tool_call'),
      events.add('other', 'llm_tool_call'),
      events.add('summary', 'mcp_tool_summary', { metadata: { tool_call_event_id: 'call' } }),
    ];
    const list = new RowList();
    list.update(ids, events.lookup);
    expect(list.rows(() => false)).toMatchObject([
      { eventId: 'call', summaries: ['summary'] },
      { eventId: 'other', summaries: [] },
    ]);
    const view = session([stage('one', [execution('x', ids)])]);
    const { places } = rowsOf(view, { header: false, lookup: events.lookup });
    expect(places.get('summary')).toEqual(places.get('call'));
  });

  test('without their call have their own rows', () => {
    const events = new Events();
    const ids = [
      events.add('lost', 'mcp_tool_summary', { metadata: { tool_call_event_id: 'gone' } }),
      events.add('bare', 'mcp_tool_summary'),
    ];
    const list = new RowList();
    list.update(ids, events.lookup);
    expect(list.rows(() => false).map(firstEvent)).toEqual(['lost', 'bare']);
  });
});

test('eventsOf returns the events of a stage and of all its agents', () => {
  const view = stage('one', [execution('x', ['a']), execution('y', ['b', 'c'])], {}, ['question']);
  expect(eventsOf(view)).toEqual(['question', 'a', 'b', 'c']);
});
