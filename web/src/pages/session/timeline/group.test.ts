import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Events, event, execution, session, stage } from '../fixture';
import { Folding } from './folding';
import { groupKey, type ListRow, RowList, signatureOf } from './group';
import { RowMemory, rowsOf } from './rows';

const call = (tool: string, given: unknown = {}, server = 'cluster') => ({
  metadata: { server_name: server, tool_name: tool, arguments: given },
});
const folded = () => false;
/** A group as its first event and number of calls, an event as its id. */
const drawn = (rows: readonly ListRow[]) =>
  rows.map((row) => (row.kind === 'group' ? `${row.calls[0]?.eventId}×${row.calls.length}` : row.eventId));

function listOf(events: Events, ids: readonly string[]): RowList {
  const list = new RowList();
  list.update(ids, events.lookup);
  return list;
}

describe('identical calls', () => {
  test('in sequence are grouped from the third on', () => {
    const events = new Events();
    const ids = [
      events.add('a', 'llm_tool_call', call('get_pods', { namespace: 'shop' })),
      events.add('b', 'llm_tool_call', call('get_pods', { namespace: 'shop' })),
      events.add('c', 'llm_tool_call', call('get_pods', { namespace: 'shop' })),
      events.add('d', 'llm_tool_call', call('get_log')),
      events.add('e', 'llm_tool_call', call('get_log')),
    ];
    expect(drawn(listOf(events, ids.slice(0, 2)).rows(folded))).toEqual(['a', 'b']);
    expect(drawn(listOf(events, ids).rows(folded))).toEqual(['a×3', 'd', 'e']);
    expect(drawn(listOf(events, ids).rows(() => true))).toEqual(['a×3', 'a', 'b', 'c', 'd', 'e']);
  });

  test('that each need approval are not grouped', () => {
    const events = new Events();
    const asking = { metadata: { ...call('scale').metadata, approval_id: 'x', approval: { status: 'waiting' } } };
    const ids = ['a', 'b', 'c'].map((id) => events.add(id, 'llm_tool_call', asking));
    expect(drawn(listOf(events, ids).rows(folded))).toEqual(['a', 'b', 'c']);
  });

  test('have the same server, tool and arguments and are adjacent', () => {
    const events = new Events();
    const ids = [
      events.add('a', 'llm_tool_call', call('get_pods')),
      events.add('b', 'llm_tool_call', call('get_pods', { all: true })),
      events.add('c', 'llm_tool_call', call('get_pods', {}, 'other')),
      events.add('d', 'llm_tool_call', call('get_nodes')),
      events.add('e', 'llm_tool_call', call('get_nodes')),
      events.add('thought', 'llm_thinking'),
      events.add('f', 'llm_tool_call', call('get_nodes')),
      events.add('g', 'llm_tool_call', call('get_nodes')),
    ];
    expect(listOf(events, ids).rows(folded)).toHaveLength(ids.length);
  });

  test('may order the keys of their arguments differently', () => {
    const one = event('a', 'llm_tool_call', call('t', { a: 1, b: { c: [1, 2], d: null } }));
    expect(signatureOf(event('b', 'llm_tool_call', call('t', { b: { d: null, c: [1, 2] }, a: 1 })))).toBe(
      signatureOf(one),
    );
    expect(signatureOf(event('b', 'llm_tool_call', call('t', { a: 1, b: { c: [2, 1], d: null } })))).not.toBe(
      signatureOf(one),
    );
    expect(signatureOf(event('b', 'llm_tool_call', call('t', { a: '1', b: { c: [1, 2], d: null } })))).not.toBe(
      signatureOf(one),
    );
  });

  test('with arguments too long or too deep to compare are not grouped', () => {
    let deep: unknown = 1;
    for (let n = 0; n < 5_000; n++) deep = [deep];
    expect(signatureOf(event('a', 'llm_tool_call', call('t', deep)))).toBeUndefined();
    expect(signatureOf(event('a', 'llm_tool_call', call('t', 'x'.repeat(30_000))))).toBeUndefined();
    expect(signatureOf(event('a', 'llm_tool_call'))).toBeUndefined();
    expect(signatureOf(event('a', 'llm_thinking', call('t')))).toBeUndefined();
  });

  test('keep their summaries, which do not split a group', () => {
    const events = new Events();
    const ids = ['a', 'b', 'c', 'd'].flatMap((id) => [
      events.add(id, 'llm_tool_call', call('get_pods')),
      events.add(`${id}-summary`, 'mcp_tool_summary', { metadata: { tool_call_event_id: id } }),
    ]);
    const [group] = listOf(events, ids).rows(folded);
    expect(group).toMatchObject({
      kind: 'group',
      calls: ['a', 'b', 'c', 'd'].map((id) => ({ eventId: id, summaries: [`${id}-summary`], grouped: true })),
    });
  });
});

test('adding events one by one makes the same rows and looks up each event once', () => {
  const kind = fc.constantFrom('pods', 'pods', 'pods', 'log', 'thought', 'summary');
  fc.assert(
    fc.property(fc.array(kind, { maxLength: 40 }), (kinds) => {
      const events = new Events();
      const ids = kinds.map((each, n) => {
        if (each === 'thought') return events.add(`e${n}`, 'llm_thinking');
        if (each === 'summary')
          return events.add(`e${n}`, 'mcp_tool_summary', { metadata: { tool_call_event_id: `e${n - 2}` } });
        return events.add(`e${n}`, 'llm_tool_call', call(each));
      });
      let asked = 0;
      const lookup = (id: string) => {
        asked++;
        return events.lookup(id);
      };
      const grown = new RowList();
      for (let n = 0; n <= ids.length; n++) {
        grown.update(ids.slice(0, n), lookup);
        grown.rows(() => n % 2 === 0);
      }
      expect(asked).toBe(ids.length);
      expect(grown.rows(() => true)).toEqual(listOf(events, ids).rows(() => true));
      expect(grown.rows(folded)).toEqual(listOf(events, ids).rows(folded));
    }),
  );
});

test('an event inserted in between rebuilds the rows', () => {
  const events = new Events();
  for (const id of ['a', 'b', 'c']) events.add(id, 'llm_tool_call', call('get_pods'));
  events.add('thought', 'llm_thinking');
  const list = listOf(events, ['a', 'b', 'c']);
  expect(drawn(list.rows(folded))).toEqual(['a×3']);
  list.update(['a', 'thought', 'b', 'c'], events.lookup);
  expect(drawn(list.rows(folded))).toEqual(['a', 'thought', 'b', 'c']);
});

test('unchanged rows stay the same objects', () => {
  const events = new Events();
  const ids = ['a', 'b', 'c', 'd'].map((id) => events.add(id, 'llm_tool_call', call(id)));
  const list = listOf(events, ids.slice(0, 3));
  const before = list.rows(folded);
  expect(list.rows(folded)).toBe(before);
  list.update(ids, events.lookup);
  expect(
    list
      .rows(folded)
      .slice(0, 3)
      .every((row, at) => row === before[at]),
  ).toBe(true);
});

describe('places', () => {
  const many = () => {
    const events = new Events();
    const ids = Array.from({ length: 515 }, (_, n) => events.add(`c${n}`, 'llm_tool_call', call('get_pods')));
    return { events, ids, view: session([stage('one', [execution('x', ids)])]) };
  };

  test('of calls are their group if collapsed, otherwise their own row', () => {
    const { events, view } = many();
    const memory = new RowMemory();
    const options = { header: false, lookup: events.lookup, memory };
    const closed = rowsOf(view, options);
    expect(closed.rows.map((row) => row.key)).toEqual(['stage-one', groupKey('c0'), 'end']);
    expect(closed.places.get('c400')).toEqual({ row: 1, group: groupKey('c0') });
    expect(closed.events).toBe(515);
    const open = rowsOf(view, { ...options, isOpen: () => true });
    expect(open.places.get('c400')).toEqual({ row: 402 });
    expect(open.events).toBe(515);
  });

  test('of calls in a lane include the lane', () => {
    const { events, ids } = many();
    const view = session([stage('one', [execution('x', ids), execution('y', [])], { expected_agent_count: 2 })]);
    const { places } = rowsOf(view, { header: false, lookup: events.lookup });
    expect(places.get('c5')).toEqual({ row: 1, lane: 0, laneRow: 0, group: groupKey('c0') });
  });
});

test('a group is collapsed unless it, or one of its first calls, was toggled', () => {
  const events = new Events();
  const ids = ['a', 'b', 'c', 'd'].map((id) => events.add(id, 'llm_tool_call', call('get_pods')));
  const [group] = listOf(events, ids).rows(folded);
  if (group?.kind !== 'group') throw new Error('no group');
  const folding = new Folding();
  expect(folding.isGroupOpen(group)).toBe(false);
  const before = folding.groupVersion();
  folding.chooseGroup(group.key, true);
  expect(folding.isGroupOpen(group)).toBe(true);
  expect(folding.groupVersion()).not.toBe(before);
  folding.chooseAll(ids, false);
  expect(folding.isGroupOpen(group)).toBe(false);
  const reading = new Folding();
  reading.choose('b', true);
  expect(reading.isGroupOpen(group)).toBe(true);
});
