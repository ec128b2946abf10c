// The openai package against Chat Completions.
import OpenAI from 'openai';
import { assert, base, causeSchema, collect, fails, hostile, lane, namespaceSchema, post } from './check.mjs';

const { check, headers: own, journal } = lane('chat');
const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${base}/v1`, defaultHeaders: own, maxRetries: 2 });
const chat = client.chat.completions;
const ask = { model: 'model-one', messages: [{ role: 'system', content: 'Be short.' }, { role: 'user', content: 'What is wrong?' }] };
const tools = ['get_pods', 'get_events', 'get_time'].map((name) => ({ type: 'function', function: { name, parameters: namespaceSchema } }));

await check('text', async (headers) => {
  const answer = await chat.create(ask, { headers });
  assert.match(answer.id, /^chatcmpl-/);
  assert.equal(answer.object, 'chat.completion');
  assert.equal(answer.model, 'model-one');
  assert.ok(Math.abs(answer.created - Date.now() / 1000) < 3600, 'created is now');
  assert.equal(answer.choices.length, 1);
  assert.deepEqual(answer.choices[0].message, { role: 'assistant', content: 'The disk is full.', refusal: null, annotations: [] });
  assert.equal(answer.choices[0].finish_reason, 'stop');
  assert.equal(answer.usage.prompt_tokens, 120);
  assert.equal(answer.usage.completion_tokens, 7);
  assert.equal(answer.usage.total_tokens, 127);
  assert.equal(answer.usage.prompt_tokens_details.cached_tokens, 100);
  assert.ok(answer._request_id, 'the SDK finds a request id');
});

await check('stream', async (headers) => {
  const chunks = await collect(await chat.create({ ...ask, stream: true, stream_options: { include_usage: true } }, { headers }));
  assert.equal(chunks.map((c) => c.choices[0]?.delta.content ?? '').join(''), 'The disk of db-1 is full, because logs are kept for ever.');
  assert.equal(chunks[0].choices[0].delta.role, 'assistant');
  assert.ok(chunks.length > 8, 'it comes in pieces');
  assert.equal(new Set(chunks.map((c) => c.id)).size, 1);
  assert.ok(chunks.every((c) => c.object === 'chat.completion.chunk' && c.model === 'model-one'));
  assert.equal(chunks.filter((c) => c.choices[0]?.finish_reason === 'stop').length, 1);
  const last = chunks.at(-1);
  assert.deepEqual(last.choices, []);
  assert.equal(last.usage.total_tokens, 127);
  assert.ok(chunks.slice(0, -1).every((c) => c.usage === null), 'usage is null before the last');
});

await check('helper', async (headers) => {
  const stream = chat.stream({ ...ask, stream_options: { include_usage: true } }, { headers });
  const answer = await stream.finalChatCompletion();
  assert.equal(answer.choices[0].message.content, 'Put together by the SDK.');
  assert.equal(answer.choices[0].finish_reason, 'stop');
  assert.equal((await stream.totalUsage()).completion_tokens, 5);
});

await check('hostile', async (headers) => {
  const chunks = await collect(await chat.create({ ...ask, stream: true }, { headers }));
  assert.equal(chunks.map((c) => c.choices[0]?.delta.content ?? '').join(''), hostile);
  assert.equal((await chat.create(ask, { headers })).choices[0].message.content, hostile);
});

await check('raw', async (headers) => {
  const { status, type, text } = await post('/v1/chat/completions', headers, { ...ask, stream: true });
  assert.equal(status, 200);
  assert.match(type, /^text\/event-stream/);
  assert.ok(text.endsWith('data: [DONE]\n\n'), text);
  assert.ok(!text.includes('"usage":{'), 'usage is sent only if it is asked for');
});

await check('empty', async (headers) => {
  const answer = await chat.create(ask, { headers });
  assert.equal(answer.choices[0].message.content, '');
  assert.equal(answer.choices[0].finish_reason, 'stop');
});

await check('length', async (headers) => {
  assert.equal((await chat.create(ask, { headers })).choices[0].finish_reason, 'length');
});

await check('tool', async (headers) => {
  const answer = await chat.create({ ...ask, tools }, { headers });
  const { message, finish_reason } = answer.choices[0];
  assert.equal(finish_reason, 'tool_calls');
  assert.equal(message.content, null);
  assert.equal(message.tool_calls.length, 1);
  assert.equal(message.tool_calls[0].type, 'function');
  assert.ok(message.tool_calls[0].id);
  assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), { namespace: 'shop', limit: 3 });
});

function requireSeveral(message) {
  assert.equal(message.content, 'I look.');
  assert.deepEqual(message.tool_calls.map((c) => c.function.name), ['get_pods', 'get_events', 'get_time']);
  assert.deepEqual(message.tool_calls.map((c) => JSON.parse(c.function.arguments)), [{ namespace: 'shop', limit: 3 }, { namespace: 'shöp "2"' }, {}]);
  assert.equal(new Set(message.tool_calls.map((c) => c.id)).size, 3);
}

await check('tools', async (headers) => requireSeveral((await chat.create({ ...ask, tools }, { headers })).choices[0].message));

await check('tools-stream', async (headers) => {
  const answer = await chat.stream({ ...ask, tools }, { headers }).finalChatCompletion();
  requireSeveral(answer.choices[0].message);
  assert.equal(answer.choices[0].finish_reason, 'tool_calls');
});

await check('round-trip', async (headers) => {
  const runner = chat.runTools({
    ...ask,
    tools: [{
      type: 'function',
      function: { name: 'get_pods', parameters: namespaceSchema, parse: JSON.parse, function: ({ namespace }) => `Running in ${namespace}` },
    }],
  }, { headers });
  assert.equal(await runner.finalContent(), 'All pods run.');
  const [, second] = await journal('round-trip', 2);
  assert.deepEqual(second.body.messages.filter((m) => m.role === 'tool').map((m) => m.content), ['Running in shop', 'Running in web']);
});

await check('thinking', async (headers) => {
  const answer = await chat.create({ ...ask, reasoning_effort: 'high' }, { headers });
  assert.equal(answer.choices[0].message.content, 'I see.');
  assert.equal(answer.usage.completion_tokens, 14, 'reasoning is part of the completion');
  assert.equal(answer.usage.completion_tokens_details.reasoning_tokens, 11);
  const again = await chat.create({ ...ask, messages: [...ask.messages, answer.choices[0].message, { role: 'user', content: 'And now?' }] }, { headers });
  assert.equal(again.choices[0].message.content, 'Still the same.');
});

await check('thinking-stream', async (headers) => {
  const answer = await chat.stream({ ...ask, stream_options: { include_usage: true } }, { headers }).finalChatCompletion();
  assert.equal(answer.choices[0].message.content, 'I see.');
  assert.equal(answer.usage.completion_tokens_details.reasoning_tokens, 11);
});

await check('schema', async (headers) => {
  const answer = await chat.parse({ ...ask, response_format: { type: 'json_schema', json_schema: { name: 'cause', strict: true, schema: causeSchema } } }, { headers });
  assert.deepEqual(JSON.parse(answer.choices[0].message.content), { cause: 'disk full', certain: true });
});

for (const [name, type, status, code] of [
  ['bad-request', OpenAI.BadRequestError, 400, 'invalid_value'],
  ['unauthorized', OpenAI.AuthenticationError, 401, 'invalid_api_key'],
  ['not-found', OpenAI.NotFoundError, 404, 'model_not_found'],
]) {
  await check(name, async (headers) => {
    const e = await fails(() => chat.create(ask, { headers }));
    assert.ok(e instanceof type, `${e}`);
    assert.equal(e.status, status);
    assert.equal(e.code, code);
    assert.ok(e.error.message && e.type, JSON.stringify(e.error));
    await journal(name, 1);
  });
}

await check('refused', async (headers) => {
  const e = await fails(() => chat.create({ ...ask, messages: [{ role: 'tool', tool_call_id: 'call_9', content: 'x' }] }, { headers }));
  assert.ok(e instanceof OpenAI.BadRequestError, `${e}`);
  assert.equal(e.type, 'invalid_request_error');
});

await check('rate-limit', async (headers) => {
  const began = Date.now();
  const answer = await chat.create(ask, { headers });
  assert.equal(answer.choices[0].message.content, 'At last.');
  assert.ok(Date.now() - began >= 1900, 'it waited as long as Retry-After said');
  assert.deepEqual((await journal('rate-limit', 3)).map((e) => e.status), [429, 429, 200]);
});

await check('server-error', async (headers) => {
  assert.equal((await chat.create(ask, { headers })).choices[0].message.content, 'It is up again.');
  assert.deepEqual((await journal('server-error', 2)).map((e) => e.status), [500, 200]);
});

await check('give-up', async (headers) => {
  const e = await fails(() => chat.create(ask, { headers, maxRetries: 1 }));
  assert.ok(e instanceof OpenAI.InternalServerError, `${e}`);
  assert.equal(e.status, 503);
  await journal('give-up', 2);
});

await check('late-error', async (headers) => {
  const e = await fails(async () => collect(await chat.create({ ...ask, stream: true }, { headers })));
  assert.ok(e instanceof OpenAI.APIError, `${e}`);
  assert.match(e.message, /The model fell over/);
});

await check('abort', async (headers) => {
  const stream = await chat.create({ ...ask, stream: true }, { headers });
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content) break; // breaking off aborts the request
  }
  assert.ok(stream.controller.signal.aborted);
  const [entry] = await journal('abort', 1);
  assert.equal(entry.cancelled, true);
});

await check('dropped', async (headers) => {
  const e = await fails(() => chat.create(ask, { headers, maxRetries: 0 }));
  assert.ok(e instanceof OpenAI.APIConnectionError, `${e}`);
});

for (const name of ['dropped-stream', 'malformed-stream']) {
  await check(name, async (headers) => {
    let text = '';
    await fails(async () => {
      for await (const chunk of await chat.create({ ...ask, stream: true }, { headers })) text += chunk.choices[0]?.delta.content ?? '';
    });
    assert.equal(text, 'one two ');
  });
}

await check('models', async () => {
  assert.deepEqual((await collect(await client.models.list())).map((m) => m.id), ['model-one', 'model-two']);
  const model = await client.models.retrieve('model-one');
  assert.equal(model.object, 'model');
  assert.equal(model.id, 'model-one');
});

await check('embeddings', async (headers) => {
  const ask = { model: 'text-embedding-3-small', input: ['disk full', 'pod crashed'], dimensions: 64 };
  const packed = await client.embeddings.create(ask, { headers }); // the SDK asks for base64
  const plain = await client.embeddings.create({ ...ask, encoding_format: 'float' }, { headers });
  assert.deepEqual(packed.data.map((e) => e.embedding.length), [64, 64]);
  assert.deepEqual(packed.data[0].embedding, plain.data[0].embedding.map(Math.fround));
  assert.notDeepEqual(packed.data[0].embedding, packed.data[1].embedding);
  assert.ok(packed.usage.total_tokens > 0);
});
