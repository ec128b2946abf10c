// The @anthropic-ai/sdk package against Messages.
import Anthropic from '@anthropic-ai/sdk';
import { assert, base, causeSchema, collect, fails, hostile, lane, namespaceSchema, post } from './check.mjs';

const { check, headers: own, journal } = lane('anthropic');
const client = new Anthropic({ apiKey: 'sk-ant-test', authToken: null, baseURL: base, defaultHeaders: own, maxRetries: 2 });
const { messages } = client;
const ask = { model: 'model-one', max_tokens: 4000, system: 'Be short.', messages: [{ role: 'user', content: 'What is wrong?' }] };
const tools = ['get_pods', 'get_events', 'get_time'].map((name) => ({ name, input_schema: namespaceSchema }));
const text = (answer) => answer.content.filter((b) => b.type === 'text').map((b) => b.text).join('');
const calls = (answer) => answer.content.filter((b) => b.type === 'tool_use');
const proof = 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==';

await check('text', async (headers) => {
  const answer = await messages.create(ask, { headers });
  assert.match(answer.id, /^msg_/);
  assert.equal(answer.type, 'message');
  assert.equal(answer.role, 'assistant');
  assert.equal(answer.model, 'model-one');
  assert.equal(answer.stop_reason, 'end_turn');
  assert.equal(answer.stop_sequence, null);
  assert.equal(answer.content.length, 1);
  assert.equal(answer.content[0].text, 'The disk is full.');
  assert.equal(answer.usage.input_tokens, 20, 'cached tokens are counted apart');
  assert.equal(answer.usage.cache_read_input_tokens, 100);
  assert.equal(answer.usage.output_tokens, 7);
  assert.match(answer._request_id, /^req_/);
});

await check('stream', async (headers) => {
  const events = await collect(await messages.create({ ...ask, stream: true }, { headers }));
  assert.deepEqual(events.map((e) => e.type).filter((type, i, all) => type !== all[i - 1]), [
    'message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta', 'message_stop',
  ]);
  assert.equal(events[0].message.stop_reason, null);
  assert.deepEqual(events[0].message.content, []);
  assert.equal(events[0].message.usage.input_tokens, 20);
  assert.equal(events[0].message.usage.cache_read_input_tokens, 100);
  assert.equal(events.filter((e) => e.type === 'content_block_delta').map((e) => e.delta.text).join(''),
    'The disk of db-1 is full, because logs are kept for ever.');
  assert.equal(events.at(-2).delta.stop_reason, 'end_turn');
  assert.equal(events.at(-2).usage.input_tokens, 20);
  assert.equal(events.at(-2).usage.cache_read_input_tokens, 100);
  assert.equal(events.at(-2).usage.output_tokens, 7);
});

await check('helper', async (headers) => {
  let heard = '';
  const stream = messages.stream(ask, { headers }).on('text', (delta) => { heard += delta; });
  const answer = await stream.finalMessage();
  assert.equal(text(answer), 'Put together by the SDK.');
  assert.equal(heard, text(answer));
  assert.equal(answer.stop_reason, 'end_turn');
  assert.equal(answer.usage.output_tokens, 5);
});

await check('hostile', async (headers) => {
  assert.equal(text(await messages.stream(ask, { headers }).finalMessage()), hostile);
  assert.equal(text(await messages.create(ask, { headers })), hostile);
});

await check('raw', async (headers) => {
  const { type, text } = await post('/v1/messages', headers, { ...ask, stream: true });
  assert.match(type, /^text\/event-stream/);
  const frames = text.trimEnd().split('\n\n');
  assert.ok(frames.every((f) => f.split('\n')[0] === `event: ${JSON.parse(f.split('\n')[1].slice('data: '.length)).type}`), text);
  assert.ok(frames.some((f) => f.startsWith('event: ping')), 'there is a ping');
});

await check('empty', async (headers) => {
  const answer = await messages.create(ask, { headers });
  assert.deepEqual(answer.content, []);
  assert.equal(answer.stop_reason, 'end_turn');
});

await check('length', async (headers) => {
  assert.equal((await messages.create(ask, { headers })).stop_reason, 'max_tokens');
});

await check('tool', async (headers) => {
  const answer = await messages.create({ ...ask, tools }, { headers });
  assert.equal(answer.stop_reason, 'tool_use');
  assert.equal(calls(answer).length, 1);
  assert.ok(calls(answer)[0].id);
  assert.deepEqual(calls(answer)[0].input, { namespace: 'shop', limit: 3 });
});

function requireSeveral(answer) {
  assert.equal(text(answer), 'I look.');
  assert.deepEqual(calls(answer).map((c) => c.name), ['get_pods', 'get_events', 'get_time']);
  assert.deepEqual(calls(answer).map((c) => c.input), [{ namespace: 'shop', limit: 3 }, { namespace: 'shöp "2"' }, {}]);
  assert.equal(new Set(calls(answer).map((c) => c.id)).size, 3);
  assert.equal(answer.stop_reason, 'tool_use');
}

await check('tools', async (headers) => requireSeveral(await messages.create({ ...ask, tools }, { headers })));

await check('tools-stream', async (headers) => requireSeveral(await messages.stream({ ...ask, tools }, { headers }).finalMessage()));

await check('round-trip', async (headers) => {
  const first = await messages.create({ ...ask, tools }, { headers });
  const results = calls(first).map((c) => ({ type: 'tool_result', tool_use_id: c.id, content: `Running in ${c.input.namespace}` }));
  const conversation = [...ask.messages, { role: 'assistant', content: first.content }, { role: 'user', content: results }];
  assert.equal(text(await messages.create({ ...ask, tools, messages: conversation }, { headers })), 'All pods run.');
});

const thinking = { type: 'enabled', budget_tokens: 2000 };

await check('thinking', async (headers) => {
  const first = await messages.create({ ...ask, thinking }, { headers });
  assert.deepEqual(first.content.map((b) => b.type), ['thinking', 'text']);
  assert.equal(first.content[0].thinking, 'Let me see what it is.');
  assert.equal(first.content[0].signature, proof);
  assert.equal(first.usage.output_tokens, 14, 'thinking is part of the output');
  const conversation = [...ask.messages, { role: 'assistant', content: first.content }, { role: 'user', content: 'And now?' }];
  assert.equal(text(await messages.create({ ...ask, thinking, messages: conversation }, { headers })), 'Still the same.');
  const [, second] = await journal('thinking', 2);
  assert.equal(second.body.messages[1].content[0].signature, proof);
});

await check('thinking-stream', async (headers) => {
  const heard = { thinking: '', signatures: [] };
  const stream = messages.stream({ ...ask, thinking }, { headers })
    .on('thinking', (delta) => { heard.thinking += delta; })
    .on('signature', (signature) => { heard.signatures.push(signature); });
  const answer = await stream.finalMessage();
  assert.equal(heard.thinking, 'Let me see what it is.');
  assert.equal(heard.signatures.at(-1), proof);
  assert.equal(answer.content.findLast((b) => b.type === 'thinking').signature, proof);
  assert.ok(answer.content.filter((b) => b.type === 'thinking').every((b) => b.signature), 'no thinking is without proof');
  assert.equal(text(answer), 'I see.');
});

await check('schema', async (headers) => {
  const answer = await messages.create({ ...ask, output_config: { format: { type: 'json_schema', schema: causeSchema } } }, { headers });
  assert.deepEqual(JSON.parse(text(answer)), { cause: 'disk full', certain: true });
});

for (const [name, type, status, kind] of [
  ['bad-request', Anthropic.BadRequestError, 400, 'invalid_request_error'],
  ['unauthorized', Anthropic.AuthenticationError, 401, 'authentication_error'],
  ['not-found', Anthropic.NotFoundError, 404, 'not_found_error'],
]) {
  await check(name, async (headers) => {
    const e = await fails(() => messages.create(ask, { headers }));
    assert.ok(e instanceof type, `${e}`);
    assert.equal(e.status, status);
    assert.equal(e.error.type, 'error');
    assert.equal(e.error.error.type, kind);
    assert.ok(e.error.error.message);
    assert.match(e.requestID, /^req_/);
    await journal(name, 1);
  });
}

await check('refused', async (headers) => {
  const conversation = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_9', content: 'x' }] }];
  const e = await fails(() => messages.create({ ...ask, messages: conversation }, { headers }));
  assert.ok(e instanceof Anthropic.BadRequestError, `${e}`);
  assert.match(e.message, /toolu_9/);
});

await check('rate-limit', async (headers) => {
  const began = Date.now();
  assert.equal(text(await messages.create(ask, { headers })), 'At last.');
  assert.ok(Date.now() - began >= 1900, 'it waited as long as Retry-After said');
  assert.deepEqual((await journal('rate-limit', 3)).map((e) => e.status), [429, 429, 200]);
});

await check('server-error', async (headers) => {
  assert.equal(text(await messages.stream(ask, { headers }).finalMessage()), 'It is up again.');
  assert.deepEqual((await journal('server-error', 2)).map((e) => e.status), [500, 200]);
});

await check('give-up', async (headers) => {
  const e = await fails(() => messages.create(ask, { headers, maxRetries: 1 }));
  assert.ok(e instanceof Anthropic.InternalServerError, `${e}`);
  assert.equal(e.status, 503);
  await journal('give-up', 2);
});

await check('late-error', async (headers) => {
  const e = await fails(async () => collect(await messages.create({ ...ask, stream: true }, { headers })));
  assert.ok(e instanceof Anthropic.APIError, `${e}`);
  assert.match(e.message, /The model fell over/);
});

await check('abort', async (headers) => {
  const stream = messages.stream(ask, { headers });
  stream.on('text', () => stream.abort());
  const e = await fails(() => stream.finalMessage());
  assert.ok(e instanceof Anthropic.APIUserAbortError, `${e}`);
  const [entry] = await journal('abort', 1);
  assert.equal(entry.cancelled, true);
});

await check('dropped', async (headers) => {
  const e = await fails(() => messages.create(ask, { headers, maxRetries: 0 }));
  assert.ok(e instanceof Anthropic.APIConnectionError, `${e}`);
});

await check('dropped-stream', async (headers) => {
  let heard = '';
  await fails(async () => {
    for await (const event of await messages.create({ ...ask, stream: true }, { headers })) heard += event.delta?.text ?? '';
  });
  assert.equal(heard, 'one two ');
});

await check('malformed-stream', async (headers) => {
  let heard = '';
  const stream = messages.stream(ask, { headers }).on('text', (delta) => { heard += delta; });
  await fails(() => stream.finalMessage());
  assert.equal(heard, 'one two ');
});

await check('count-tokens', async (headers) => {
  const { max_tokens, ...question } = ask;
  assert.ok((await messages.countTokens(question, { headers })).input_tokens > 0);
});

await check('models', async () => {
  assert.deepEqual((await collect(client.models.list())).map((m) => m.id), ['model-one', 'model-two']);
  const model = await client.models.retrieve('model-one');
  assert.equal(model.type, 'model');
  assert.ok(model.display_name);
});
