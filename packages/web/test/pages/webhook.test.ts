import { expect, test } from '@jest/globals';
import { WEBHOOK_EVENTS, WEBHOOK_FAILURES } from '@phds/catalog/webhooks';
import { Answer, type Answers, example, inTurn, LOST, listOf, problem } from '../kit/answers.ts';
import { fireEvent, openPage, type Page, screen } from '../kit/page.ts';
import { after, afterDays } from '../kit/times.ts';

const { data: webhook } = example('getWebhook');
const PATH = `/console/${example('getApp').data.clientId}/webhook`;
const [event] = example('listDeliveries').data;
if (event === undefined) throw new Error('No delivery is recorded.');
const withSecret = { ...webhook, secret: 'whsec_1' };
const open = (answers: Answers = {}): Promise<Page> =>
  openPage(PATH, { answers: { listDeliveries: listOf(), ...answers } });
const openWithout = (answers: Answers = {}) => open({ getWebhook: problem('NOT_FOUND'), ...answers });
const submit = () => fireEvent.submit(screen.getByLabelText('URL').closest('form') as Element);
const changed = new Answer(200, JSON.stringify({ data: webhook }), 'application/json', true);
const seeSecret = (page: Page) => page.see('whsec_1', screen.getByRole('region', { name: 'Signing secret' }));

test('a webhook needs a valid URL and an event; its secret is shown once', async () => {
  const errors = [{ parameter: 'url', message: 'must be https' }];
  await using page = await openWithout({ putWebhook: problem('INVALID_REQUEST', { errors }) });
  await page.fill('URL', 'ftp://receiver.example/');
  for (const name of WEBHOOK_EVENTS) await page.press(new RegExp(`^${name}`), 'checkbox');
  await page.press('Set up the webhook');
  expect([page.alerts, page.changes]).toEqual([['Choose at least one event.'], []]);
  await page.press(/^grant\.revoked/, 'checkbox');
  await page.press('Set up the webhook');
  expect(page.alerts).toEqual([expect.stringContaining('Nothing was changed.')]);
  expect(screen.getByLabelText('URL').getAttribute('aria-invalid')).toBe('true');
  expect(await page.findBarriers()).toEqual([]);
  await page.fill('URL', webhook.url);
  Object.assign(page.answers, { putWebhook: { data: withSecret }, getWebhook: { data: webhook } });
  await page.press('Set up the webhook');
  expect(page.changes.at(-1)).toEqual(['putWebhook', { url: webhook.url, events: ['grant.revoked'] }]);
  seeSecret(page);
  page.see('No events yet');
  await page[Symbol.asyncDispose]();
  await using later = await open();
  expect(later.find('whsec_1')).toBeNull();
});

test('when the answer with the first secret is lost, the console shows what was set up, and another secret is offered', async () => {
  await using page = await openWithout({ putWebhook: LOST });
  await page.fill('URL', webhook.url);
  page.answers.getWebhook = { data: { ...webhook, events: [...WEBHOOK_EVENTS] } };
  await page.press('Set up the webhook');
  page.see('If you need the signing secret, rotate it to see a new one.', screen.getByRole('alert'));
  page.answers.rotateWebhookSecret = { data: withSecret };
  await page.confirm('Rotate the signing secret', 'Rotate');
  seeSecret(page);
});

test('a second Enter sends nothing, and the first secret stays when the webhook is changed', async () => {
  await using page = await openWithout();
  await page.fill('URL', webhook.url);
  const putWebhook = inTurn({ data: withSecret }, changed);
  Object.assign(page.answers, { putWebhook, getWebhook: { data: webhook } });
  const answer = page.hold('putWebhook');
  await page.user.dblClick(screen.getByRole('button', { name: 'Set up the webhook' }));
  await page.settle();
  submit();
  await answer();
  expect(page.changes).toHaveLength(1);
  seeSecret(page);
  await page.press('Save');
  page.see('Saved.');
  seeSecret(page);
});

test('one change of a webhook is made at a time, and takes the failure of the one before it away', async () => {
  await using page = await open({ deleteWebhook: LOST, putWebhook: changed });
  await page.confirm('Remove the webhook', 'Remove');
  expect(page.alerts).toHaveLength(1);
  const answer = page.hold('putWebhook');
  await page.press('Save');
  expect([page.alerts, screen.getAllByRole('button', { name: 'One moment…' }).length]).toEqual([[], 2]);
  await answer();
  const answerOfRotation = page.hold('rotateWebhookSecret');
  await page.confirm('Rotate the signing secret', 'Rotate');
  submit();
  await answerOfRotation();
  expect(page.changes.at(-1)?.[0]).toBe('rotateWebhookSecret');
});

test('a secret is rotated with the time for which the old one signs, and the webhook is removed', async () => {
  await using page = await open();
  await page.press('Rotate the signing secret');
  await page.fill('The old secret keeps working', 'For 1 day');
  page.see('each event is signed with both secrets', screen.getByRole('alertdialog'));
  const until = { previousSecretExpiresAt: afterDays(1) };
  Object.assign(page.answers, {
    rotateWebhookSecret: { data: { ...withSecret, ...until } },
    getWebhook: { data: { ...webhook, ...until } },
  });
  await page.press('Rotate');
  seeSecret(page);
  page.see('each event is signed with the previous secret as well');
  page.answers.getWebhook = problem('NOT_FOUND');
  await page.confirm('Remove the webhook', 'Remove');
  page.see('Set up the webhook');
  expect(page.changes).toEqual([
    ['rotateWebhookSecret', { overlapSeconds: 86_400 }],
    ['deleteWebhook', null],
  ]);
});

const TOLD = [
  'Refused with 500',
  'Redirected with 500, which is not followed',
  'No answer within 10 seconds',
  'The name of the server could not be resolved',
  'The name leads to a private or reserved address',
  'The TLS certificate is not valid',
  'The connection failed',
  'Not sent, because the connection had ended',
];

test('deliveries show each attempt with its result, by state, and are sent again', async () => {
  const attempts = WEBHOOK_FAILURES.map((failure, index) => ({
    ...{ at: after(-index), ms: 7, failure },
    status: index < 2 ? 500 : null,
  }));
  const accepted = { at: after(1), ms: 7, failure: null, status: 204 };
  await using page = await open({ listDeliveries: listOf({ ...event, attempts }) });
  for (const text of TOLD) page.see(text);
  await page.press('Send a test');
  page.see('The test is on its way.');
  await page.press('Try now');
  page.see('It will be sent in a moment.');
  const delivered = { ...event, state: 'delivered', nextAttemptAt: null, attempts: [accepted] } as const;
  page.answers.listDeliveries = listOf(delivered);
  await page.pass(3_000);
  page.see('Accepted with 204');
  await page.press('Send again');
  expect(page.changes.map(([operation]) => operation)).toEqual([
    'sendTestEvent',
    'redeliverEvent',
    'redeliverEvent',
  ]);
  page.answers.listDeliveries = listOf();
  await page.fill('State', 'Given up');
  page.see('No event is in this state');
  expect(page.requests.at(-1)?.query).toMatchObject({ state: 'failed' });
});

test.each([
  ['fails', { failingSince: after(-120) }, 'Your receiver has not accepted an event since'],
  ['is gone', { failingSince: after(-120), disabledReason: 'gone' }, 'Your receiver answered 410 Gone.'],
  ['is paused', { disabledReason: 'paused' }, 'An operator of the service has paused this webhook.'],
] as const)('a receiver that %s is pointed out', async (_, state, text) => {
  await using page = await open({ getWebhook: { data: { ...webhook, ...state } } });
  page.see(text);
  expect(await page.findBarriers()).toEqual([]);
});
