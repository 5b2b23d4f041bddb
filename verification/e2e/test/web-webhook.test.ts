import { createServer, type IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Visitor } from '@phds/running-system/visitor';
import { eventually } from '@phds/test-kit/conditions';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

describeWithChromium('the webhook page', webhookPage);

/** A receiver on this machine that answers with `status` and keeps what it got. */
interface Receiver extends AsyncDisposable {
  readonly url: string;
  status: number;
  readonly received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
}

async function startReceiver(): Promise<Receiver> {
  const received: Receiver['received'][number][] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(receiver.status).end();
    });
  });
  const port = await listenOnLoopback(server);
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/events`,
    status: 204,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

function webhookPage(): void {
  const visits = prepareVisits();
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(async () => receiver[Symbol.asyncDispose]());

  const secretOf = async ({ page }: Visitor) => {
    const shown = page.getByRole('region', { name: 'Signing secret' }).locator('dd code');
    await shown.waitFor();
    return shown.textContent();
  };

  test('sets a webhook up, shows its secret once, sends a test, delivers again, rotates and removes it', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-webhook-maker');
    const app = await registerApp(stack.gateway, session, { name: 'Listener' });
    const visitor = await visits.open(`/console/${app.clientId}`, { session });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Webhook' }).click();
    await page.getByRole('button', { name: 'Set up the webhook' }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-none');

    await page.getByLabel('URL', { exact: true }).fill('ftp://receiver.example/');
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    await page.getByText('Nothing was saved.').waitFor();
    expect(await page.getByLabel('URL', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-refused');
    const events = ['grant.revoked', 'grant.expired', 'grant.narrowed', 'data.updated'];
    for (const name of events) await page.getByText(name, { exact: true }).click();
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    await page.getByText('Choose at least one event.').waitFor();
    await page.getByText('grant.revoked', { exact: true }).click();
    await page.getByLabel('URL', { exact: true }).fill(receiver.url);
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    const first = await secretOf(visitor);
    expect(first).toMatch(/^whsec_/);
    await page.getByText('No events yet').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-new');
    await visitor.goto(`/console/${app.clientId}/webhook`);
    expect(await page.content()).not.toContain(first);

    receiver.status = 500;
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The test is on its way.').waitFor();
    const delivery = page
      .getByRole('group')
      .filter({ hasText: 'test' })
      .filter({ has: page.locator('summary') });
    await delivery.locator('summary').click();
    await delivery.getByText('Refused with 500').first().waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-refused-delivery');
    receiver.status = 204;
    await delivery.getByRole('button', { name: 'Try now' }).click();
    await delivery.getByText('Accepted with 204').waitFor();
    await delivery.locator('summary').getByText('Delivered').waitFor();
    await page.getByText('Your receiver has not accepted').waitFor({ state: 'detached' });
    await visitor.takePictures('webhook-delivered');
    const accepted = receiver.received.length;
    await delivery.getByRole('button', { name: 'Send again' }).click();
    await eventually(() => receiver.received.length > accepted);
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect([ids.size, JSON.parse(receiver.received[0]?.body ?? '{}').type]).toEqual([1, 'test']);

    await page.getByRole('button', { name: 'Rotate the signing secret' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByLabel('The old secret keeps working').selectOption({ label: 'For 1 day' });
    await dialog.getByText('signed with both secrets').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-rotate-dialog');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    expect(await secretOf(visitor)).not.toBe(first);
    await page.getByText('each event is signed with the previous secret as well').waitFor();
    const before = receiver.received.length;
    await page.getByRole('button', { name: 'Send a test' }).click();
    await eventually(() => receiver.received.length > before);
    expect(String(receiver.received.at(-1)?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    await visitor.takePictures('webhook-rotated');

    await page.getByLabel('State', { exact: true }).selectOption({ label: 'Given up' });
    await page.getByText('No event is in this state').waitFor();
    await page.getByRole('button', { name: 'Remove the webhook' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Set up the webhook' }).waitFor();
  });

  test('offers another secret when the answer with the first one is lost', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-webhook-lost');
    const app = await registerApp(stack.gateway, session);
    const visitor = await visits.open(`/console/${app.clientId}/webhook`, { session });
    const { page } = visitor;
    await page.route('**/webhook', async (route) => {
      if (route.request().method() !== 'PUT') return route.fallback();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByLabel('URL', { exact: true }).fill(receiver.url);
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    await page.getByText('The webhook was saved, but the answer did not reach this page.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-answer-lost');
    await page.getByRole('button', { name: 'Rotate the signing secret' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
    expect(await secretOf(visitor)).toMatch(/^whsec_/);
  });

  test('says since when the receiver has not accepted anything, and that a receiver that is gone gets nothing', async () => {
    const { stack } = visits;
    const session = await signIn(stack, 'web-webhook-trouble');
    const app = await registerApp(stack.gateway, session);
    const visitor = await visits.open('/console', { session });
    const webhook = {
      url: receiver.url,
      events: ['grant.revoked'],
      previousSecretExpiresAt: null,
      disabledReason: null as string | null,
      failingSince: new Date(Date.now() - 7_200_000).toISOString(),
      createdAt: new Date(Date.now() - 86_400_000).toISOString(),
      updatedAt: new Date(Date.now() - 86_400_000).toISOString(),
    };
    await visitor.page.route('**/webhook', (route) => {
      if (route.request().isNavigationRequest()) return route.fallback();
      return route.fulfill({ json: { data: webhook } });
    });
    await visitor.goto(`/console/${app.clientId}/webhook`);
    await visitor.page.getByText('Your receiver has not accepted an event since').waitFor();
    await visitor.takePictures('webhook-failing');
    webhook.disabledReason = 'gone';
    await visitor.goto(`/console/${app.clientId}/webhook`);
    await visitor.page.getByText('Nothing is sent any more.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('webhook-gone');
  });
}
