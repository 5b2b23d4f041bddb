/** The development identity provider as a process of its own. */
import { readFile } from 'node:fs/promises';
import { createIdentityProvider } from './identity-provider.ts';
import { openUserDirectory, SESSION_SECONDS } from './users.ts';

function readSetting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

const app = createIdentityProvider({
  issuer: readSetting('ISSUER'),
  clientId: readSetting('CLIENT_ID'),
  client: {
    secret: (await readFile(readSetting('CLIENT_SECRET_FILE'), 'utf8')).trim(),
    gatewayUrls: readSetting('GATEWAY_URLS').split(','),
    backchannelLogoutUrl: readSetting('BACKCHANNEL_LOGOUT_URL'),
  },
  privateKeyPem: await readFile(readSetting('PRIVATE_KEY_FILE'), 'utf8'),
  users: await openUserDirectory(readSetting('USERS_FILE')),
  idTokenSeconds: Number(process.env['ID_TOKEN_SECONDS'] ?? SESSION_SECONDS),
});

const server = app.listen(Number(readSetting('PORT')), readSetting('HOST'), (error) => {
  if (error === undefined) return;
  console.error(error.message);
  process.exit(1);
});

// As the gateway. With Node's 5 s, a connection may be closed just when a caller that was busy for seconds sends its next request.
server.keepAliveTimeout = 75_000;

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}
