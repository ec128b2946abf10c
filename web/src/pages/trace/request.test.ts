import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shellQuote } from '@/text/shell';
import { chatCommand, chatRequest, fetchCommand, plainJson, toolCommand } from './request';

describe('a call as a command', () => {
  /** Returns what a real shell prints for a command. */
  function sh(command: string): string {
    return spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).stdout;
  }

  const hostile = [
    `'; touch /tmp/owned; '`,
    '$(id) `id` $HOME \\ " \' \n\r\t !!',
    "''''",
    '@/etc/passwd',
    '-o /tmp/x',
    '\u0000\u001b[2J\u009b31m\u202e\u2028',
    '\ud800 lone',
  ];

  test('quoting any text survives a shell', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'grapheme' })), (text) => {
        // A command line is UTF-8 and cannot contain a lone surrogate.
        const whole = text.replace(/\p{Surrogate}/gu, '?');
        expect(sh(`printf %s ${shellQuote(whole)}`)).toBe(whole.replaceAll('\0', ''));
      }),
      { numRuns: 60 },
    );
  });

  const messages = (content: string) => [
    { role: 'system', content: 'You help.', tool_calls: [], tool_call_id: '', tool_name: '' },
    { role: 'user', content, tool_calls: [], tool_call_id: '', tool_name: '' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: '1', name: content, arguments: content }],
      tool_call_id: '',
      tool_name: '',
    },
    { role: 'tool', content, tool_calls: [], tool_call_id: '1', tool_name: content },
  ];
  /** Replaces curl and prints the body. */
  const fakeCurl =
    'curl() { while [ $# -gt 0 ]; do if [ "$1" = --data-raw ]; then printf %s "$2"; fi; shift; done; }\n';

  test.each(hostile)('the request body is unchanged by the shell: %j', (text) => {
    const call = { model_name: text, conversation: messages(text) };
    expect(JSON.parse(sh(fakeCurl + chatCommand(call)))).toEqual(JSON.parse(JSON.stringify(chatRequest(call))));
    const tool = { tool_name: text, tool_arguments: { [text]: [text] } };
    expect(JSON.parse(sh(fakeCurl + toolCommand(tool)))).toMatchObject({
      method: 'tools/call',
      params: { name: text, arguments: expect.anything() },
    });
  });

  test('it has no terminal control characters', () => {
    const text = hostile.join('');
    const command = chatCommand({ model_name: text, conversation: messages(text) });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    expect(command).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
    expect(JSON.parse(plainJson({ text }))).toEqual({ text });
  });

  test('a conversation becomes the body of a chat request', () => {
    const { messages: sent } = chatRequest({ model_name: 'gemini', conversation: messages('hello') });
    expect(sent[2]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: '1', type: 'function', function: { name: 'hello', arguments: 'hello' } }],
    });
    expect(sent[3]).toEqual({ role: 'tool', content: 'hello', tool_call_id: '1' });
  });

  test('the fetch command has the server and takes the key from the environment', () => {
    expect(fetchCommand('https://tarsy.example', 'a/b', 'llm', "x'y")).toBe(
      `curl -H "Authorization: Bearer $TARSY_TOKEN" 'https://tarsy.example/api/v1/sessions/a%2Fb/trace/llm/x'\\''y'`,
    );
  });
});
