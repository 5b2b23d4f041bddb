import { expect, test } from '@jest/globals';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { WebhookReceiver } from '@phds/test-kit/webhook-receiver';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';

describeWithChromium('the developer console', () => {
  const visits = prepareVisits();

  test('finds a refused request of an app by its id in the request log, and counts it in the usage', async () => {
    const session = await signIn(visits.stack, 'web-request-log-maker');
    const app = await registerApp(visits.stack.gateway, session, { name: 'Puzzled', scopes: [HEART] });
    const { accessToken } = await app.connect(session, [HEART]);
    const refused = await app.read(accessToken, '/api/v1/profile');
    const { page } = await visits.open(`/console/${app.clientId}`, { session });
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    const table = page.getByRole('table', { name: 'Requests', exact: true });
    const findEndpoints = () => table.locator('td:nth-child(3)').allTextContents();
    await eventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      expect(await findEndpoints()).toEqual(
        expect.arrayContaining(['GET /api/v1/profile', 'POST /oauth/token']),
      );
    });
    await page.getByLabel('Request ID').fill(` ${refused.headers.get('x-request-id')} `);
    await page.getByLabel('Request ID').press('Enter');
    await eventually(async () => expect(await findEndpoints()).toEqual(['GET /api/v1/profile']));
    const usage = `${app.gateway}/developer/apps/${app.clientId}/usage`;
    await eventually(async () => {
      const { data } = (await send(usage, { bearer: session })).body;
      return data.some(({ refusals }: { refusals: object[] }) => refusals.length > 0);
    });
    await page.reload();
    await page.getByText('Show as a table').click();
    await page.getByRole('row', { name: '/api/v1/profile 403 1' }).waitFor();
    await page.getByLabel('Status').selectOption('4xx');
    await eventually(async () => expect(await findEndpoints()).toEqual(['GET /api/v1/profile']));
    await page.getByRole('link', { name: 'INSUFFICIENT_SCOPE' }).click();
    await page.getByRole('heading', { name: 'INSUFFICIENT_SCOPE' }).waitFor();
  });

  test('sets a webhook up, and shows that a test was refused, then delivered with the secret shown', async () => {
    const receiver = shared.use(await WebhookReceiver.start());
    const session = await signIn(visits.stack, 'web-webhook-maker');
    const app = await registerApp(visits.stack.gateway, session);
    const visitor = await visits.open(`/console/${app.clientId}`, { session });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Webhook' }).click();
    await page.getByLabel('URL', { exact: true }).fill(receiver.url);
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    const shown = page.getByRole('region', { name: 'Signing secret' }).locator('dd code');
    const secret = (await shown.textContent()) ?? '';
    await page.getByRole('button', { name: 'Send a test' }).click();
    const delivery = page.getByRole('group').filter({ has: page.locator('summary', { hasText: 'test' }) });
    await delivery.locator('summary').click();
    await delivery.getByText('Refused with 401').first().waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    receiver.use(secret);
    await delivery.getByRole('button', { name: 'Try now' }).click();
    await delivery.locator('summary').getByText('Delivered').waitFor();
    expect(receiver.events.map(({ type }) => type)).toEqual(['test']);
  });
});
