// openid-client, the library of the author of a certified provider, against the virtual issuer.
import * as client from 'openid-client';
import { assert, base, fails, reporter } from './check.mjs';

const secret = process.env.CLIENT_SECRET;
const returnTo = 'http://127.0.0.1:1/callback';

const discover = (authentication = client.ClientSecretPost(secret)) =>
  client.discovery(new URL(base), 'program', undefined, authentication, { execute: [client.allowInsecureRequests] });

// login is what a browser does: it opens the page, sends the form of a person, and is sent back.
async function login(config, choice) {
  const verifier = client.randomPKCECodeVerifier();
  const expected = { pkceCodeVerifier: verifier, expectedState: client.randomState(), expectedNonce: client.randomNonce() };
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: returnTo,
    scope: 'openid email profile',
    state: expected.expectedState,
    nonce: expected.expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const page = await fetch(address);
  assert.equal(page.status, 200, await page.clone().text());
  const form = new URLSearchParams(choice);
  for (const [, name, value] of (await page.text()).matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)) {
    form.set(name, value.replaceAll('&#43;', '+').replaceAll('&amp;', '&'));
  }
  const answer = await fetch(address, { method: 'POST', body: form, redirect: 'manual' });
  assert.equal(answer.status, 303, await answer.text());

  return { back: new URL(answer.headers.get('location')), expected };
}

await reporter('openid-client', {
  'a login ends with claims of the person': async () => {
    const config = await discover();
    const { back, expected } = await login(config, { subject: 'ada' });
    const tokens = await client.authorizationCodeGrant(config, back, expected);
    assert.equal(tokens.claims().sub, 'ada');
    assert.equal(tokens.claims().aud, 'program');
    assert.deepEqual(tokens.claims().groups, ['responders']);
    const info = await client.fetchUserInfo(config, tokens.access_token, 'ada');
    assert.equal(info.email, 'ada@example.com');
  },
  'the secret is accepted in the header too': async () => {
    const config = await discover(client.ClientSecretBasic(secret));
    const { back, expected } = await login(config, { subject: 'ada' });
    assert.equal((await client.authorizationCodeGrant(config, back, expected)).claims().sub, 'ada');
  },
  'a wrong secret is refused': async () => {
    const config = await discover(client.ClientSecretPost('wrong'));
    const { back, expected } = await login(config, { subject: 'ada' });
    const error = await fails(() => client.authorizationCodeGrant(config, back, expected));
    assert.equal(error.error, 'invalid_client', error.stack);
  },
  'a code is valid once': async () => {
    const config = await discover();
    const { back, expected } = await login(config, { subject: 'ada' });
    await client.authorizationCodeGrant(config, back, expected);
    const error = await fails(() => client.authorizationCodeGrant(config, back, expected));
    assert.equal(error.error, 'invalid_grant', error.stack);
  },
  'another verifier is refused': async () => {
    const config = await discover();
    const { back, expected } = await login(config, { subject: 'ada' });
    const other = { ...expected, pkceCodeVerifier: client.randomPKCECodeVerifier() };
    const error = await fails(() => client.authorizationCodeGrant(config, back, other));
    assert.equal(error.error, 'invalid_grant', error.stack);
  },
  'a person can deny': async () => {
    const config = await discover();
    const { back, expected } = await login(config, { deny: 'true' });
    const error = await fails(() => client.authorizationCodeGrant(config, back, expected));
    assert.equal(error.error, 'access_denied', error.stack);
  },
});
