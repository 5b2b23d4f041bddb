import { expect, test } from '@jest/globals';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { runAsOperator } from '../src/operator-command.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

describeWithChromium('the developer console, where operators decide', () => {
  const visits = prepareVisits();

  test('shows why an app is suspended or waits, and offers no way to activate it', async () => {
    const session = await signIn(visits.stack, 'web-console-locks-maker');
    const { clientId } = await registerApp(visits.stack.gateway, session);
    const reason = 'Its homepage is gone.';
    await runAsOperator(visits.stack, ['apps', 'suspend', clientId, '--reason', reason]);
    const visitor = await visits.open(`/console/${clientId}`, { session });
    const { page } = visitor;
    await page.getByText(reason).waitFor();
    await page.getByText('Suspended by the operator').waitFor();
    expect(await page.getByRole('button', { name: 'Activate' }).count()).toBe(0);
    expect(await visitor.findBarriers()).toEqual([]);

    await page.route(`**/developer/apps/${clientId}`, async (route) => {
      const answer = await route.fetch();
      const { data } = await answer.json();
      const lock = { ...data.lock, kind: 'approval', reason: null };
      await route.fulfill({ response: answer, json: { data: { ...data, lock } } });
    });
    await visitor.goto(`/console/${clientId}`);
    await page.getByText('Waiting for approval').waitFor();
  });

  test('tells a person who may not register apps before they fill in a form', async () => {
    const session = await signIn(visits.stack, 'web-console-locks-visitor');
    const visitor = await visits.open('/console', { session });
    const { page } = visitor;
    await page.route('**/developer/apps?*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), mayRegister: false } });
    });
    for (const path of ['/console', '/console/new']) {
      await visitor.goto(path);
      await page.getByRole('heading', { name: 'You cannot register apps here' }).waitFor();
      expect(await page.getByRole('button', { name: 'Register' }).count()).toBe(0);
      expect(await page.getByRole('link', { name: 'Register an app' }).count()).toBe(0);
      expect(await visitor.findBarriers()).toEqual([]);
    }
  });
});
