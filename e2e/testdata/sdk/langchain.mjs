// LangChain.js against all four APIs.
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatGoogleGenerativeAI, GoogleGenerativeAIEmbeddings } from '@langchain/google-genai';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { assert, base, fails, hostile, namespaceSchema, reporter } from './check.mjs';

// langchain runs the checks of one API. The key is the lane; counted is the output of a stream as LangChain counts it.
function langchain(key, connect, counted = 7) {
  const model = connect(key);
  const bound = model.bindTools([{ name: 'get_pods', description: 'Lists pods.', schema: namespaceSchema }]);

  // heard puts the pieces of a stream together.
  async function heard(from, input) {
    let all;
    for await (const piece of await from.stream(input)) all = all ? all.concat(piece) : piece;

    return all;
  }

  function requireUsage(answer, output) {
    assert.equal(answer.usage_metadata.input_tokens, 120);
    assert.equal(answer.usage_metadata.output_tokens, output);
    assert.equal(answer.usage_metadata.total_tokens, 120 + output);
  }

  // loop asks, calls the tools, and asks again with their results.
  async function loop(name, ask) {
    const question = new HumanMessage(name);
    const first = await ask([question]);
    assert.equal(first.text, 'I look.');
    assert.deepEqual(first.tool_calls.map((c) => [c.name, c.args]),
      [['get_pods', { namespace: 'shop' }], ['get_pods', { namespace: 'wéb "2"' }]]);
    const results = first.tool_calls.map((c) => new ToolMessage({ tool_call_id: c.id, name: c.name, content: `Running in ${c.args.namespace}` }));
    assert.equal((await ask([question, first, ...results])).text, 'All pods run.');
  }

  return reporter(`langchain-${key}`, {
    whole: async () => {
      const answer = await model.invoke('whole');
      assert.equal(answer.text, 'The disk is full.');
      requireUsage(answer, 7);
    },
    stream: async () => {
      const answer = await heard(model, 'stream');
      assert.equal(answer.text, 'The disk of db-1 is full, because logs are kept for ever.');
      requireUsage(answer, counted);
    },
    hostile: async () => assert.equal((await heard(model, 'hostile')).text, hostile),
    tool: () => loop('tool', (messages) => bound.invoke(messages)),
    'tool-stream': () => loop('tool-stream', (messages) => heard(bound, messages)),
    overloaded: async () => assert.match(`${await fails(() => model.invoke('overloaded'))}`, /The server fell over/),
  });
}

async function embeddings(model, dimensions) {
  const [first, second] = await model.embedDocuments(['disk full', 'pod crashed']);
  const query = await model.embedQuery('disk full');
  assert.equal(query.length, dimensions);
  assert.deepEqual(first, query);
  assert.notDeepEqual(second, query);
}

const configuration = { baseURL: `${base}/v1` };
const maxRetries = 0;

export async function runLangChain() {
  await Promise.all([
    langchain('chat', (apiKey) => new ChatOpenAI({ model: 'model-one', apiKey: `lc-${apiKey}`, maxRetries, configuration })),
    langchain('responses', (apiKey) => new ChatOpenAI({ model: 'model-one', apiKey: `lc-${apiKey}`, maxRetries, configuration, useResponsesApi: true })),
    langchain('anthropic', (apiKey) => new ChatAnthropic({ model: 'model-one', apiKey: `lc-${apiKey}`, maxRetries, anthropicApiUrl: base }),
      8), // it adds the one token that message_start counts, as it does with the real API
    langchain('google', (apiKey) => new ChatGoogleGenerativeAI({ model: 'model-one', apiKey: `lc-${apiKey}`, maxRetries, baseUrl: base })),
    reporter('langchain', {
      'openai-embeddings': () => embeddings(new OpenAIEmbeddings({ model: 'text-embedding-3-small', dimensions: 64, apiKey: 'lc-chat', maxRetries, configuration }), 64),
      'google-embeddings': () => embeddings(new GoogleGenerativeAIEmbeddings({ model: 'gemini-embedding-001', apiKey: 'lc-google', maxRetries, baseUrl: base }), 3072),
    }),
  ]);
}
