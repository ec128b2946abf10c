import { describe, expect, it } from 'vitest';
import type { SessionDetail } from '@/api/types';
import { contentOf, readFiles } from './file';
import { bodyOf, draftOf, emptyForm, formOf, isEmpty, partOf, requestOf, type SubmitForm, tooLarge } from './form';
import { checkJSON } from './payload';
import { asConfigured, hasTool, missingTools, selectionOf, serverState, toggleServer, toggleTool } from './selection';

const session = (parts: Partial<SessionDetail>) =>
  ({
    alert_type: 'kubernetes',
    alert_data: 'x',
    runbook: '',
    runbook_url: '',
    mcp_selection: null,
    ...parts,
  }) as SessionDetail;

describe('the request', () => {
  it('has only filled-in fields', () => {
    expect(requestOf(emptyForm, '')).toEqual({});
    expect(requestOf({ ...emptyForm, runbook: 'url', runbookURL: '  ' }, 'kubernetes')).toEqual({
      alert_type: 'kubernetes',
    });
  });

  it('has only the runbook of the chosen kind', () => {
    const form: SubmitForm = { ...emptyForm, runbookURL: ' https://x.test/r.md ', runbookText: '# Steps' };
    expect(requestOf(form, '')).toEqual({});
    expect(requestOf({ ...form, runbook: 'url' }, '')).toEqual({ runbook_url: 'https://x.test/r.md' });
    expect(requestOf({ ...form, runbook: 'text' }, '')).toEqual({ runbook: '# Steps' });
  });

  it('has the tool selection only if chosen', () => {
    const form: SubmitForm = {
      ...emptyForm,
      servers: [{ name: 'k8s' }],
      native: { ...asConfigured, google_search: 'off' },
    };
    expect(requestOf(form, '')).toEqual({});
    expect(requestOf({ ...form, tools: 'own' }, '')).toEqual({
      mcp_selection: { servers: [{ name: 'k8s' }], native_tools: { google_search: false } },
    });
  });

  it('keeps all digits of JSON numbers', () => {
    const checked = checkJSON('{"id": 12345678901234567890}');
    const body = bodyOf({ alert_type: 'a"b' }, checked.ok ? checked.data : '');
    expect(body).toBe('{"data":{"id": 12345678901234567890},"alert_type":"a\\"b"}');
    expect(JSON.parse(bodyOf({}, '[1]'))).toEqual({ data: [1] });
  });

  it('is refused before sending if it is too large', () => {
    expect(tooLarge('x'.repeat(1 << 20))).toBeNull();
    expect(tooLarge('é'.repeat((1 << 19) + 1))).toMatch(/limit is 1\.00 MiB/);
  });
});

describe('a resubmitted session', () => {
  it('fills in the whole form', () => {
    const form = formOf(
      session({
        alert_data: '{\n  "pod": "web-1"\n}',
        runbook_url: 'https://x.test/r.md',
        runbook: 'what was read there',
        mcp_selection: {
          servers: [{ name: 'k8s', tools: ['get'] }],
          native_tools: { code_execution: false, url_context: true },
        },
      }),
    );
    expect(form).toEqual({
      alertType: 'kubernetes',
      format: 'json',
      payload: '{\n  "pod": "web-1"\n}',
      runbook: 'url',
      runbookURL: 'https://x.test/r.md',
      runbookText: '',
      tools: 'own',
      servers: [{ name: 'k8s', tools: ['get'] }],
      native: { google_search: 'configured', code_execution: 'off', url_context: 'configured' },
    });
  });

  it('requests the same selection again', () => {
    const selection = { servers: [{ name: 'k8s', tools: ['get'] }], native_tools: { url_context: false } };
    const form = formOf(session({ mcp_selection: selection }));
    expect(requestOf(form, form.alertType).mcp_selection).toEqual(selection);
  });

  it('keeps plain text and the text of the runbook', () => {
    expect(formOf(session({ alert_data: 'a: 1', runbook: '# R' }))).toMatchObject({
      format: 'text',
      runbook: 'text',
      runbookText: '# R',
      tools: 'chain',
    });
  });
});

describe('the selection of tools', () => {
  const offered = ['get', 'list', 'delete'];

  it('excludes one tool, and includes all again', () => {
    let servers = toggleServer([], 'k8s');
    expect(serverState(servers, 'k8s')).toBe('all');
    expect(hasTool(servers, 'k8s', 'anything')).toBe(true);
    servers = toggleTool(servers, 'k8s', 'delete', offered);
    expect(servers).toEqual([{ name: 'k8s', tools: ['get', 'list'] }]);
    expect(serverState(servers, 'k8s')).toBe('some');
    servers = toggleTool(servers, 'k8s', 'delete', offered);
    expect(servers).toEqual([{ name: 'k8s' }]);
    expect(toggleServer(servers, 'k8s')).toEqual([]);
  });

  it('never turns "no tool" into "all tools"', () => {
    const one = toggleTool([], 'k8s', 'get', offered);
    expect(one).toEqual([{ name: 'k8s', tools: ['get'] }]);
    expect(toggleTool(one, 'k8s', 'get', offered)).toEqual([]);
  });

  it('selects all tools of a server with a partial selection', () => {
    expect(toggleServer([{ name: 'k8s', tools: ['get'] }], 'k8s')).toEqual([{ name: 'k8s' }]);
  });

  it('keeps the order, and missing tools until they are removed', () => {
    const servers = [{ name: 'a' }, { name: 'k8s', tools: ['gone', 'get'] }, { name: 'z' }];
    expect(missingTools(servers, 'k8s', offered)).toEqual(['gone']);
    expect(missingTools(servers, 'a', offered)).toEqual([]);
    const without = toggleTool(servers, 'k8s', 'gone', offered);
    expect(without).toEqual([{ name: 'a' }, { name: 'k8s', tools: ['get'] }, { name: 'z' }]);
  });

  it('is not reported as all tools while it has a missing tool', () => {
    const servers = toggleTool([{ name: 'k8s', tools: ['gone', 'get', 'list'] }], 'k8s', 'delete', offered);
    expect(servers).toEqual([{ name: 'k8s', tools: ['gone', 'get', 'list', 'delete'] }]);
  });

  it('accepts servers named like object properties', () => {
    expect(selectionOf(toggleServer([], '__proto__'), asConfigured)).toEqual({ servers: [{ name: '__proto__' }] });
  });
});

describe('the form part of a problem', () => {
  it.each([
    ['alert_type', 'unknown_alert_type', 'alert_type'],
    ['data', 'invalid_field', 'data'],
    ['runbook_url', 'invalid_field', 'runbook_url'],
    ['runbook', 'invalid_field', 'runbook'],
    ['mcp_selection.servers', 'unknown_mcp_server', 'mcp_selection'],
    ['mcp_selection.servers[1].tools[0]', 'invalid_field', 'mcp_selection'],
    ['', 'payload_too_large', 'data'],
    ['', 'overloaded', null],
    ['Content-Type', 'unsupported_media_type', null],
    ['database', 'invalid_field', null],
  ])('for field %j (%s) is %s', (field, code, part) => {
    expect(partOf(field, code)).toBe(part);
  });
});

describe('a draft', () => {
  it('is restored unchanged', () => {
    const form: SubmitForm = {
      ...emptyForm,
      alertType: 'x',
      format: 'yaml',
      payload: 'a: 1',
      runbook: 'text',
      runbookText: '#',
      tools: 'own',
      servers: [{ name: 'k8s', tools: ['get'] }, { name: 'all' }],
      native: { ...asConfigured, url_context: 'off' },
    };
    expect(draftOf(JSON.stringify(form))).toEqual(form);
  });

  it.each(['', '{', 'null', '5', '"x"'])('%j is not restored', (stored) => {
    expect(draftOf(stored)).toBeNull();
  });

  it.each([
    '[]',
    '{"alertType": 5, "format": "exe", "runbook": {}, "servers": {"length": 3}, "native": "on"}',
    '{"servers": [null, 5, {"name": 7}, {"name": ""}, []], "native": {"google_search": "maybe", "__proto__": {"x": 1}}}',
  ])('%s is restored as an empty form', (stored) => {
    expect(draftOf(stored)).toEqual(emptyForm);
  });

  it('is restored without duplicate servers and invalid tool names', () => {
    const stored =
      '{"servers": [{"name": "a", "tools": ["x"]}, {"name": "b", "tools": ["x", 5, "x", ""]}, {"name": "a", "tools": [7]}]}';
    expect(draftOf(stored)?.servers).toEqual([{ name: 'a' }, { name: 'b', tools: ['x'] }]);
  });

  it('is not kept if the form is empty', () => {
    expect(isEmpty({ ...emptyForm, alertType: 'x', payload: ' \n' })).toBe(true);
    expect(isEmpty({ ...emptyForm, payload: 'x' })).toBe(false);
  });
});

describe('a payload file', () => {
  const utf8 = (text: string) => new TextEncoder().encode(text);

  it('is read, and its format is detected', () => {
    expect(contentOf('a.yaml', utf8('\ufeffa: 1\r\nb: 2\r\n'))).toEqual({
      ok: true,
      name: 'a.yaml',
      text: 'a: 1\nb: 2\n',
      format: 'yaml',
    });
  });

  it('may be UTF-16 with a byte order mark', () => {
    const content = new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]);
    expect(contentOf('a.json', content)).toMatchObject({ ok: true, text: '{}', format: 'json' });
  });

  it.each([
    ['an image', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a])],
    ['text with a NUL', utf8('a\0b')],
    ['Latin-1', new Uint8Array([0x66, 0xfc, 0x72])],
    ['half of UTF-16', new Uint8Array([0xff, 0xfe, 0x7b])],
  ])('with %s is refused', (_, content) => {
    expect(contentOf('x.txt', content)).toMatchObject({ ok: false, message: expect.stringMatching(/not a text file/) });
  });

  it('is refused if it is empty, too large or one of several', async () => {
    const file = (content: string, name = 'a.txt') => new File([content], name);
    expect(await readFiles([file(' \n')])).toMatchObject({ ok: false, message: 'a.txt is empty.' });
    expect(await readFiles([file('x'.repeat((1 << 20) + 1))])).toMatchObject({
      ok: false,
      message: expect.stringMatching(/limit is 1\.00 MiB/),
    });
    expect(await readFiles([file('a'), file('b')])).toMatchObject({
      ok: false,
      message: expect.stringMatching(/one file at a time/),
    });
    expect(await readFiles([])).toMatchObject({ ok: false });
    expect(await readFiles([file('x', 'y'.repeat(500))])).toMatchObject({ ok: true, name: `${'y'.repeat(80)}…` });
  });
});
