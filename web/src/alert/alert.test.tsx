import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import type { AlertState } from '@/api/types';
import { FactLine, factsOf, titleOf } from './facts';
import { AlertLinks, namedLinks } from './links';
import { matchersOf, readMatchers } from './matchers';
import { severities } from './severities';
import { SeverityBadge, severityLabel } from './severity';
import { AlertMarks, isRepeated, repeats } from './state';

const nothing = { title: '', alert_type: 'pod-crash', service: '', namespace: '', cluster: '', team: '' };

describe('the title of an alert', () => {
  it('falls back to the alert type in sessions from old releases', () => {
    expect(titleOf({ title: 'web-1 crashes', alert_type: 'pod-crash' })).toBe('web-1 crashes');
    expect(titleOf({ title: '', alert_type: 'pod-crash' })).toBe('pod-crash');
  });
});

describe('the facts of an alert', () => {
  it('omit unknown fields, and the alert type if it is the title', () => {
    expect(factsOf(nothing)).toEqual([]);
    expect(factsOf({ ...nothing, title: 'web-1 crashes', service: 'web', team: 'shop' })).toEqual([
      { name: 'Alert type', value: 'pod-crash' },
      { name: 'Service', value: 'web' },
      { name: 'Team', value: 'shop' },
    ]);
  });

  it('have names for screen readers and show hostile text as text', () => {
    const html = renderToStaticMarkup(<FactLine alert={{ ...nothing, service: '<img src=x>' }} />);
    expect(html).toContain('<span class="sr-only">Service </span>&lt;img src=x&gt;');
    expect(renderToStaticMarkup(<FactLine alert={nothing} />)).toBe('');
  });
});

describe('the severity', () => {
  it.each(severities)('%s is shown as a word, not only a colour', (severity) => {
    expect(renderToStaticMarkup(<SeverityBadge severity={severity} />)).toContain(`${severityLabel(severity)}</span>`);
  });

  it('is not shown if the alert has none', () => {
    expect(renderToStaticMarkup(<SeverityBadge severity="" />)).toBe('');
  });
});

describe('links', () => {
  it('are named, and only http(s) links are clickable', () => {
    const links = [
      { kind: 'dashboard' as const, url: 'https://grafana.example/d/1' },
      { kind: 'dashboard' as const, url: 'javascript:alert(1)' },
    ];
    expect(namedLinks(links).map((link) => link.name)).toEqual(['Dashboard', 'Dashboard 2']);
    const html = renderToStaticMarkup(<AlertLinks links={links} />);
    expect(html).toMatch(/<a href="https:\/\/grafana\.example\/d\/1"[^>]*rel="[^"]*noreferrer/);
    expect(html).not.toContain('javascript:');
  });
});

describe('alert state', () => {
  const now = new Date('2026-11-16T12:00:00Z');
  const alert: AlertState = {
    firing: true,
    occurrences: 1,
    last_at: '2026-11-16T11:55:00Z',
    times: [],
    resolved_at: null,
    flapping: false,
    storm: false,
    members: 0,
    firing_members: 0,
    earlier_session_id: null,
  };
  const marks = (state: AlertState | null) => renderToStaticMarkup(<AlertMarks alert={state} />);

  it('shows how often the alert was received if more than once', () => {
    expect(repeats(alert, now)).toBeUndefined();
    expect(repeats({ ...alert, occurrences: 12 }, now)).toEqual({
      short: '×12, last 5 m ago',
      words: 'Received 12 times, last 5 m ago',
    });
  });

  it('shows no badge for a firing alert received once, or without state', () => {
    expect(marks(alert)).toBe('');
    expect(marks(null)).toBe('');
  });

  it('shows badges for resolved, flapping and storm', () => {
    const all = marks({
      ...alert,
      firing: false,
      resolved_at: alert.last_at,
      flapping: true,
      storm: true,
      members: 40,
    });
    expect(all).toContain('Alert resolved');
    expect(all).toContain('Flapping');
    expect(all).toContain('Storm of 40');
  });

  it('does not count the members of a storm as repetitions', () => {
    const storm = { ...alert, storm: true, members: 40 };
    expect(isRepeated({ ...storm, occurrences: 40 })).toBe(false);
    expect(isRepeated({ ...storm, occurrences: 41 })).toBe(true);
  });
});

describe('silence matchers', () => {
  const alert = {
    labels: {},
    alert_type: 'pod-crash',
    title: 'web-1 crashes',
    service: '',
    namespace: 'shop',
    cluster: '',
  };

  it('are the labels of the alert, quoted where necessary', () => {
    const labels = { job: 'say "hi"\\', alertname: 'Disk', 'a b': 'two\nlines' };
    expect(matchersOf({ ...alert, labels })).toEqual([
      '"a b"="two\\nlines"',
      'alertname="Disk"',
      'job="say \\"hi\\"\\\\"',
    ]);
  });

  it('omit labels of a single pod unless there are no others', () => {
    const labels = { alertname: 'PodCrash', pod: 'web-7d9f-x2x7p', instance: '10.0.0.7:9090', namespace: 'shop' };
    expect(matchersOf({ ...alert, labels })).toEqual(['alertname="PodCrash"', 'namespace="shop"']);
    expect(matchersOf({ ...alert, labels: { pod: 'web-1' } })).toEqual(['pod="web-1"']);
  });

  it('fall back to the main fields if the alert has no labels', () => {
    expect(matchersOf(alert)).toEqual(['alert_type="pod-crash"', 'title="web-1 crashes"', 'namespace="shop"']);
  });

  it('are read one per line', () => {
    expect(readMatchers(' a=b \n\n c=~"d.*"\n')).toEqual(['a=b', 'c=~"d.*"']);
  });
});
