import { randomUUID } from 'node:crypto';
import type { Client, KeptAuthorization } from '@phds/sdk';
import express, { type Request, type Response } from 'express';
import { drawChart } from './chart.ts';
import { explain, isOver, showContent, showPage } from './page.ts';

/** What this app knows about a browser: an authorization under way, and the connection. */
interface Session {
  kept?: KeptAuthorization;
  connectionId?: string;
}

const COOKIE = 'example_app';

/** The app: connect, come back, see the chart, disconnect. Sessions and tokens are lost when it ends. */
export function createApp(client: Client) {
  const sessions = new Map<string, Session>();
  const sessionOf = ({ headers }: Request): Session =>
    sessions.get(new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(headers.cookie ?? '')?.[1] ?? '') ?? {};
  const open = (response: Response, session: Session) => {
    const id = randomUUID();
    sessions.set(id, session);
    response.cookie(COOKIE, id, { httpOnly: true, sameSite: 'lax' });
  };
  const app = express();

  app.get('/', async (request, response) => {
    const { connectionId } = sessionOf(request);
    if (connectionId === undefined) {
      return response.send(showPage(showContent('See your heart rate.', 'connect')));
    }
    const list = client.connection(connectionId).healthData('heart', { type: 'Heart Rate' });
    const readings = await list.toArray({ limit: 200 });
    const text = `Your newest ${readings.length} readings, beats per minute.`;
    return response.send(showPage(showContent(text, 'disconnect', drawChart(readings))));
  });

  app.post('/connect', async (_, response) => {
    const purpose = 'Shows your heart rate as a chart.';
    const { url, kept } = await client.authorize({ scopes: ['read:health-data:heart'], purpose });
    open(response, { kept });
    response.redirect(303, url);
  });

  app.get('/callback', async (request, response) => {
    const { kept } = sessionOf(request);
    if (kept === undefined) return response.redirect('/');
    const connection = await client.exchange(request.originalUrl, kept);
    open(response, { connectionId: connection.id });
    return response.redirect('/');
  });

  app.post('/disconnect', async (request, response) => {
    const { connectionId } = sessionOf(request);
    if (connectionId !== undefined) await client.endGrant(connectionId);
    open(response, {});
    response.redirect(303, '/');
  });

  app.use((error: Error, _request: Request, response: Response, _next: unknown) => {
    console.error(error);
    if (isOver(error)) open(response, {});
    response.status(isOver(error) ? 403 : 500).send(showPage(showContent(explain(error), 'connect')));
  });
  return app;
}
