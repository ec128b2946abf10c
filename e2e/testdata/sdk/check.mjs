// What the checks of all SDKs share. A check prints one line of JSON: its name, whether it went well, and what was wrong.
import assert from 'node:assert/strict';

export { assert };

export const base = process.env.MOCK_URL;

// The text of the check of hostile text.
export const hostile = '\u2028 " \\ <b>&amp;</b> 😀 日本 \t\r\n\n data: [DONE]\n\nevent: x \x01 end';

export const namespaceSchema = {
  type: 'object',
  properties: { namespace: { type: 'string' }, limit: { type: 'integer' } },
};

export const causeSchema = {
  type: 'object',
  properties: { cause: { type: 'string' }, certain: { type: 'boolean' } },
  required: ['cause', 'certain'],
  additionalProperties: false,
};

// reporter runs checks by name, one after the other.
export async function reporter(prefix, checks) {
  for (const [name, run] of Object.entries(checks)) await report(`${prefix}/${name}`, run);
}

async function report(name, run) {
  let detail = '';
  try {
    await run();
  } catch (e) {
    detail = `${e?.stack ?? e}`;
  }
  console.log(JSON.stringify({ name, ok: detail === '', detail }));
}

// lane makes the checks of one API form.
export function lane(name) {
  const headers = { 'X-Tarsy-Lane': name };

  return {
    headers,
    async check(check, run) {
      await report(`${name}/${check}`, () => run({ ...headers, 'X-Check': check }));
    },
    // journal waits until the server has n entries of a check, which are written when they are over.
    async journal(check, n) {
      for (const began = Date.now(); ; ) {
        const response = await fetch(`${base}/_mock/journal?lane=${name}`);
        const { entries } = await response.json();
        const of = entries.filter((entry) => Object.entries(entry.header).some(([key, value]) => key.toLowerCase() === 'x-check' && value === check));
        if (of.length >= n || Date.now() - began > 20_000) {
          assert.equal(of.length, n, `the journal has ${of.length} entries of ${check}`);

          return of;
        }
      }
    },
  };
}

// fails expects a failure, and returns it.
export async function fails(run) {
  try {
    await run();
  } catch (e) {
    return e;
  }
  assert.fail('it did not fail');
}

// post is a request without an SDK.
export async function post(path, headers, body) {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', Authorization: 'Bearer test', 'x-api-key': 'test', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  });

  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

export async function collect(stream) {
  const all = [];
  for await (const part of stream) all.push(part);

  return all;
}
