/** A partner app: connects a person and shows their heart rate. Settings: CLIENT_ID, CLIENT_SECRET, PHDS_URL, PORT. */
import { createClient } from '@phds/sdk';
import { createApp } from './app.ts';
import { registerAtLocalStack } from './local-registration.ts';

const { CLIENT_ID, CLIENT_SECRET, PHDS_URL = 'http://localhost:8080', PORT = '3000' } = process.env;
const own = `http://localhost:${PORT}`;
const redirectUri = `${own}/callback`;

const registered =
  CLIENT_ID !== undefined && CLIENT_SECRET !== undefined
    ? { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }
    : await registerAtLocalStack(PHDS_URL, redirectUri);
const client = createClient({ baseUrl: PHDS_URL, redirectUri, ...registered });
createApp(client).listen(Number(PORT), 'localhost', (error) => {
  if (error !== undefined) throw error;
  console.log(`Open ${own} and press "Connect". Ctrl-C ends the app.`);
});
