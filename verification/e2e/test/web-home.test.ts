import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

describeWithChromium('the start page', startPage);

function startPage(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const developer = await signIn(visits.stack, 'developer');
    app = await registerApp(visits.stack.gateway, developer, { name: 'Morning Run' });
  });

  test('names the requests that wait for a decision and leads to them', async () => {
    const session = await signIn(visits.stack, 'web-home-undecided');
    const asked = await app.authorize(['read:health-data:heart', 'read:mood']);
    const { approval_uri: uri } = expectStatus(201, asked).body;
    // The first person who opens a request claims it.
    const visitor = await visits.open(uri, { session });
    const { page } = visitor;
    await visitor.goto('/');
    await page.getByText('Morning Run wants to read your health data.').waitFor();
    await page.getByText('It asks for 2 types of data. Nothing is shared until you decide.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('start-waiting');
    await visitor.speak('de');
    await page.getByRole('link', { name: 'Anfrage ansehen' }).click();
    await page.waitForURL(uri);
  });
}
