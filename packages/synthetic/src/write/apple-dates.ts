import { DAY_MS, MINUTE_MS, SECOND_MS } from '../calendar.ts';

const pad = (value: number) => String(value).padStart(2, '0');
const PAIRS = Array.from({ length: 60 }, (_, value) => pad(value));

/** Returns a formatter of instants as in exports, `2026-03-01 07:15:00 +0100`. All use the offset at the time of the export. */
export function createAppleDates(offset: number): (instant: number) => string {
  const minutes = Math.abs(offset) / MINUTE_MS;
  const zone = `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${pad(minutes % 60)}`;
  let [day, date] = [Number.NaN, ''];
  return (instant) => {
    const local = instant + offset;
    const number = Math.floor(local / DAY_MS);
    if (number !== day) {
      day = number;
      date = new Date(number * DAY_MS).toISOString().slice(0, 10);
    }
    const second = Math.floor((local - number * DAY_MS) / SECOND_MS);
    const [hour, minute] = [Math.floor(second / 3600), Math.floor(second / 60) % 60];
    return `${date} ${PAIRS[hour]}:${PAIRS[minute]}:${PAIRS[second % 60]} ${zone}`;
  };
}
