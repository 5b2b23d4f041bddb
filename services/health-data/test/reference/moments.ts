import fc from 'fast-check';
import { changesOf } from './clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Zones with unusual clocks: changes at midnight, by half an hour, by two hours, or during Ramadan; offsets with quarters of an
 * hour; a skipped day; no changes. Their offsets were whole quarter hours since 1967; that of Kiritimati was not until 1979.
 */
export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'Asia/Beirut',
  'Africa/Cairo',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Atlantic/Azores',
  'Africa/Casablanca',
  'America/Sao_Paulo',
  'Asia/Tehran',
  'Antarctica/Troll',
  'Pacific/Tongatapu',
  'Pacific/Pago_Pago',
] as const;

/** The current time; readings more than a day later are refused. */
export const NOW = '2026-03-01T12:00:00.000Z';

const EVERYWHERE = [
  '2012-02-29T12:00:00Z',
  '2019-12-31T23:59:59.999Z',
  '2024-02-29T00:00:00Z',
  '2024-03-01T00:00:00Z',
  '2024-12-31T12:00:00Z',
  '2026-01-01T00:00:00Z',
  '2026-02-28T12:00:00Z',
  '1975-06-15T12:00:00Z',
  '1970-01-01T00:00:00Z',
].map((text) => Date.parse(text));

const FIRST_YEAR = 2009;
const LAST_YEAR = 2026;

const changes = new Map(ZONES.map((zone) => [zone, changesOf(zone, FIRST_YEAR, LAST_YEAR)]));

/** Times around which errors in a zone are likely. */
export function landmarks(zone: (typeof ZONES)[number]): fc.Arbitrary<number> {
  const known = (changes.get(zone) ?? []).filter((change) => change < Date.parse(NOW) - 3 * DAY);
  const everywhere = fc.constantFrom(...EVERYWHERE);
  return known.length === 0
    ? everywhere
    : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, everywhere);
}

/** A distance from a landmark: at full units of the clock, a millisecond beside them, anywhere, far away. */
export const distance: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -120, max: 120 }).map((quarters) => quarters * 15 * MINUTE) },
  { weight: 2, arbitrary: fc.integer({ min: -36, max: 36 }).map((hours) => hours * HOUR - 1) },
  { weight: 2, arbitrary: fc.integer({ min: -36 * HOUR, max: 36 * HOUR }) },
  { weight: 1, arbitrary: fc.integer({ min: -70, max: 2 }).map((days) => days * DAY) },
  { weight: 1, arbitrary: fc.integer({ min: -3, max: 0 }).map((years) => years * 365 * DAY) },
);

/** A date parameter near a landmark. */
export function toDateText(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}
