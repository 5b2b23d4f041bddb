import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  type AccessRecord,
  digestAccessRecord,
  encodeAccessRecord,
  hashBatch,
  hashBeginning,
  parseUuid,
  timeOfUuid,
  toUuidText,
} from '../src/chain.ts';

const RECORD: AccessRecord = {
  id: parseUuid('017f22e2-79b0-7000-8123-456789abcdef'),
  at: Date.parse('2022-02-22T19:22:22.000Z'),
  userRef: parseUuid('6ba7b810-9dad-41d1-80b4-00c04fd430c8'),
  clientId: 'app_1',
  grantId: 'grt_1',
  scope: 'read:mood',
  endpoint: '/api/v1/mood',
  from: '2022-01-01',
  to: '',
  page: 1,
  recordCount: 20,
  requestId: 'req_é',
  refersTo: null,
  verdict: '',
};

const ENCODED = [
  '01',
  '0010017f22e279b070008123456789abcdef',
  '00080000017f22e279b0',
  '00106ba7b8109dad41d180b400c04fd430c8',
  '00056170705f31',
  '00056772745f31',
  '0009726561643a6d6f6f64',
  '000c2f6170692f76312f6d6f6f64',
  '000a323032322d30312d3031',
  '0000',
  '000400000001',
  '000400000014',
  '00067265715fc3a9',
  '0000',
  '0000',
].join('');

describe('the canonical encoding', () => {
  test('is unchanged since the first release', () => {
    expect(encodeAccessRecord(RECORD).toString('hex')).toBe(ENCODED);
    expect(digestAccessRecord(RECORD).toString('hex')).toBe(
      createHash('sha256').update(Buffer.from(ENCODED, 'hex')).digest('hex'),
    );
  });

  test('distinguishes a refusal from the record that it refers to', () => {
    const refusal = { ...RECORD, refersTo: RECORD.id, verdict: 'grant_revoked' };
    const end = `0010${Buffer.from(RECORD.id).toString('hex')}000d6772616e745f7265766f6b6564`;
    expect(encodeAccessRecord(refusal).toString('hex')).toBe(ENCODED.slice(0, -8) + end);
  });

  test('never encodes two different records alike, wherever their fields begin and end', () => {
    const digests = [
      { clientId: 'ab', grantId: 'c' },
      { clientId: 'a', grantId: 'bc' },
      { clientId: 'abc', grantId: '' },
      { clientId: '', grantId: 'abc' },
    ].map((change) => digestAccessRecord({ ...RECORD, ...change }).toString('hex'));
    expect(new Set(digests).size).toBe(4);
  });

  test('covers every field', () => {
    const changed: AccessRecord[] = [
      { ...RECORD, id: parseUuid('017f22e2-79b0-7000-8123-456789abcdee') },
      { ...RECORD, at: RECORD.at + 1 },
      { ...RECORD, userRef: RECORD.id },
      ...(['clientId', 'grantId', 'scope', 'endpoint', 'from', 'to', 'requestId', 'verdict'] as const).map(
        (name) => ({ ...RECORD, [name]: 'x' }),
      ),
      { ...RECORD, page: 2 },
      { ...RECORD, recordCount: 21 },
      { ...RECORD, refersTo: RECORD.id },
    ];
    const digests = [RECORD, ...changed].map((record) => digestAccessRecord(record).toString('hex'));
    expect(changed).toHaveLength(Object.keys(RECORD).length);
    expect(new Set(digests).size).toBe(changed.length + 1);
  });

  test('supports texts longer than any recorded one, and refuses what its lengths cannot express', () => {
    const long = 'ü'.repeat(30_000);
    expect(encodeAccessRecord({ ...RECORD, scope: long, endpoint: long }).length).toBeGreaterThan(120_000);
    expect(() => encodeAccessRecord({ ...RECORD, scope: 'x'.repeat(65_536) })).toThrow(RangeError);
    expect(encodeAccessRecord(RECORD).toString('hex')).toBe(ENCODED);
  });
});

describe('the hash of a batch', () => {
  test('is unchanged since the first release', () => {
    const writer = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
    const beginning = hashBeginning(writer);
    expect(beginning.toString('hex')).toBe(
      createHash('sha256').update('phds access record chain 1\n').update(parseUuid(writer)).digest('hex'),
    );
    const digest = digestAccessRecord(RECORD);
    expect(hashBatch(beginning, 258, digest).toString('hex')).toBe(
      createHash('sha256')
        .update(beginning)
        .update(Buffer.from('0000000000000102', 'hex'))
        .update(digest)
        .digest('hex'),
    );
  });
});

test('ids contain their times and are distinct', () => {
  expect(timeOfUuid(RECORD.id)).toBe(RECORD.at);
  expect(toUuidText(RECORD.id)).toBe('017f22e2-79b0-7000-8123-456789abcdef');
  expect(() => parseUuid('017f22e2')).toThrow(TypeError);
});
