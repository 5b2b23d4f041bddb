import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { type RunningExampleApp, startExampleApp } from '../src/example-app.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const USER = 'example-app';
const HOUR_MS = 3_600_000;

describeWithChromium('the example app', () => {
  const visits = prepareVisits();
  let app: RunningExampleApp;

  beforeAll(async () => {
    app = await startExampleApp(visits.stack);
    const readings = Array.from({ length: 40 }, (_, hour) => ({
      type: 'Heart Rate',
      // Within the month that the approval screen proposes.
      start: new Date(Date.now() - (hour + 1) * HOUR_MS).toISOString(),
      value: 60 + ((hour * 7) % 40),
    }));
    await ingestReadings(visits.stack, USER, readings);
  });
  afterAll(async () => app?.[Symbol.asyncDispose]());

  const open = async () => {
    const visitor = await visits.open('/signed-in', { session: await signIn(visits.stack, USER) });
    const { page } = visitor;
    await page.goto(app.url);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.waitForURL('**/approve/*');
    return { visitor, page, screen: new ApprovalScreen(page) };
  };

  test('leads from Connect to a chart of the heart rate, and disconnects', async () => {
    const { visitor, page, screen } = await open();
    await screen.shareOnly('Heart');
    await page.getByRole('img', { name: /^Heart rate from .+ to .+, per minute$/ }).waitFor();
    await page.getByText('Your newest 40 readings, beats per minute.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('example-app');
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    const { body } = await send(`${visits.stack.gateway}/partner/consent/grants`, {
      bearer: await signIn(visits.stack, USER),
    });
    expect(body.data[0]).toMatchObject({ status: 'revoked', revokedBy: 'app' });
  });

  test('says so when the person shares nothing, and offers to connect again', async () => {
    const { page, screen } = await open();
    await screen.deny.click();
    await page.getByText('The person did not approve the request.').waitFor();
    await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
  });

  test('offers to connect again when the person has ended the connection elsewhere', async () => {
    const { visitor, page, screen } = await open();
    await screen.shareOnly('Heart');
    await page.getByRole('img').waitFor();
    const session = await signIn(visits.stack, USER);
    const url = `${visits.stack.gateway}/partner/consent/grants/revoke-all`;
    expectStatus(200, await send(url, { method: 'POST', bearer: session }));
    await page.reload();
    await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
  });
});
