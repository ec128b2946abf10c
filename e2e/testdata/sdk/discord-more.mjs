// What bots do besides writing messages, with discord.js: files, reactions, pins, threads, commands, buttons and webhooks.
import { once } from 'node:events';
import { ActionRowBuilder, ButtonBuilder, ButtonStyle, Client, Events, GatewayIntentBits, MessageFlags, MessageType, WebhookClient } from 'discord.js';
import { assert, base, fails, reporter } from './check.mjs';

const { token } = await (await fetch(`${base}/_mock/discord`)).json();
const { Guilds, GuildMessages, GuildMessageReactions, MessageContent } = GatewayIntentBits;
const rest = { api: `${base}/discord/api` };
const client = new Client({ intents: [Guilds, GuildMessages, GuildMessageReactions, MessageContent], rest });

// step runs one step of a conversation.
async function step(what) {
  const response = await fetch(`${base}/_mock/discord/steps`, { method: 'POST', body: JSON.stringify(what) });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return JSON.parse(body);
}

// used is the interaction that a step leads to.
async function used(what) {
  const told = once(client, Events.InteractionCreate);
  await step(what);
  const [interaction] = await told;
  return interaction;
}

const ready = once(client, Events.ClientReady);
await client.login(token);
await ready;
const guild = client.guilds.cache.first();
const channel = guild.channels.cache.find((c) => c.name === 'alerts');
const ask = () => used({ command: { channel: 'alerts', user: 'alice', name: 'ask', options: { question: 'why?', urgent: 'true' } } });

await reporter('discord-more', {
  async files() {
    const sent = await channel.send({ files: [{ attachment: Buffer.from('evidence'), name: 'graph.txt', description: 'a graph' }] });
    const file = sent.attachments.first();
    assert.equal(file.size, 8);
    assert.equal(file.description, 'a graph');
    assert.equal(await (await fetch(file.url)).text(), 'evidence');
    assert.equal((await sent.edit({ content: 'without', attachments: [] })).attachments.size, 0);
    assert.equal((await fetch(file.url)).status, 404);
  },
  async reactions() {
    const sent = await channel.send('look');
    await sent.react('👍');
    const added = new Promise((resolve) => client.on(Events.MessageReactionAdd, (...about) => about[1].username === 'alice' && resolve(about)));
    await step({ react: { message: sent.id, user: 'alice', emoji: '👍' } });
    const [reaction, user] = await added;
    assert.deepEqual([...(await reaction.users.fetch({ limit: 1 })).values()].length, 1);
    assert.equal((await reaction.users.fetch()).size, 2);
    await reaction.users.remove(user);
    assert.deepEqual([...(await reaction.users.fetch()).keys()], [client.user.id]);
    await sent.react('🎉');
    await reaction.remove();
    const cleared = once(client, Events.MessageReactionRemoveAll);
    await sent.reactions.removeAll();
    await cleared;
    assert.equal((await sent.fetch(true)).reactions.cache.size, 0);
  },
  async pins() {
    const sent = await channel.send('keep');
    const told = once(client, Events.ChannelPinsUpdate);
    await sent.pin();
    await told;
    const { items, hasMore } = await channel.messages.fetchPins();
    assert.deepEqual(items.map((pin) => pin.message.id), [sent.id]);
    assert.equal(hasMore, false);
    await sent.unpin();
    assert.equal((await channel.messages.fetchPins()).items.length, 0);
  },
  async 'thread deletion'() {
    const thread = await (await channel.send('with a thread')).startThread({ name: 'gone' });
    // discord.js forgets the thread with the answer, and then reports no event of it.
    const deleted = new Promise((resolve) => client.on(Events.Raw, ({ t, d }) => t === 'THREAD_DELETE' && resolve(d)));
    await thread.delete();
    assert.equal((await deleted).id, thread.id);
    assert.equal((await fails(() => client.channels.fetch(thread.id, { force: true }))).code, 10003);
  },
  async commands() {
    const options = [{ type: 3, name: 'question', description: 'What?', required: true }, { type: 5, name: 'urgent', description: 'Now?' }];
    const made = await guild.commands.set([{ name: 'ask', description: 'Ask', options }]);
    assert.equal(made.first().name, 'ask');
    assert.equal((await guild.commands.fetch()).size, 1);
    assert.equal((await client.application.commands.fetch()).size, 0);
    assert.equal((await fails(() => guild.commands.create({ name: 'Not Valid', description: 'x' }))).code, 50035);
  },
  async answers() {
    const interaction = await ask();
    assert.equal(interaction.isChatInputCommand(), true);
    assert.equal(interaction.member.user.username, 'alice');
    assert.equal(interaction.options.getString('question'), 'why?');
    assert.equal(interaction.options.getBoolean('urgent'), true);
    const { resource } = await interaction.reply({ content: 'because', withResponse: true });
    assert.equal(resource.message.type, MessageType.ChatInputCommand);
    assert.equal((await interaction.fetchReply()).id, resource.message.id);
    assert.equal((await interaction.editReply('because of this')).content, 'because of this');
    const more = await interaction.followUp({ content: 'for you', flags: MessageFlags.Ephemeral });
    assert.equal((await fails(() => channel.messages.fetch({ message: more.id, force: true }))).code, 10008);
    await interaction.deleteReply(more);
    await interaction.deleteReply();
    assert.equal((await fails(() => interaction.fetchReply())).code, 10008);
  },
  async deferral() {
    const interaction = await ask();
    await interaction.deferReply();
    assert.equal((await interaction.fetchReply()).flags.has(MessageFlags.Loading), true);
    await interaction.editReply('done');
    await step({ expect: { kind: 'edit', channel: 'alerts', content: 'done' } });
    assert.equal((await interaction.fetchReply()).flags.has(MessageFlags.Loading), false);
  },
  async buttons() {
    const row = new ActionRowBuilder().addComponents(new ButtonBuilder().setCustomId('yes').setLabel('Yes').setStyle(ButtonStyle.Primary));
    const sent = await channel.send({ content: 'Restart?', components: [row] });
    const first = await used({ click: { message: sent.id, user: 'alice', component: 'yes' } });
    assert.equal(first.isButton(), true);
    await first.update('Restarting');
    assert.equal((await sent.fetch(true)).content, 'Restarting');
    const second = await used({ click: { message: sent.id, user: 'alice', component: 'yes' } });
    await second.deferUpdate();
    await second.editReply({ content: 'Restarted', components: [] });
    assert.equal((await sent.fetch(true)).components.length, 0);
  },
  async webhooks() {
    const { id, token: secret } = await channel.createWebhook({ name: 'pager' });
    assert.equal((await channel.fetchWebhooks()).size, 1);
    const hook = new WebhookClient({ id, token: secret }, { rest });
    const sent = await hook.send({ content: 'disk full', username: 'Grafana' });
    assert.equal(sent.author.username, 'Grafana');
    assert.equal((await hook.editMessage(sent.id, 'disk is full')).content, 'disk is full');
    const thread = await channel.threads.create({ name: 'hooked' });
    assert.equal((await hook.send({ content: 'inside', threadId: thread.id })).channel_id, thread.id);
    await hook.deleteMessage(sent.id);
    assert.equal((await fails(() => hook.fetchMessage(sent.id))).code, 10008);
    assert.equal((await fails(() => new WebhookClient({ id, token: 'wrong' }, { rest }).send('x'))).code, 50027);
    await hook.delete();
    assert.equal((await fails(() => hook.send('x'))).code, 10015);
  },
});

await client.destroy();
