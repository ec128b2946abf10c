// discord.js against the virtual Discord.
import { once } from 'node:events';
import { Client, Events, GatewayIntentBits, MessageType } from 'discord.js';
import { assert, base, fails, reporter } from './check.mjs';

const { token } = await (await fetch(`${base}/_mock/discord`)).json();
const { Guilds, GuildMessages, MessageContent } = GatewayIntentBits;

function newClient() {
  const client = new Client({ intents: [Guilds, GuildMessages, MessageContent], rest: { api: `${base}/discord/api` } });
  client.on(Events.Error, () => {});
  return client;
}

// step runs one step of a conversation.
async function step(what) {
  const response = await fetch(`${base}/_mock/discord/steps`, { method: 'POST', body: JSON.stringify(what) });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return JSON.parse(body);
}

const say = (content, more = {}) => step({ say: { channel: 'alerts', author: 'alice', content, ...more } });
const client = newClient();
const messages = [];
let wake = () => {};
client.on(Events.MessageCreate, (message) => {
  messages.push(message);
  wake();
});

// next is the next message that fits; those before it are dropped.
async function next(fits) {
  for (;;) {
    while (messages.length > 0) {
      const message = messages.shift();
      if (fits(message)) return message;
    }
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
}

const from = (name) => (message) => message.author.username === name;
let asked;

await reporter('discord', {
  async login() {
    const ready = once(client, Events.ClientReady);
    await client.login(token);
    await ready;
    assert.equal(client.user.username, 'tarsy');
    const guild = client.guilds.cache.first();
    assert.equal(guild.name, 'ops');
    assert.equal(guild.channels.cache.find((c) => c.name === 'alerts').isTextBased(), true);
    assert.equal((await guild.members.fetch({ query: 'al', limit: 1 })).first().nickname, 'al');
  },
  async receive() {
    asked = await next(from('alice'));
    assert.equal(asked.content, `<@${client.user.id}> ping`);
    assert.equal(asked.mentions.has(client.user), true);
    assert.equal(asked.member.roles.cache.some((role) => role.name === 'on-call'), true);
  },
  async send() {
    const sent = await asked.reply({ content: 'pong @everyone', allowedMentions: { parse: [], repliedUser: false } });
    assert.equal(sent.type, MessageType.Reply);
    assert.equal((await next(from('tarsy'))).id, sent.id);
    const { action } = await step({ expect: { channel: 'alerts', content: 'pong' } });
    assert.equal(action.message.notified, undefined);
    assert.deepEqual(action.message.allowed_mentions, { replied_user: false });
    const edited = await sent.edit('pong, edited');
    assert.notEqual(edited.editedTimestamp, null);
    await step({ expect: { kind: 'edit', content: 'pong, edited' } });
  },
  async threads() {
    await asked.channel.sendTyping();
    const thread = await asked.startThread({ name: 'details' });
    assert.equal(thread.id, asked.id);
    await thread.send('in the thread');
    await step({ expect: { channel: 'details', content: 'in the thread' } });
    await say('thanks', { channel: 'details' });
    assert.equal((await next(from('alice'))).channel.isThread(), true);
  },
  async errors() {
    const error = await fails(() => asked.channel.send('x'.repeat(2001)));
    assert.equal(error.code, 50035);
    assert.equal(error.status, 400);
    assert.equal((await fails(() => client.channels.fetch('100000000000000000'))).code, 10003);
  },
  async 'rate limit'() {
    const limited = once(client.rest, 'rateLimited');
    await step({ rate_limit: { route: 'POST /channels/{channel}/messages', retry_after: '50ms' } });
    await asked.channel.send('after a while');
    const [about] = await limited;
    assert.equal(about.route, '/channels/:id/messages');
    await step({ expect: { content: 'after a while' } });
  },
  async reconnect() {
    const resumed = once(client, Events.ShardResume);
    await step({ reconnect: true });
    await resumed;
    await say('after the reconnect');
    await next((m) => m.content === 'after the reconnect');
  },
  async resume() {
    const resumed = once(client, Events.ShardResume);
    await step({ drop: {} });
    await say('missed one');
    await say('missed two');
    await resumed;
    await next((m) => m.content === 'missed one');
    await next((m) => m.content === 'missed two');
    const { connections } = await (await fetch(`${base}/_mock/discord`)).json();
    assert.deepEqual(connections.map((c) => c.how), ['identify', 'resume', 'resume']);
    assert.equal(connections.at(-1).resume_url, true);
  },
  async 'invalid session'() {
    const ready = once(client, Events.ShardReady);
    await step({ invalid_session: { resumable: false } });
    await ready;
    await say('in a new session');
    await next((m) => m.content === 'in a new session');
  },
});

await client.destroy();
