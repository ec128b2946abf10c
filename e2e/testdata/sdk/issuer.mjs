// oidc-provider, a certified OpenID provider, with its own pages. It prints its address, and ends with its input.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const server = createServer();

server.listen(0, '127.0.0.1', () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(base, {
    clients: [
      {
        client_id: 'tarsy',
        client_secret: process.env.CLIENT_SECRET,
        application_type: 'native', // any port of the loopback interface
        redirect_uris: ['http://127.0.0.1/api/v1/login/oidc/callback'],
      },
    ],
    pkce: { required: () => true },
    conformIdTokenClaims: process.env.CLAIMS_IN !== 'id_token', // otherwise they are at the userinfo endpoint only
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username', 'groups'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, preferred_username: id, groups: [process.env.GROUP] }),
    }),
  });
  server.on('request', provider.callback());
  console.log(base);
});

process.stdin.resume().on('end', () => process.exit());
