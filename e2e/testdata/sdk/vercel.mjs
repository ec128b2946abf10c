// The Vercel AI SDK against all four APIs.
import { createHash } from 'node:crypto';
import { APICallError, embed, embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { assert, base, fails, hostile, namespaceSchema, reporter } from './check.mjs';

// vercel runs the checks of one API: the key is the lane, thinks tells that the API shows what the model thinks.
function vercel(key, thinks, connect) {
  const model = connect(key);
  const ask = (prompt, more) => ({ model, prompt, maxRetries: 0, ...more });
  const tools = {
    get_pods: tool({ inputSchema: jsonSchema(namespaceSchema), execute: ({ namespace }) => `Running in ${namespace}` }),
  };
  const loop = { tools, stopWhen: stepCountIs(3) };

  function requireUsage({ usage }) {
    assert.equal(usage.inputTokens, 120);
    assert.equal(usage.inputTokenDetails.cacheReadTokens, 100);
    assert.equal(usage.outputTokens, 7);
  }

  function requireSteps(steps) {
    assert.deepEqual(steps[0].toolCalls.map((c) => [c.toolName, c.input]),
      [['get_pods', { namespace: 'shop' }], ['get_pods', { namespace: 'wéb "2"' }]]);
    assert.equal(steps[0].text, 'I look.');
    assert.equal(steps[0].finishReason, 'tool-calls');
    assert.equal(steps[1].text, 'All pods run.');
  }

  return reporter(`vercel-${key}`, {
    whole: async () => {
      const answer = await generateText(ask('whole'));
      assert.equal(answer.text, 'The disk is full.');
      assert.equal(answer.finishReason, 'stop');
      assert.equal(answer.reasoningText, thinks ? 'Let me see.' : undefined);
      requireUsage(answer);
    },
    stream: async () => {
      const answer = streamText(ask('stream'));
      let heard = '';
      let pieces = 0;
      for await (const delta of answer.textStream) {
        heard += delta;
        pieces += 1;
      }
      assert.equal(heard, 'The disk of db-1 is full, because logs are kept for ever.');
      assert.ok(pieces > 5, 'it comes in pieces');
      assert.equal(await answer.finishReason, 'stop');
      assert.equal(await answer.reasoningText, thinks ? 'Let me see.' : undefined);
      requireUsage({ usage: await answer.usage });
    },
    hostile: async () => assert.equal(await streamText(ask('hostile')).text, hostile),
    tool: async () => requireSteps((await generateText(ask('tool', loop))).steps),
    'tool-stream': async () => requireSteps(await streamText(ask('tool-stream', loop)).steps),
    overloaded: async () => {
      const e = await fails(() => generateText(ask('overloaded')));
      assert.ok(APICallError.isInstance(e), `${e}`);
      assert.equal(e.statusCode, 503);
      assert.equal(e.message, 'The server fell over.');
    },
  });
}

// embeddings checks the vectors of a model of embeddings.
async function embeddings(model, providerOptions) {
  const values = ['disk full', 'pod crashed', 'disk full'];
  const many = await embedMany({ model, values, providerOptions, maxRetries: 0 });
  const one = await embed({ model, value: 'disk full', providerOptions, maxRetries: 0 });
  assert.equal(one.embedding.length, 64);
  assert.deepEqual(many.embeddings[0], one.embedding);
  assert.deepEqual(many.embeddings[2], one.embedding);
  assert.notDeepEqual(many.embeddings[1], one.embedding);
  assert.ok(Math.abs(Math.hypot(...one.embedding) - 1) < 1e-5, 'it has length one');
}

const openai = (apiKey) => createOpenAI({ apiKey, baseURL: `${base}/v1` });
const google = (apiKey) => createGoogleGenerativeAI({ apiKey, baseURL: `${base}/v1beta` });

// misdirected calls a path that does not exist: the answer has the form of the API, so the SDK shows its message. What is
// unexpected would fail the run, so its lane is reset.
async function misdirected(key, model) {
  const e = await fails(() => generateText({ model, prompt: 'hi', maxRetries: 0 }));
  assert.equal(e.statusCode, 404);
  assert.match(e.message, /^There is no POST \/nowhere\//);
  const lane = `key-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;
  assert.equal((await fetch(`${base}/_mock/verify?lane=${lane}`)).status, 409);
  await fetch(`${base}/_mock/reset?lane=${lane}`, { method: 'POST' });
}

// references checks that tool loops did refer to stored items instead of sending them again.
async function references() {
  const { entries } = await (await fetch(`${base}/_mock/journal?api=openai`)).json();
  const inputs = entries.filter((e) => e.path === '/v1/responses').flatMap((e) => e.body.input);
  assert.ok(inputs.filter((item) => item.type === 'item_reference').length >= 4, JSON.stringify(inputs));
}

export async function runVercel() {
  globalThis.AI_SDK_LOG_WARNINGS = false; // models that the SDK does not know

  await Promise.all([
    vercel('chat', false, (key) => openai(key).chat('model-one')),
    vercel('responses', true, (key) => openai(key).responses('model-one')),
    // The base URL of this SDK ends with the version, those of others do not.
    vercel('anthropic', true, (apiKey) => createAnthropic({ apiKey, baseURL: `${base}/v1` })('model-one')),
    vercel('anthropic-unversioned', true, (apiKey) => createAnthropic({ apiKey, baseURL: base })('model-one')),
    vercel('google', false, (key) => google(key)('model-one')),
  ]);

  await reporter('vercel', {
    references,
    'openai-embeddings': () => embeddings(openai('chat').embedding('text-embedding-3-small'), { openai: { dimensions: 64 } }),
    'google-embeddings': () => embeddings(google('google').embedding('gemini-embedding-001'), { google: { outputDimensionality: 64 } }),
    'openai-misdirected': () => misdirected('lost-1', createOpenAI({ apiKey: 'lost-1', baseURL: `${base}/nowhere` }).chat('model-one')),
    'anthropic-misdirected': () => misdirected('lost-2', createAnthropic({ apiKey: 'lost-2', baseURL: `${base}/nowhere` })('model-one')),
    'google-misdirected': () => misdirected('lost-3', createGoogleGenerativeAI({ apiKey: 'lost-3', baseURL: `${base}/nowhere` })('model-one')),
  });
}
