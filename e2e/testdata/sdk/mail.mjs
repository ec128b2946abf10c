// nodemailer against the virtual mail server.
import { createTransport } from 'nodemailer';
import { assert, fails, reporter } from './check.mjs';

const at = new URL(process.env.MOCK_URL);
const transport = (options) =>
  createTransport({ host: at.hostname, port: Number(at.port), tls: { rejectUnauthorized: false }, ...options });
const mail = {
  from: 'tarsy@example.org',
  to: ['a@example.org', 'b@example.org'],
  cc: 'c@example.org',
  subject: 'Größe 😀',
  text: '.a line that begins with a dot\n\nThe disk is full.',
  html: '<p>The disk is full.</p>',
  attachments: [{ filename: 'report.txt', content: 'x'.repeat(100_000) }],
};

await reporter('nodemailer', {
  'mail is accepted after STARTTLS and a login': async () => {
    const sent = await transport({ requireTLS: true, auth: { user: 'ana', pass: 'good-secret' } }).sendMail(mail);
    assert.deepEqual(sent.accepted, ['a@example.org', 'b@example.org', 'c@example.org']);
    assert.match(sent.response, /^250 /);
  },
  'the login LOGIN works too': async () => {
    const sent = await transport({ requireTLS: true, authMethod: 'LOGIN', auth: { user: 'ana', pass: 'good-secret' } }).sendMail(mail);
    assert.match(sent.response, /^250 /);
  },
  'a connection carries several mails': async () => {
    const pool = transport({ pool: true, maxConnections: 1, requireTLS: true, auth: { user: 'ana', pass: 'good-secret' } });
    for (let n = 0; n < 3; n++) assert.match((await pool.sendMail(mail)).response, /^250 /);
    pool.close();
  },
  'a wrong password is refused': async () => {
    const error = await fails(() => transport({ requireTLS: true, auth: { user: 'ana', pass: 'wrong' } }).sendMail(mail));
    assert.equal(error.code, 'EAUTH', error.stack);
    assert.equal(error.responseCode, 535);
  },
});
