// The @google/genai package against generateContent and streamGenerateContent.
import { ApiError, GoogleGenAI } from '@google/genai';
import { assert, base, causeSchema, collect, fails, hostile, lane, namespaceSchema, post } from './check.mjs';

const { check, headers: own, journal } = lane('gemini');
const { models } = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: base, headers: own } });
const retryOptions = { attempts: 3, initialDelay: 0.1, maxDelay: 1 };
const proof = 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==';
const tools = [{ functionDeclarations: ['get_pods', 'get_events', 'get_time'].map((name) => ({ name, parametersJsonSchema: namespaceSchema })) }];
const thoughts = (answer) => answer.candidates[0].content.parts.filter((p) => p.thought).map((p) => p.text).join('');

// ask makes the parameters of a call; options go to its HTTP request.
const ask = (headers, config = {}, options = {}) => ({
  model: 'model-one',
  contents: 'What is wrong?',
  config: { systemInstruction: 'Be short.', ...config, httpOptions: { headers, ...options } },
});

await check('text', async (headers) => {
  const answer = await models.generateContent(ask(headers));
  assert.equal(answer.text, 'The disk is full.');
  assert.equal(answer.candidates.length, 1);
  assert.equal(answer.candidates[0].content.role, 'model');
  assert.equal(answer.candidates[0].finishReason, 'STOP');
  assert.equal(answer.modelVersion, 'model-one');
  assert.ok(answer.responseId);
  assert.equal(answer.usageMetadata.promptTokenCount, 120);
  assert.equal(answer.usageMetadata.cachedContentTokenCount, 100);
  assert.equal(answer.usageMetadata.candidatesTokenCount, 7);
  assert.equal(answer.usageMetadata.totalTokenCount, 127);
});

await check('stream', async (headers) => {
  const parts = await collect(await models.generateContentStream(ask(headers)));
  assert.equal(parts.map((p) => p.text ?? '').join(''), 'The disk of db-1 is full, because logs are kept for ever.');
  assert.ok(parts.length > 8, 'it comes in pieces');
  assert.equal(new Set(parts.map((p) => p.responseId)).size, 1);
  assert.equal(parts.filter((p) => p.candidates?.[0].finishReason === 'STOP').length, 1);
  assert.equal(parts.at(-1).usageMetadata.totalTokenCount, 127);
});

await check('helper', async (headers) => {
  const chat = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: base, headers } }).chats.create({ model: 'model-one' });
  const answer = await chat.sendMessage({ message: 'What is wrong?' });
  assert.equal(answer.text, 'Put together by the SDK.');
  assert.deepEqual(chat.getHistory().map((c) => c.role), ['user', 'model']);
});

await check('hostile', async (headers) => {
  assert.equal((await collect(await models.generateContentStream(ask(headers)))).map((p) => p.text ?? '').join(''), hostile);
  assert.equal((await models.generateContent(ask(headers))).text, hostile);
});

// Without ?alt=sse a stream is one JSON array; the SDK never asks for it, other clients do.
await check('raw', async (headers) => {
  const body = { contents: [{ role: 'user', parts: [{ text: 'What is wrong?' }] }] };
  const { type, text } = await post('/v1beta/models/model-one:streamGenerateContent', headers, body);
  assert.match(type, /^application\/json/);
  const parts = JSON.parse(text);
  assert.ok(parts.length > 1, text);
  assert.equal(parts.flatMap((p) => p.candidates[0].content?.parts ?? []).map((p) => p.text ?? '').join(''), 'Two words.');
});

await check('empty', async (headers) => {
  const answer = await models.generateContent(ask(headers));
  assert.equal(answer.text ?? '', '');
  assert.equal(answer.candidates[0].finishReason, 'STOP');
});

await check('length', async (headers) => {
  assert.equal((await models.generateContent(ask(headers))).candidates[0].finishReason, 'MAX_TOKENS');
});

await check('tool', async (headers) => {
  const answer = await models.generateContent(ask(headers, { tools }));
  assert.equal(answer.functionCalls.length, 1);
  assert.equal(answer.functionCalls[0].name, 'get_pods');
  assert.deepEqual(answer.functionCalls[0].args, { namespace: 'shop', limit: 3 });
});

function requireSeveral(text, calls) {
  assert.equal(text, 'I look.');
  assert.deepEqual(calls.map((c) => c.name), ['get_pods', 'get_events', 'get_time']);
  assert.deepEqual(calls.map((c) => c.args), [{ namespace: 'shop', limit: 3 }, { namespace: 'shöp "2"' }, {}]);
}

// The SDK warns of parts that are no text when .text is read.
const textOf = (answer) => (answer.candidates?.[0].content?.parts ?? []).map((p) => p.text ?? '').join('');

await check('tools', async (headers) => {
  const answer = await models.generateContent(ask(headers, { tools }));
  requireSeveral(textOf(answer), answer.functionCalls);
});

await check('tools-stream', async (headers) => {
  const parts = await collect(await models.generateContentStream(ask(headers, { tools })));
  requireSeveral(parts.map(textOf).join(''), parts.flatMap((p) => p.functionCalls ?? []));
});

await check('round-trip', async (headers) => {
  const first = await models.generateContent(ask(headers, { tools }));
  const results = first.functionCalls.map((c) => ({
    functionResponse: { id: c.id, name: c.name, response: { output: `Running in ${c.args.namespace}` } },
  }));
  const contents = [{ role: 'user', parts: [{ text: 'What is wrong?' }] }, first.candidates[0].content, { role: 'user', parts: results }];
  assert.equal((await models.generateContent({ ...ask(headers, { tools }), contents })).text, 'All pods run.');
});

const thinkingConfig = { includeThoughts: true, thinkingBudget: 2000 };

await check('thinking', async (headers) => {
  const first = await models.generateContent(ask(headers, { thinkingConfig }));
  assert.equal(thoughts(first), 'Let me see what it is.');
  assert.equal(first.text, 'I see.', 'thoughts are no text');
  assert.ok(first.candidates[0].content.parts.some((p) => p.thoughtSignature === proof), JSON.stringify(first.candidates));
  assert.equal(first.usageMetadata.candidatesTokenCount, 3);
  assert.equal(first.usageMetadata.thoughtsTokenCount, 11);
  assert.equal(first.usageMetadata.totalTokenCount, 44);
  const contents = [{ role: 'user', parts: [{ text: 'What is wrong?' }] }, first.candidates[0].content, { role: 'user', parts: [{ text: 'And now?' }] }];
  assert.equal((await models.generateContent({ ...ask(headers, { thinkingConfig }), contents })).text, 'Still the same.');
  const [, second] = await journal('thinking', 2);
  assert.ok(second.body.contents[1].parts.some((p) => p.thoughtSignature === proof));
});

await check('thinking-stream', async (headers) => {
  const parts = await collect(await models.generateContentStream(ask(headers, { thinkingConfig })));
  const all = parts.flatMap((p) => p.candidates?.[0].content?.parts ?? []);
  assert.equal(all.filter((p) => p.thought).map((p) => p.text).join(''), 'Let me see what it is.');
  assert.equal(all.filter((p) => !p.thought).map((p) => p.text ?? '').join(''), 'I see.');
  assert.ok(all.some((p) => p.thoughtSignature === proof));
});

await check('schema', async (headers) => {
  const answer = await models.generateContent(ask(headers, { responseMimeType: 'application/json', responseJsonSchema: causeSchema }));
  assert.deepEqual(JSON.parse(answer.text), { cause: 'disk full', certain: true });
});

for (const [name, status, kind] of [
  ['bad-request', 400, 'INVALID_ARGUMENT'], ['unauthorized', 401, 'UNAUTHENTICATED'], ['not-found', 404, 'NOT_FOUND'],
]) {
  await check(name, async (headers) => {
    const e = await fails(() => models.generateContent(ask(headers, {}, { retryOptions })));
    assert.ok(e instanceof ApiError, `${e}`);
    assert.equal(e.status, status);
    const { error } = JSON.parse(e.message);
    assert.equal(error.code, status);
    assert.equal(error.status, kind);
    assert.ok(error.message);
    await journal(name, 1);
  });
}

await check('refused', async (headers) => {
  const e = await fails(() => models.generateContent({ ...ask(headers), contents: [] }));
  assert.ok(e instanceof ApiError || /contents/.test(e.message), `${e}`);
});

// This SDK tries again only if it is told to, and by its own delays: it does not read Retry-After.
await check('rate-limit', async (headers) => {
  assert.equal((await models.generateContent(ask(headers, {}, { retryOptions }))).text, 'At last.');
  assert.deepEqual((await journal('rate-limit', 3)).map((e) => e.status), [429, 429, 200]);
});

await check('server-error', async (headers) => {
  const parts = await collect(await models.generateContentStream(ask(headers, {}, { retryOptions })));
  assert.equal(parts.map((p) => p.text ?? '').join(''), 'It is up again.');
  assert.deepEqual((await journal('server-error', 2)).map((e) => e.status), [500, 200]);
});

await check('give-up', async (headers) => {
  const e = await fails(() => models.generateContent(ask(headers, {}, { retryOptions: { ...retryOptions, attempts: 2 } })));
  assert.ok(e instanceof ApiError, `${e}`);
  assert.equal(e.status, 503);
  await journal('give-up', 2);
});

await check('late-error', async (headers) => {
  const e = await fails(async () => collect(await models.generateContentStream(ask(headers))));
  assert.match(e.message, /The model fell over/);
});

await check('abort', async (headers) => {
  const controller = new AbortController();
  const stream = await models.generateContentStream(ask(headers, { abortSignal: controller.signal }));
  await fails(async () => {
    for await (const part of stream) if (part.text) controller.abort();
  });
  const [entry] = await journal('abort', 1);
  assert.equal(entry.cancelled, true);
});

await check('dropped', async (headers) => {
  assert.ok(await fails(() => models.generateContent(ask(headers))) instanceof Error);
});

for (const name of ['dropped-stream', 'malformed-stream']) {
  await check(name, async (headers) => {
    let heard = '';
    await fails(async () => {
      for await (const part of await models.generateContentStream(ask(headers))) heard += part.text ?? '';
    });
    assert.equal(heard, 'one two ');
  });
}

await check('count-tokens', async (headers) => {
  const { totalTokens } = await models.countTokens({ model: 'model-one', contents: 'What is wrong?', config: { httpOptions: { headers } } });
  assert.ok(totalTokens > 0);
});

await check('models', async () => {
  const pager = await models.list({ config: { pageSize: 1 } });
  assert.deepEqual((await collect(pager)).map((m) => m.name), ['models/model-one', 'models/model-two']);
  const model = await models.get({ model: 'model-one' });
  assert.equal(model.name, 'models/model-one');
  assert.ok(model.supportedActions.includes('generateContent'), JSON.stringify(model));
});

await check('embeddings', async (headers) => {
  const config = { outputDimensionality: 64, httpOptions: { headers } };
  const { embeddings } = await models.embedContent({ model: 'gemini-embedding-001', contents: ['disk full', 'pod crashed'], config });
  assert.deepEqual(embeddings.map((e) => e.values.length), [64, 64]);
  assert.notDeepEqual(embeddings[0].values, embeddings[1].values);
});
