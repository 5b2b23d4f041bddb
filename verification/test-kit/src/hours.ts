/** Tests that run in one Jest process. */
export interface Suite {
  /** Paths from the root; empty for every test. */
  readonly files: readonly string[];
}

/**
 * Tests whose outcome could depend on the date: they choose calendar days, count by day or month, or read the data of synthetic
 * people, which ends at the current time. Files of one entry run one after the other; the entries run in parallel.
 */
export const DATE_SUITES: readonly Suite[] = [
  {
    files: [
      'verification/e2e/test/endpoints-answers.test.ts',
      'services/consent/test/history.test.ts',
      'services/consent/test/record-partitions.test.ts',
      'services/consent/test/host-webhooks.test.ts',
    ],
  },
];

/** Every hour of an ordinary day, and the hours around clock changes and the ends of a year and a month in Europe/Berlin. */
export const TELLING_INSTANTS: readonly number[] = [
  ...everyHourOf('2027-01-20'),
  // Daylight saving time starts at 01:00 UTC on 28 March and ends at 01:00 UTC on 31 October.
  '2027-03-27T23:30:00Z',
  '2027-03-28T00:30:00Z',
  '2027-03-28T01:30:00Z',
  '2027-03-28T22:30:00Z',
  '2027-10-30T22:30:00Z',
  '2027-10-31T00:30:00Z',
  '2027-10-31T01:30:00Z',
  '2027-10-31T23:30:00Z',
  '2027-12-31T12:30:00Z',
  '2027-12-31T23:30:00Z',
  '2028-02-28T23:30:00Z',
  '2028-02-29T12:30:00Z',
  '2028-02-29T23:30:00Z',
].map((instant) => (typeof instant === 'number' ? instant : Date.parse(instant)));

/** Half past every hour of a day (YYYY-MM-DD, UTC), in milliseconds. Throws when there is no such day. */
export function everyHourOf(day: string): number[] {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  if (!isDay) throw new Error(`${day}: not a day such as 2027-03-28`);
  return Array.from({ length: 24 }, (_, hour) => midnight + hour * 3_600_000 + 1_800_000);
}
