import { METRICS } from '@phds/catalog/metrics';
import { readingsIn, type Timeline } from '../timeline.ts';

const units = new Map<string, string>(METRICS.map(({ name, unit }) => [name, unit]));

/** Writes the readings as CSV (RFC 4180): `type,start,end,value,unit,source`, with times in UTC. */
export function* writeCsv(timeline: Timeline): Generator<string> {
  yield 'type,start,end,value,unit,source\r\n';
  for (const { type, start, end, value, source } of readingsIn(timeline)) {
    yield `${type},${toUtc(start)},${toUtc(end)},${value},${units.get(type)},${source}\r\n`;
  }
}

function toUtc(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}
