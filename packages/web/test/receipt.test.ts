import { Buffer } from 'node:buffer';
import { expect, test } from '@jest/globals';
import { approvalsOf, decodeReceipt, endOf, type Receipt, type ReceiptEvent } from '../src/api/receipt.ts';

const toJws = (content: unknown) =>
  `e30.${Buffer.from(JSON.stringify(content)).toString('base64url')}.c2lnbmF0dXJl`;

const eventOf = (state: string, change: Partial<ReceiptEvent> = {}): ReceiptEvent => ({
  event_time: '2026-03-01T12:00:00.000Z',
  event_state: state,
  validity_duration: 'PT86400S',
  pii_types: ['read:mood'],
  pii_since: null,
  ...change,
});

const purposeOf = (name: string) => ({
  purpose: null,
  language: 'de',
  recipient: {
    party_name: name,
    party_developer: null,
    party_description: null,
    party_url: null,
    privacy_notice: null,
    redirect_host: 'app.example',
  },
  pii_information: [],
});

test('a receipt is decoded with every character that an app or a catalog may use', () => {
  const purpose = { ...purposeOf('Tagebuch für Müde 🩺 ~~~???'), purpose: 'Größe → Gewicht' };
  const receipt = { record_id: 'g', iat: 1_772_366_400, purposes: [purpose], events: [eventOf('given')] };
  expect(decodeReceipt({ grantId: 'g', receipt: toJws(receipt) })).toEqual(receipt);
});

test.each(['', 'a', 'a.b', 'a.!!!.c'])('a text that is not a receipt (%j) is refused', (receipt) => {
  expect(() => decodeReceipt({ grantId: 'g', receipt })).toThrow();
});

test('each approval has the terms of its own event, also with other events between', () => {
  const events = [
    eventOf('given', { pii_types: ['read:mood', 'read:weight'] }),
    eventOf('narrowed'),
    eventOf('given', { pii_since: '2026-01-01' }),
    eventOf('withdrawn', { validity_duration: 'PT0S', pii_types: [] }),
  ];
  const receipt = { purposes: [purposeOf('First'), purposeOf('Second')], events } as unknown as Receipt;
  const approvals = approvalsOf(receipt).map(({ event, shown }) => [
    shown.recipient.party_name,
    event.pii_types.length,
    event.pii_since,
  ]);
  expect(approvals).toEqual([
    ['First', 2, null],
    ['Second', 1, '2026-01-01'],
  ]);
});

test.each([
  ['2026-03-01T12:00:00.345Z', 'PT39600S', '2026-03-01T23:00:00.000Z'],
  ['2026-03-01T12:00:00.655Z', 'PT39599S', '2026-03-01T23:00:00.000Z'],
])(
  'the end of sharing after %s for %s is a whole second, so that midnight stays midnight',
  (at, life, end) => {
    const event = eventOf('given', { event_time: at, validity_duration: life });
    expect(endOf(event)).toBe(Date.parse(end));
  },
);

test('an event that is not about terms has no end', () => {
  expect(endOf(eventOf('deletion requested', { validity_duration: null }))).toBeNull();
});
