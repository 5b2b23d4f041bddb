/**
 * A partner app: connects a person and shows their heart rate. With the argument `page`, the app is a page without a server of its own.
 * Settings: CLIENT_ID, CLIENT_SECRET, PHDS_URL, PORT.
 */
import { createClient } from '@phds/sdk';
import { createApp } from './app.ts';
import { registerAtLocalStack } from './local-registration.ts';
import { createPageServer } from './page-server.ts';

const { CLIENT_ID, CLIENT_SECRET = '', PHDS_URL = 'http://localhost:8080', PORT = '3000' } = process.env;
const isPage = process.argv[2] === 'page';
const own = `http://localhost:${PORT}`;
const redirectUri = isPage ? `${own}/` : `${own}/callback`;

const { clientId, clientSecret } =
  CLIENT_ID === undefined
    ? await registerAtLocalStack(PHDS_URL, redirectUri, isPage ? 'public' : 'server')
    : { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
const app = isPage
  ? createPageServer(PHDS_URL, clientId)
  : createApp(createClient({ baseUrl: PHDS_URL, redirectUri, clientId, clientSecret }));
app.listen(Number(PORT), 'localhost', (error) => {
  if (error !== undefined) throw error;
  console.log(`Open ${own} and press "Connect". Ctrl-C ends the app.`);
});
