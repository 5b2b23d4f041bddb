import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
describeWithChromium('when an app removes its redirect URI while a request is open', changedApp);

function changedApp(): void {
  const visits = prepareVisits();
  let session: string;

  beforeAll(async () => {
    session = await signIn(visits.stack, 'web-changed-app-ada');
  });

  /** Opens the approval screen of such an app. */
  async function openMoved() {
    const developer = await signIn(visits.stack, 'developer');
    const app = await registerApp(visits.stack.gateway, developer, { name: 'Morning Run' });
    const { approval_uri } = expectStatus(201, await app.authorize([HEART])).body;
    const visitor = await visits.open(approval_uri, { session });
    const url = `${app.gateway}/developer/apps/${app.clientId}`;
    const json = { redirectUris: ['https://moved.example/callback'] };
    expectStatus(200, await send(url, { method: 'PATCH', bearer: developer, json }));
    return visitor;
  }

  test('approving is refused with an explanation of what the person can do', async () => {
    const visitor = await openMoved();
    const { page } = visitor;
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart');
    await screen.share.click();
    const alert = page.getByRole('alert');
    await alert.getByText('Nothing was shared: Morning Run has changed its settings').waitFor();
    await alert.getByText('Start again in Morning Run.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
  });

  test('denying succeeds, and the page says that the app cannot be informed', async () => {
    const visitor = await openMoved();
    const { page } = visitor;
    // The skip link leaves a fragment in the address.
    await page.evaluate("location.hash = 'main'");
    await page.getByRole('button', { name: "Don't share" }).click();
    await page.getByRole('heading', { name: 'You declined' }).waitFor();
    await page.getByRole('button', { name: 'Return to Morning Run' }).click();
    await page.getByRole('alert').getByText('Go back to Morning Run yourself.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
  });
}
