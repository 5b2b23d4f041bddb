import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { METRICS } from '@phds/catalog/metrics';
import { TIME_ZONE_NAMES } from '@phds/catalog/time-zones';
import { createSummaries } from '../src/summaries.ts';
import { splitRange } from '../src/window.ts';
import { PATIENT_SCANS } from './patient-scans.ts';
import { row, shareWritingHarness } from './writing-harness.ts';

const harness = await shareWritingHarness();

test('a zone that Postgres does not know is refused and changes nothing', async () => {
  await harness.profiles.put('martian', { timeZone: 'Europe/Berlin' });
  await expect(
    harness.profiles.put('martian', { name: 'Ada', timeZone: 'Mars/Olympus' }),
  ).rejects.toMatchObject({
    reason: 'invalid_request',
    violations: [{ parameter: 'timeZone', message: 'must be a time zone that the database knows' }],
  });
  const { rows } = await harness.pool.query("SELECT name, time_zone FROM profile WHERE user_id = 'martian'");
  expect(rows).toEqual([{ name: null, time_zone: 'Europe/Berlin' }]);
});

test('a large summary has a time limit of its own, others have that of the pool', async () => {
  const at = (n: number) => new Date(Date.UTC(2025, 2, 27, n)).toISOString();
  await harness.put(
    'large',
    Array.from({ length: 1_500 }, (_, n) => row('steps', at(n), n)),
  );
  await harness.pool.query("UPDATE reading_count SET count = 1e6 WHERE user_id = 'large' AND span = 'all'");
  const query = {
    askedBy: 'app_reads',
    userId: 'large',
    metrics: METRICS.map(({ key }) => key),
    timeZone: 'UTC',
    since: null,
  };
  const summaries = createSummaries(harness.pool, { ...PATIENT_SCANS, statementTimeoutMs: 1 });
  const large = summaries.summarise({ ...query, range: { from: null, to: null } });
  await expect(large).rejects.toMatchObject({ code: '57014' });
  const range = { from: new Date(at(0)), to: new Date(at(1_500)) };
  expect(await summaries.summarise({ ...query, range })).toHaveLength(1);
});

test.each([
  ['a part of a unit', '00:01', '00:14', null, [['00:01', '00:14']]],
  ['parts of two', '00:10', '00:20', null, [['00:10', '00:20']]],
  [
    'whole units and parts',
    '00:10',
    '00:50',
    ['00:15', '00:45'],
    [
      ['00:10', '00:15'],
      ['00:45', '00:50'],
    ],
  ],
  ['whole units', '00:15', '00:30', ['00:15', '00:30'], []],
  ['no time', '00:15', '00:15', null, []],
])('a range of %s is split at units', (_, from, to, whole, edges) => {
  const range = ([start, end]: readonly string[]) => ({
    from: new Date(`2025-01-01T${start}Z`),
    to: new Date(`2025-01-01T${end}Z`),
  });
  expect(splitRange(range([from, to]), 900_000)).toEqual({
    whole: whole === null ? null : range(whole),
    edges: edges.map(range),
  });
});

const FIRST = Date.UTC(1980, 0, 1);
const LAST = Date.UTC(2040, 0, 1);
const MONTH = 30 * 86_400_000;

test('the hours and days of every zone begin at whole quarter hours of UTC, at least since 1980', () => {
  const odd = TIME_ZONE_NAMES.filter((timeZone) => {
    const { format } = new Intl.DateTimeFormat('en-US', {
      timeZone,
      year: 'numeric',
      timeZoneName: 'longOffset',
    });
    for (let at = FIRST; at < LAST; at += MONTH)
      if (!/GMT(?:[+-]\d\d:(?:00|15|30|45))?$/.test(format(at))) return true;
    return false;
  });
  expect(odd).toEqual([]);
});

test('stored quarter hours were made by the same rules of the catalog: whoever changes these migrates the rows (quarters.ts)', () => {
  const rules = METRICS.map(({ key, kind, bucketBy, decimals, referenceRange }) => {
    return [key, kind, bucketBy, decimals, referenceRange?.low, referenceRange?.high];
  });
  expect(hash('sha256', JSON.stringify(rules), 'hex').slice(0, 16)).toBe('6061001eb31d2b5d');
});
