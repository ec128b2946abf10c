// Slack's own SDKs for JavaScript against the virtual Slack.
import { SocketModeClient, LogLevel } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';
import { assert, base, fails, reporter } from './check.mjs';

const { token, app_token: appToken, bot, channels, users } = await (await fetch(`${base}/_mock/slack`)).json();
const slackApiUrl = `${base}/slack/api/`;
const quiet = LogLevel.ERROR;
const web = new WebClient(token, { slackApiUrl, logLevel: quiet });
const socket = new SocketModeClient({ appToken, logLevel: quiet, clientOptions: { slackApiUrl } });

// step is something that a person does.
async function step(what) {
  const response = await fetch(`${base}/_mock/slack/steps`, { method: 'POST', body: JSON.stringify(what) });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return JSON.parse(body);
}

// next is the next event of a name.
const next = (name) => new Promise((resolve) => socket.once(name, resolve));
const buttons = [
  { type: 'section', text: { type: 'mrkdwn', text: 'Restart?' } },
  { type: 'actions', block_id: 'b', elements: [{ type: 'button', action_id: 'yes', value: '42', text: { type: 'plain_text', text: 'Yes' } }] },
];
let asked;
let sent;

await reporter('slack', {
  async identity() {
    const self = await web.auth.test();
    assert.equal(self.user_id, bot);
    assert.equal((await web.users.info({ user: users.alice })).user.name, 'alice');
    assert.equal((await fails(() => new WebClient('xoxb-wrong', { slackApiUrl, logLevel: quiet }).auth.test())).data.error, 'invalid_auth');
  },
  async receive() {
    await socket.start();
    const message = next('message');
    await step({ say: { channel: 'alerts', user: 'alice', text: 'ping & pong' } });
    asked = await message;
    await asked.ack();
    assert.equal(asked.event.user, users.alice);
    assert.equal(asked.event.channel, channels.alerts);
    assert.equal(asked.event.text, 'ping &amp; pong');
  },
  async mention() {
    const [mention, message] = [next('app_mention'), next('message')];
    await step({ say: { channel: 'alerts', user: 'alice', text: `<@tarsy> why?` } });
    const { event, ack } = await mention;
    await ack();
    await (await message).ack();
    assert.equal(event.text, `<@${bot}> why?`);
  },
  async threads() {
    sent = await web.chat.postMessage({
      channel: channels.alerts, text: 'pong', thread_ts: asked.event.ts, metadata: { event_type: 'tarsy', event_payload: { id: '1' } },
    });
    assert.equal(sent.ok, true);
    const replies = await web.conversations.replies({ channel: channels.alerts, ts: asked.event.ts, include_all_metadata: true });
    assert.deepEqual(replies.messages.map((m) => m.ts), [asked.event.ts, sent.ts]);
    assert.equal(replies.messages[1].metadata.event_payload.id, '1');
    assert.equal((await web.chat.update({ channel: channels.alerts, ts: sent.ts, text: 'pong, edited' })).text, 'pong, edited');
    const history = await web.conversations.history({ channel: channels.alerts });
    assert.equal(history.messages.some((m) => m.ts === sent.ts), false); // a reply is in its thread only
  },
  async buttons() {
    const { ts } = await web.chat.postMessage({ channel: channels.alerts, text: 'Restart?', blocks: buttons });
    const clicked = next('interactive');
    await step({ click: { channel: 'alerts', user: 'alice', ts, action: 'yes' } });
    const { body, ack } = await clicked;
    await ack();
    assert.equal(body.type, 'block_actions');
    assert.equal(body.actions[0].value, '42');
    assert.equal(body.user.id, users.alice);

    await web.views.open({
      trigger_id: body.trigger_id,
      view: {
        type: 'modal', callback_id: 'reason', title: { type: 'plain_text', text: 'Why?' }, submit: { type: 'plain_text', text: 'Send' },
        blocks: [{ type: 'input', block_id: 'why', label: { type: 'plain_text', text: 'Reason' }, element: { type: 'plain_text_input', action_id: 'text' } }],
      },
    });
    const submitted = next('interactive');
    await step({ submit: { user: 'alice', values: { why: 'it is stuck' } } });
    const view = await submitted;
    await view.ack();
    assert.equal(view.body.type, 'view_submission');
    assert.equal(view.body.view.state.values.why.text.value, 'it is stuck');
  },
  async redelivery() {
    const first = next('message');
    await step({ lose_acks: 1 });
    await step({ say: { channel: 'alerts', user: 'alice', text: 'again' } });
    const once = await first;
    const second = next('message');
    await once.ack();
    const twice = await second;
    await twice.ack();
    assert.equal(twice.event.ts, once.event.ts);
    assert.equal(twice.retry_num, 1);
  },
  async 'rate limit'() {
    await step({ fault: { method: 'chat.postMessage', status: 429, retry_after: '1s' } });
    assert.equal((await web.chat.postMessage({ channel: channels.alerts, text: 'after a while' })).ok, true);
  },
  async reconnect() {
    const connected = next('connected');
    await step({ disconnect: { graceful: true } });
    await connected;
    const message = next('message');
    await step({ wait_ready: true });
    await step({ say: { channel: 'alerts', user: 'alice', text: 'still there?' } });
    const { event, ack } = await message;
    await ack();
    assert.equal(event.text, 'still there?');
  },
  async errors() {
    assert.equal((await fails(() => web.chat.postMessage({ channel: 'C0NOTHERE00', text: 'x' }))).data.error, 'channel_not_found');
    assert.equal((await fails(() => web.chat.update({ channel: channels.alerts, ts: '1.1', text: 'x' }))).data.error, 'message_not_found');
  },
});

await socket.disconnect();
