// What apps do besides writing messages, with Slack's own SDKs for JavaScript: reactions, channels, users, files, views and response URLs.
import { SocketModeClient, LogLevel } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';
import { assert, base, collect, fails, reporter } from './check.mjs';

const { token, app_token: appToken, bot, channels, users } = await (await fetch(`${base}/_mock/slack`)).json();
const slackApiUrl = `${base}/slack/api/`;
const web = new WebClient(token, { slackApiUrl, logLevel: LogLevel.ERROR });
const socket = new SocketModeClient({ appToken, logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl } });
const channel = channels.alerts;

// step is something that a person does.
async function step(what) {
  const response = await fetch(`${base}/_mock/slack/steps`, { method: 'POST', body: JSON.stringify(what) });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return JSON.parse(body);
}

const code = async (run) => (await fails(run)).data.error;
const plain = (text) => ({ type: 'plain_text', text });
const button = (id) => ({ type: 'button', action_id: id, value: '42', text: plain('Yes') });
const actions = (...ids) => [{ type: 'actions', elements: ids.map(button) }];
const modal = (title) => ({ type: 'modal', callback_id: 'm', title: plain(title), blocks: actions('more') });

// clicked is the payload of a click, which it acknowledges.
async function clicked(click) {
  const received = new Promise((resolve) => socket.once('interactive', resolve));
  await step({ click: { user: 'alice', ...click } });
  const { body, ack } = await received;
  await ack();
  return body;
}

await socket.start();

await reporter('slack-web', {
  async reactions() {
    const { ts } = await web.chat.postMessage({ channel, text: 'look' });
    const added = new Promise((resolve) => socket.once('reaction_added', resolve));
    await web.reactions.add({ channel, timestamp: ts, name: 'eyes' });
    const { event, ack } = await added;
    await ack();
    assert.equal(event.item.ts, ts);
    assert.equal(await code(() => web.reactions.add({ channel, timestamp: ts, name: 'eyes' })), 'already_reacted');
    const { message } = await web.reactions.get({ channel, timestamp: ts });
    assert.deepEqual(message.reactions, [{ name: 'eyes', users: [bot], count: 1 }]);
    await web.reactions.remove({ channel, timestamp: ts, name: 'eyes' });
    assert.equal(await code(() => web.reactions.remove({ channel, timestamp: ts, name: 'eyes' })), 'no_reaction');
  },
  async deletion() {
    const { ts } = await web.chat.postMessage({ channel, text: 'away' });
    assert.match((await web.chat.getPermalink({ channel, message_ts: ts })).permalink, /\/archives\//);
    await web.chat.delete({ channel, ts });
    assert.equal(await code(() => web.chat.delete({ channel, ts })), 'message_not_found');
    const { message } = await step({ say: { channel: 'alerts', user: 'alice', text: 'mine' } });
    assert.equal(await code(() => web.chat.delete({ channel, ts: message.ts })), 'cant_delete_message');
  },
  async threads() {
    const { ts } = await web.chat.postMessage({ channel, text: 'parent' });
    const { ts: latest } = await web.chat.postMessage({ channel, text: 'reply', thread_ts: ts });
    const { messages } = await web.conversations.replies({ channel, ts });
    assert.equal(messages[0].reply_count, 1);
    assert.equal(messages[0].reply_users_count, 1);
    assert.equal(messages[0].latest_reply, latest);
  },
  async channels() {
    const pages = await collect(web.paginate('conversations.list', { limit: 1 }));
    assert.deepEqual(pages.flatMap((page) => page.channels.map((c) => [c.name, c.is_member])), [['alerts', true], ['quiet', false]]);
    assert.equal(await code(() => web.chat.postMessage({ channel: channels.quiet, text: 'x' })), 'not_in_channel');
    await web.conversations.join({ channel: channels.quiet });
    assert.equal((await web.conversations.info({ channel: channels.quiet })).channel.is_member, true);
    assert.deepEqual((await web.conversations.members({ channel })).members, [bot, users.alice]);
    const direct = (await web.conversations.open({ users: users.alice })).channel.id;
    assert.equal((await web.chat.postMessage({ channel: users.alice, text: 'psst' })).channel, direct);
    assert.equal(await code(() => web.conversations.list({ cursor: 'nonsense' })), 'invalid_cursor');
  },
  async users() {
    const pages = await collect(web.paginate('users.list', { limit: 1 }));
    assert.deepEqual(pages.flatMap((page) => page.members.map((m) => m.id)), [bot, users.alice]);
    assert.equal((await web.users.lookupByEmail({ email: 'alice@example.com' })).user.id, users.alice);
    assert.equal(await code(() => web.users.lookupByEmail({ email: 'eve@example.com' })), 'users_not_found');
  },
  async files() {
    const { files } = await web.filesUploadV2({ channel_id: channel, filename: 'graph.txt', content: 'evidence', initial_comment: 'see' });
    const { id } = files[0].files[0];
    const { file } = await web.files.info({ file: id });
    assert.equal(file.size, 8);
    const download = await fetch(file.url_private, { headers: { Authorization: `Bearer ${token}` } });
    assert.equal(await download.text(), 'evidence');
    const { messages } = await web.conversations.history({ channel, limit: 1 });
    assert.equal(messages[0].files[0].id, id);
    await web.files.delete({ file: id });
    assert.equal(await code(() => web.files.info({ file: id })), 'file_not_found');
  },
  async views() {
    const { ts } = await web.chat.postMessage({ channel, text: 'Restart?', blocks: actions('yes') });
    const opened = await web.views.open({ trigger_id: (await clicked({ channel: 'alerts', ts, action: 'yes' })).trigger_id, view: modal('One') });
    const body = await clicked({ action: 'more' });
    assert.equal(body.container.view_id, opened.view.id);
    const pushed = await web.views.push({ trigger_id: body.trigger_id, view: modal('Two') });
    assert.equal(pushed.view.root_view_id, opened.view.id);
    const { view } = await web.views.update({ view_id: pushed.view.id, hash: pushed.view.hash, view: modal('Changed') });
    assert.equal(view.title.text, 'Changed');
    assert.equal(await code(() => web.views.update({ view_id: view.id, hash: pushed.view.hash, view: modal('Late') })), 'hash_conflict');
    const home = await web.views.publish({ user_id: users.alice, view: { type: 'home', blocks: [{ type: 'divider' }] } });
    assert.equal(home.view.type, 'home');
  },
  async 'response url'() {
    const { ts, message } = await web.chat.postMessage({ channel, text: 'Restart?', blocks: actions('yes') });
    const body = await clicked({ channel: 'alerts', ts, action: 'yes' });
    assert.equal(body.actions[0].block_id, message.blocks[0].block_id);
    assert.deepEqual(body.container, { type: 'message', message_ts: ts, channel_id: channel, is_ephemeral: false });
    const respond = async (answer) => (await fetch(body.response_url, { method: 'POST', body: JSON.stringify(answer) })).status;
    assert.equal(await respond({ text: 'Restarted', replace_original: true }), 200);
    assert.equal((await web.conversations.history({ channel, limit: 1 })).messages[0].text, 'Restarted');
    assert.equal(await respond({ text: 'to all', response_type: 'in_channel', replace_original: false }), 200);
    assert.equal(await respond({ delete_original: true }), 200);
    assert.equal((await web.conversations.history({ channel, limit: 1 })).messages[0].text, 'to all');
    for (const text of ['four', 'five']) assert.equal(await respond({ text, replace_original: false }), 200);
    assert.equal(await respond({ text: 'six' }), 404);
  },
  async limits() {
    const { data } = await fails(() => web.chat.postMessage({ channel, text: 'x', blocks: [{ type: 'header', text: plain('x'.repeat(151)) }] }));
    assert.equal(data.error, 'invalid_blocks');
    assert.deepEqual(data.response_metadata.messages, ['[ERROR] must be less than 151 characters [json-pointer:/blocks/0/text/text]']);
    assert.equal(await code(() => web.chat.postMessage({ channel, text: 'x', blocks: Array(51).fill({ type: 'divider' }) })), 'invalid_blocks');
    assert.equal(await code(() => web.chat.postMessage({ channel, text: 'x', blocks: actions('a', 'a') })), 'invalid_blocks');
  },
});

await socket.disconnect();
