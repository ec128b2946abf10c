// An app of Bolt, Slack's framework, against the virtual Slack: listeners, say, respond, modals and reactions over Socket Mode.
import bolt from '@slack/bolt';
import { assert, base, reporter } from './check.mjs';

const { token, app_token: appToken, channels, users } = await (await fetch(`${base}/_mock/slack`)).json();
const app = new bolt.App({ token, appToken, socketMode: true, logLevel: bolt.LogLevel.ERROR, clientOptions: { slackApiUrl: `${base}/slack/api/` } });
const plain = (text) => ({ type: 'plain_text', text });
const buttons = [{ type: 'actions', block_id: 'choice', elements: [{ type: 'button', action_id: 'yes', value: '42', text: plain('Yes') }] }];
const input = { type: 'input', block_id: 'why', label: plain('Reason'), element: { type: 'plain_text_input', action_id: 'text' } };

// step is something that a person does.
async function step(what) {
  const response = await fetch(`${base}/_mock/slack/steps`, { method: 'POST', body: JSON.stringify(what) });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return JSON.parse(body);
}

const messages = async () => (await fetch(`${base}/_mock/slack/messages`)).json();

// listening is what a listener returns when it is called, or the error of the app.
const waiting = {};
const listening = (name) =>
  new Promise((resolve, reject) => {
    waiting[name] = resolve;
    waiting.error = reject;
  });

app.error(async (error) => waiting.error(error));
app.message('ping', async ({ message, say }) => waiting.message(await say({ text: 'pong', thread_ts: message.ts, blocks: buttons })));
app.action({ block_id: 'choice', action_id: 'yes' }, async ({ ack, body, client, respond }) => {
  await ack();
  await client.views.open({ trigger_id: body.trigger_id, view: { type: 'modal', callback_id: 'reason', title: plain('Why?'), submit: plain('Send'), blocks: [input] } });
  await respond({ text: 'on it', replace_original: true });
  await respond({ text: 'only you see this', replace_original: false });
  waiting.action(body);
});
app.view('reason', async ({ ack, view }) => {
  await ack({ response_action: 'update', view: { type: 'modal', title: plain('Thanks'), blocks: [{ type: 'divider' }] } });
  waiting.view(view);
});
app.event('reaction_added', async ({ event }) => waiting.reaction(event));

let sent;
await app.start();

await reporter('slack-bolt', {
  async messages() {
    const answered = listening('message');
    await step({ say: { channel: 'alerts', user: 'alice', text: 'ping' } });
    sent = await answered;
    assert.equal(sent.channel, channels.alerts);
  },
  async respond() {
    const acted = listening('action');
    await step({ click: { channel: 'alerts', user: 'alice', ts: sent.ts, action: 'yes' } });
    assert.equal((await acted).actions[0].value, '42');
    const all = await messages();
    assert.equal(all.find((m) => m.ts === sent.ts).text, 'on it');
    assert.equal(all.at(-1).ephemeral, users.alice);
  },
  async modals() {
    const submitted = listening('view');
    await step({ submit: { user: 'alice', values: { why: 'it is stuck' } } });
    assert.equal((await submitted).state.values.why.text.value, 'it is stuck');
    const read = async () => (await (await fetch(`${base}/_mock/slack/modals`)).json())[0];
    let modal = await read();
    // The listener goes on before the acknowledgement has arrived.
    for (const began = Date.now(); modal.view.title.text !== 'Thanks' && Date.now() - began < 20_000; ) modal = await read();
    assert.equal(modal.view.title.text, 'Thanks');
    assert.equal(modal.open, true);
  },
  async reactions() {
    const reacted = listening('reaction');
    await step({ react: { channel: 'alerts', user: 'alice', ts: sent.ts, name: 'eyes' } });
    assert.equal((await reacted).reaction, 'eyes');
  },
});

await app.stop();
