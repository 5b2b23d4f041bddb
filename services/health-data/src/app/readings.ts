import type { MetricKey } from '@phds/catalog/metrics';
import { METRICS } from '@phds/catalog/metrics';
import type { Reading } from '../domain/reading.ts';
import { notBefore, toInstants } from '../domain/window.ts';
import type { DataRequest } from './data-request.ts';
import { findSince, toSlice } from './data-window.ts';
import { type Answer, toEncodedListAnswer } from './document.ts';
import type { ProfileStore, ReadingReader } from './ports.ts';

/** Readings of one category, newest first. */
export async function readReadings(
  ports: { readonly readings: ReadingReader; readonly profiles: ProfileStore },
  request: DataRequest,
): Promise<Answer> {
  const { path, ids, userId, parameters } = request;
  if (path.category === null) throw new RangeError('Readings are read by category.');
  const since = await findSince(ports.profiles, request);
  const page = await ports.readings.list({
    userId,
    category: path.category,
    metric: parameters.metric?.key ?? null,
    range: notBefore(toInstants(parameters.window), since),
    ...toSlice(parameters),
  });
  const publicIds = ids.toPublicIds('rdg', page.items);
  const items = page.items.map((reading, index) => encodeReading(reading, publicIds[index] ?? ''));
  return toEncodedListAnswer(items, { ...parameters, total: page.total });
}

// The hottest code of the service: the constant parts of each type's JSON are encoded once.
const PARTS: ReadonlyMap<MetricKey, { readonly type: string; readonly unit: string }> = new Map(
  METRICS.map(({ key, name, unit }) => [
    key,
    {
      type: `","type":${JSON.stringify(name)},"value":`,
      unit: `,"unit":${JSON.stringify(unit)},"timestamp":"`,
    },
  ]),
);

/** The JSON text of a reading with exactly the public fields, in their order. */
export function encodeReading(reading: Reading, publicId: string): string {
  const { type = '', unit = '' } = PARTS.get(reading.metric) ?? {};
  // A finite number or null is formatted as in JSON; ingestion allows nothing else.
  const value = `${type}${reading.value}${unit}`;
  const source = JSON.stringify(reading.source);
  return `{"id":"${publicId}${value}${reading.timestamp}","source":${source}}`;
}
