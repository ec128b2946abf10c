// The openai package against Responses.
import OpenAI from 'openai';
import { assert, base, causeSchema, collect, fails, hostile, lane, namespaceSchema, post } from './check.mjs';

const { check, headers: own, journal } = lane('responses');
const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${base}/v1`, defaultHeaders: own, maxRetries: 2 });
const { responses } = client;
const ask = { model: 'model-one', instructions: 'Be short.', input: 'What is wrong?' };
const tools = ['get_pods', 'get_events', 'get_time'].map((name) => ({ type: 'function', name, strict: false, parameters: namespaceSchema }));
const calls = (answer) => answer.output.filter((item) => item.type === 'function_call');

await check('text', async (headers) => {
  const answer = await responses.create(ask, { headers });
  assert.match(answer.id, /^resp_/);
  assert.equal(answer.object, 'response');
  assert.equal(answer.status, 'completed');
  assert.equal(answer.output_text, 'The disk is full.');
  assert.equal(answer.output[0].type, 'message');
  assert.equal(answer.output[0].role, 'assistant');
  assert.equal(answer.output[0].status, 'completed');
  assert.match(answer.output[0].id, /^msg_/);
  assert.deepEqual(answer.output[0].content[0].annotations, []);
  assert.equal(answer.error, null);
  assert.equal(answer.incomplete_details, null);
  assert.equal(answer.usage.input_tokens, 120);
  assert.equal(answer.usage.output_tokens, 7);
  assert.equal(answer.usage.total_tokens, 127);
  assert.equal(answer.usage.input_tokens_details.cached_tokens, 100);
});

await check('stream', async (headers) => {
  const events = await collect(await responses.create({ ...ask, stream: true }, { headers }));
  const text = 'The disk of db-1 is full, because logs are kept for ever.';
  const types = events.map((e) => e.type);
  assert.deepEqual(types.slice(0, 4), ['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added']);
  assert.deepEqual(types.slice(-4), ['response.output_text.done', 'response.content_part.done', 'response.output_item.done', 'response.completed']);
  assert.deepEqual(events.map((e) => e.sequence_number), events.map((_, i) => i));
  const deltas = events.filter((e) => e.type === 'response.output_text.delta');
  assert.equal(deltas.map((e) => e.delta).join(''), text);
  assert.ok(deltas.every((e) => e.item_id === events[2].item.id && e.output_index === 0 && e.content_index === 0));
  assert.equal(events.at(-4).text, text);
  assert.equal(events.at(-1).response.output[0].content[0].text, text);
  assert.equal(events.at(-1).response.usage.total_tokens, 127);
});

await check('helper', async (headers) => {
  const answer = await responses.stream(ask, { headers }).finalResponse();
  assert.equal(answer.output_text, 'Put together by the SDK.');
  assert.equal(answer.usage.output_tokens, 5);
});

await check('hostile', async (headers) => {
  assert.equal((await responses.stream(ask, { headers }).finalResponse()).output_text, hostile);
  assert.equal((await responses.create(ask, { headers })).output_text, hostile);
});

await check('raw', async (headers) => {
  const { type, text } = await post('/v1/responses', headers, { ...ask, stream: true });
  assert.match(type, /^text\/event-stream/);
  const frames = text.trimEnd().split('\n\n');
  assert.ok(frames.every((f) => f.split('\n')[0] === `event: ${JSON.parse(f.split('\n')[1].slice('data: '.length)).type}`), text);
  assert.ok(!text.includes('[DONE]'));
});

await check('empty', async (headers) => {
  const answer = await responses.create(ask, { headers });
  assert.equal(answer.status, 'completed');
  assert.equal(answer.output_text, '');
});

await check('length', async (headers) => {
  const answer = await responses.create(ask, { headers });
  assert.equal(answer.status, 'incomplete');
  assert.equal(answer.incomplete_details.reason, 'max_output_tokens');
});

await check('tool', async (headers) => {
  const answer = await responses.create({ ...ask, tools }, { headers });
  const [call] = calls(answer);
  assert.equal(calls(answer).length, 1);
  assert.match(call.id, /^fc_/);
  assert.ok(call.call_id);
  assert.equal(call.status, 'completed');
  assert.deepEqual(JSON.parse(call.arguments), { namespace: 'shop', limit: 3 });
});

function requireSeveral(answer) {
  assert.equal(answer.output_text, 'I look.');
  assert.deepEqual(calls(answer).map((c) => c.name), ['get_pods', 'get_events', 'get_time']);
  assert.deepEqual(calls(answer).map((c) => JSON.parse(c.arguments)), [{ namespace: 'shop', limit: 3 }, { namespace: 'shöp "2"' }, {}]);
  assert.equal(new Set(calls(answer).map((c) => c.call_id)).size, 3);
}

await check('tools', async (headers) => requireSeveral(await responses.create({ ...ask, tools }, { headers })));

await check('tools-stream', async (headers) => {
  const stream = responses.stream({ ...ask, tools }, { headers });
  const done = [];
  stream.on('response.function_call_arguments.delta', (e) => done.push(e.snapshot));
  requireSeveral(await stream.finalResponse());
  assert.deepEqual(JSON.parse(done.at(-1)), {});
});

await check('round-trip', async (headers) => {
  const first = await responses.create({ ...ask, tools }, { headers });
  const input = calls(first).map((c) => (
    { type: 'function_call_output', call_id: c.call_id, output: `Running in ${JSON.parse(c.arguments).namespace}` }));
  const second = await responses.create({ ...ask, previous_response_id: first.id, input, tools }, { headers });
  assert.equal(second.output_text, 'All pods run.');
  assert.equal(second.previous_response_id, first.id);
});

await check('thinking', async (headers) => {
  const reasoning = { effort: 'high', summary: 'auto' };
  const include = ['reasoning.encrypted_content'];
  const first = await responses.create({ ...ask, reasoning, include, store: false }, { headers });
  assert.deepEqual(first.output.map((item) => item.type), ['reasoning', 'message']);
  const [thought] = first.output;
  assert.match(thought.id, /^rs_/);
  assert.deepEqual(thought.summary, [{ type: 'summary_text', text: 'Let me see what it is.' }]);
  assert.equal(thought.encrypted_content, 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==');
  assert.equal(first.usage.output_tokens, 14);
  assert.equal(first.usage.output_tokens_details.reasoning_tokens, 11);
  const input = [{ role: 'user', content: ask.input }, ...first.output, { role: 'user', content: 'And now?' }];
  assert.equal((await responses.create({ ...ask, input, reasoning, include, store: false }, { headers })).output_text, 'Still the same.');
  const [, second] = await journal('thinking', 2);
  assert.equal(second.body.input[1].encrypted_content, 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==');
});

await check('thinking-stream', async (headers) => {
  const stream = responses.stream({ ...ask, reasoning: { summary: 'auto' }, include: ['reasoning.encrypted_content'], store: false }, { headers });
  let thought = '';
  stream.on('response.reasoning_summary_text.delta', (e) => { thought += e.delta; });
  const answer = await stream.finalResponse();
  assert.equal(thought, 'Let me see what it is.');
  assert.equal(answer.output[0].summary[0].text, thought);
  assert.equal(answer.output[0].encrypted_content, 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==');
  assert.equal(answer.output_text, 'I see.');
});

await check('schema', async (headers) => {
  const answer = await responses.parse({ ...ask, text: { format: { type: 'json_schema', name: 'cause', strict: true, schema: causeSchema } } }, { headers });
  assert.deepEqual(JSON.parse(answer.output_text), { cause: 'disk full', certain: true });
});

for (const [name, type, status, code] of [
  ['bad-request', OpenAI.BadRequestError, 400, 'invalid_value'],
  ['unauthorized', OpenAI.AuthenticationError, 401, 'invalid_api_key'],
  ['not-found', OpenAI.NotFoundError, 404, 'model_not_found'],
]) {
  await check(name, async (headers) => {
    const e = await fails(() => responses.create(ask, { headers }));
    assert.ok(e instanceof type, `${e}`);
    assert.equal(e.status, status);
    assert.equal(e.code, code);
    await journal(name, 1);
  });
}

await check('refused', async (headers) => {
  const input = [{ type: 'function_call_output', call_id: 'call_9', output: 'x' }];
  const e = await fails(() => responses.create({ ...ask, input }, { headers }));
  assert.ok(e instanceof OpenAI.BadRequestError, `${e}`);
  assert.match(e.message, /call_9/);
});

await check('rate-limit', async (headers) => {
  const began = Date.now();
  assert.equal((await responses.create(ask, { headers })).output_text, 'At last.');
  assert.ok(Date.now() - began >= 1900, 'it waited as long as Retry-After said');
  assert.deepEqual((await journal('rate-limit', 3)).map((e) => e.status), [429, 429, 200]);
});

await check('server-error', async (headers) => {
  assert.equal((await responses.stream(ask, { headers }).finalResponse()).output_text, 'It is up again.');
  assert.deepEqual((await journal('server-error', 2)).map((e) => e.status), [500, 200]);
});

await check('give-up', async (headers) => {
  const e = await fails(() => responses.create(ask, { headers, maxRetries: 1 }));
  assert.equal(e.status, 503);
  await journal('give-up', 2);
});

await check('late-error', async (headers) => {
  let seen;
  const e = await fails(async () => {
    for await (const event of await responses.create({ ...ask, stream: true }, { headers })) {
      if (event.type === 'error' || event.type === 'response.failed') {
        seen = event;
        throw new Error(event.message ?? event.response.error.message);
      }
    }
  });
  assert.match(e.message, /The model fell over/);
  assert.ok(seen || e instanceof OpenAI.APIError);
});

await check('abort', async (headers) => {
  const controller = new AbortController();
  const stream = await responses.create({ ...ask, stream: true }, { headers, signal: controller.signal });
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') controller.abort();
  }
  const [entry] = await journal('abort', 1);
  assert.equal(entry.cancelled, true);
});

await check('dropped', async (headers) => {
  const e = await fails(() => responses.create(ask, { headers, maxRetries: 0 }));
  assert.ok(e instanceof OpenAI.APIConnectionError, `${e}`);
});

for (const name of ['dropped-stream', 'malformed-stream']) {
  await check(name, async (headers) => {
    let text = '';
    await fails(async () => {
      for await (const event of await responses.create({ ...ask, stream: true }, { headers })) text += event.type === 'response.output_text.delta' ? event.delta : '';
    });
    assert.equal(text, 'one two ');
  });
}

await check('count-tokens', async (headers) => {
  const count = await responses.inputTokens.count(ask, { headers });
  assert.equal(count.object, 'response.input_tokens');
  assert.ok(count.input_tokens > 0);
});
