import { describe, expect, it } from 'vitest';
import type { MCPServer, Setting, Usage } from '@/api/types';
import { nothingUsed } from '@/live/structure';
import { dayCount, daysOf, rangeStart } from './days';
import { origins, readSystemSearch } from './search';
import { countOrigins, findSettings, linesOf, originOf, sectionOf } from './setting';
import { shares } from './share';
import { findTools } from './tool-search';

const usage = (parts: Partial<Usage> = {}): Usage => ({ ...nothingUsed, ...parts });
const share = (name: string, parts: Partial<Usage> = {}) => ({
  name,
  llm_calls: 2,
  tool_calls: 3,
  usage: usage(parts),
});

describe('usage by day', () => {
  const from = '2026-02-26T00:00:00.000Z';

  it('has every day, including days without usage', () => {
    const days = daysOf([share('2026-02-27', { cost_usd: 0.5, total_tokens: 900 }), share('2026-03-01')], from, 5);
    expect(days.map((day) => day.name)).toEqual(['2026-02-26', '2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']);
    expect(days.map((day) => day.cost)).toEqual([0, 0.5, 0, 0, 0]);
    expect(days[1]).toEqual({ name: '2026-02-27', cost: 0.5, tokens: 900, unpriced: 0, llmCalls: 2, toolCalls: 3 });
  });

  it('ignores days outside of the range and invalid days', () => {
    const days = daysOf(
      [share('2025-02-27', { cost_usd: 9 }), share('yesterday', { cost_usd: 9 }), share('', { cost_usd: 9 })],
      from,
      3,
    );
    expect(days.every((day) => day.cost === 0)).toBe(true);
  });

  it('treats invalid numbers as zero', () => {
    const [day] = daysOf(
      [share('2026-02-26', { cost_usd: Number.NaN, total_tokens: -5, unpriced_tokens: Number.POSITIVE_INFINITY })],
      from,
      1,
    );
    expect(day).toMatchObject({ cost: 0, tokens: 0, unpriced: 0 });
  });

  it('starts at midnight UTC, so that the query stays the same all day', () => {
    const start = rangeStart(7, new Date('2026-11-15T00:00:00Z'));
    expect(start).toBe('2026-11-09T00:00:00.000Z');
    expect(rangeStart(7, new Date('2026-11-15T23:59:59.999Z'))).toBe(start);
    expect(daysOf([], start, 7).at(-1)?.name).toBe('2026-11-15');
  });

  it('has the days of the response, within limits', () => {
    expect(dayCount('2026-11-09T00:00:00Z', '2026-11-15T12:06:00Z')).toBe(7);
    expect(dayCount('2026-11-15T00:00:00Z', '2026-11-15T00:00:01Z')).toBe(1);
    expect(dayCount('2026-11-15T00:00:00Z', '2026-11-14T00:00:00Z')).toBe(1);
    expect(dayCount('', 'never')).toBe(1);
    expect(dayCount('0001-01-01T00:00:00Z', '9999-01-01T00:00:00Z')).toBe(367);
  });
});

describe('shares', () => {
  it('are by cost, or by tokens if nothing has a price', () => {
    const rows = [
      { usage: usage({ cost_usd: 3, total_tokens: 1 }) },
      { usage: usage({ cost_usd: 1, total_tokens: 1 }) },
    ];
    expect(shares(rows)).toEqual({ of: 'cost', parts: [0.75, 0.25] });
    const unpriced = rows.map((row) => ({ usage: { ...row.usage, cost_usd: 0 } }));
    expect(shares(unpriced)).toEqual({ of: 'tokens', parts: [0.5, 0.5] });
    expect(shares([{ usage: usage() }])).toEqual({ of: 'tokens', parts: [0] });
    expect(shares([])).toEqual({ of: 'tokens', parts: [] });
    expect(
      shares([{ usage: usage({ cost_usd: Number.NaN }) }, { usage: usage({ cost_usd: -1, total_tokens: 4 }) }]).parts,
    ).toEqual([0, 1]);
  });
});

describe('settings', () => {
  const setting = (path: string, origin = 'built-in', value = 'v'): Setting => ({ path, origin, value });

  it.each([
    ['built-in', 'built-in'],
    ['env TARSY_WORKERS', 'env'],
    ['flag --workers', 'flag'],
    ['tarsy.yaml:12', 'file'],
    ['environment.yaml:3', 'file'],
    ['flags.yml:1', 'file'],
    ['', 'file'],
  ])('with origin %j have the kind %s', (text, origin) => {
    expect(originOf(text)).toBe(origin);
  });

  it.each([
    ['queue.worker_count', 'queue'],
    ['agents["my.agent"].x', 'agents'],
    ['top', 'top'],
    ['', ''],
    ['.odd', '.odd'],
  ])('%j is in section %j', (path, section) => {
    expect(sectionOf(path)).toBe(section);
  });

  it('are grouped by section in the given order, for any section name', () => {
    const lines = linesOf([
      setting('b.x'),
      setting('a.x'),
      setting('b.y'),
      setting('__proto__.z'),
      setting('constructor'),
    ]);
    expect(lines.map((line) => (line.kind === 'section' ? `${line.name} ${line.count}` : line.setting.path))).toEqual([
      'b 2',
      'b.x',
      'b.y',
      'a 1',
      'a.x',
      '__proto__ 1',
      '__proto__.z',
      'constructor 1',
      'constructor',
    ]);
  });

  it('match if path, value or origin contain every word', () => {
    const settings = [
      setting('queue.worker_count', 'flag --workers', '8'),
      setting('system.mcp_startup', 'tarsy.yaml:3', 'strict'),
    ];
    expect(findSettings(settings, '', origins)).toHaveLength(2);
    expect(findSettings(settings, ' WORKER  flag ', origins)).toEqual([settings[0]]);
    expect(findSettings(settings, 'strict', origins)).toEqual([settings[1]]);
    expect(findSettings(settings, 'strict worker', origins)).toEqual([]);
    expect(findSettings(settings, '.*(', origins)).toEqual([]);
    expect(findSettings(settings, '', ['file'])).toEqual([settings[1]]);
    expect(countOrigins(settings)).toEqual({ file: 1, env: 0, flag: 1, 'built-in': 0 });
  });
});

describe('tools', () => {
  const server = (id: string, ...tools: [string, string][]): MCPServer => ({
    id,
    healthy: true,
    checked: true,
    error: '',
    last_check: null,
    tool_count: tools.length,
    transport: 'stdio',
    tools: tools.map(([name, description]) => ({ name, description, read_only: true, input_schema: {} })),
  });
  const servers = [
    server('kubernetes', ['pods_list', 'Lists pods'], ['logs', 'Reads a log']),
    server('grafana', ['query', 'Asks for logs']),
  ];
  const names = (text: string) =>
    findTools(servers, text).map((found) => [found.id, ...found.tools.map((tool) => tool.name)]);

  it('are found by name, description and server', () => {
    expect(names('')).toEqual([
      ['kubernetes', 'pods_list', 'logs'],
      ['grafana', 'query'],
    ]);
    expect(names('LOG')).toEqual([
      ['kubernetes', 'logs'],
      ['grafana', 'query'],
    ]);
    expect(names('grafana log')).toEqual([['grafana', 'query']]);
    expect(names('kube')).toEqual([['kubernetes', 'pods_list', 'logs']]);
    expect(names('[')).toEqual([]);
  });
});

describe('the address of the System page', () => {
  it('has tab, range, search and origins, and ignores unknown values', () => {
    expect(readSystemSearch({ tab: 'usage', days: '7', q: 'pods', origin: 'env,file' })).toEqual({
      tab: 'usage',
      days: 7,
      q: 'pods',
      origin: ['file', 'env'],
    });
    expect(readSystemSearch({ tab: 'x', days: '8', q: ' ', origin: 'moon' })).toEqual({});
  });
});
