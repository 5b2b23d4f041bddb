import { Buffer } from 'node:buffer';
import { expect, test } from '@jest/globals';
import { decodeReceipt, endOf, type ReceiptEvent } from '../src/api/receipt.ts';

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

test('a receipt is decoded with every character that an app or a catalog may use', () => {
  const purposes = [{ party_name: 'Tagebuch für Müde 🩺 ~~~???', purpose: 'Größe → Gewicht' }];
  const receipt = { record_id: 'g', iat: 1_772_366_400, purposes, events: [eventOf('given')] };
  expect(decodeReceipt({ grantId: 'g', receipt: toJws(receipt) })).toEqual(receipt);
});

test.each(['', 'a', 'a.b', 'a.!!!.c'])('a text that is not a receipt (%j) is refused', (receipt) => {
  expect(() => decodeReceipt({ grantId: 'g', receipt })).toThrow();
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
