import { Buffer } from 'node:buffer';
import { expect, test } from '@jest/globals';
import { answersOf, recordedGrant } from '../kit/grants.ts';
import { openPage, type Page, screen, textOf, within } from '../kit/page.ts';
import { after, NOW } from '../kit/times.ts';

const HEART = 'read:health-data:heart';
const recipient = {
  ...{ party_name: 'Morning Run', party_developer: 'Run Labs GmbH', redirect_host: 'app.example' },
  ...{ party_url: null, privacy_notice: 'https://run.example/privacy', party_description: null },
};
const shown = {
  ...{ purpose: 'It shows how hard you train.', language: 'en', recipient },
  pii_information: [{ pii_type: HEART, pii_title: 'Heart', pii_description: 'How fast it beats.' }],
};
let minutes = 0;
const eventOf = (event_state: string, changes: object = {}) => {
  minutes += 1;
  const terms = { validity_duration: 'PT86400S', pii_types: [HEART], pii_since: null };
  return { event_time: after(minutes), event_state, ...terms, ...changes };
};
const openReceipt = async (content: unknown): Promise<Page> => {
  const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
  const getReceipt = { data: { grantId: recordedGrant.id, receipt: `e30.${payload}.e30` } };
  const page = await openPage(`/apps/${recordedGrant.id}`, { answers: { ...answersOf(), getReceipt } });
  await page.press(screen.getByText('What you agreed to'));
  return page;
};
const receiptOf = (purposes: readonly object[], ...events: readonly object[]) => ({
  ...{ record_id: recordedGrant.id, pii_principal_id: 'ada', iat: NOW / 1_000, purposes, events },
});

test('a receipt tells the whole life of a connection', async () => {
  const both = [
    ...shown.pii_information,
    { pii_type: 'read:mood', pii_title: 'Mood', pii_description: 'How you felt.' },
  ];
  const again = { ...shown, pii_information: both };
  const wider = { pii_types: [HEART, 'read:mood'], pii_since: '2026-01-01' };
  const states = ['given', 'narrowed', 'given', 'withdrawn', 'expired', 'ended by the app'];
  const late = [
    'ended by an operator of the service',
    'terminated',
    'deletion requested',
    'of a later release',
  ];
  const events = [...states, ...late].map((state, index) => eventOf(state, index === 2 ? wider : {}));
  await using page = await openReceipt(receiptOf([shown, again], ...events));
  const first = screen.getByRole('region', { name: /^You agreed on/ });
  for (const text of [
    shown.purpose,
    'Run Labs GmbH',
    'app.example',
    recipient.privacy_notice,
    'English',
    'all dates',
  ])
    page.see(text, first);
  expect(within(first).getAllByRole('listitem').map(textOf)).toEqual(['Heart How fast it beats.']);
  const second = screen.getByRole('region', { name: /^You agreed again on/ });
  page.see('from 1 Jan 2026', second);
  expect(within(second).getByRole('list').lang).toBe('en');
  expect(within(second).getAllByRole('listitem')).toHaveLength(2);
  const lines = within(screen.getByRole('region', { name: 'What happened' })).getAllByRole('listitem');
  expect(lines.map((line) => line.querySelector('strong')?.textContent)).toEqual([
    ...['You agreed.', 'You changed sharing.', 'You agreed.', 'You stopped sharing.', 'Sharing expired.'],
    ...['The app stopped the sharing.', 'The operators of this service stopped the sharing.'],
    ...[
      'Sharing stopped because the app was shut down.',
      'You asked the app to delete your data.',
      'of a later release',
    ],
  ]);
  page.see('Shared: Heart and Mood. Until 28 Nov 2026, 12:03. Data shared: from 1 Jan 2026.');
});

test.each([
  ['content', null],
  ['time', { ...receiptOf([]), iat: undefined }],
  ['possible time', { ...receiptOf([]), iat: 1e20 }],
])('a receipt without %s, which the page cannot read, is still offered as a file', async (_, content) => {
  await using page = await openReceipt(content);
  page.see("This receipt can't be shown here. You can still download it.");
  screen.getByRole('button', { name: 'Download receipt' });
});
