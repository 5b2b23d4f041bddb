import { expect } from '@jest/globals';
import { Endpoint } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { at, type Harness, reading, textOf } from './harness.ts';

export const EVERYTHING = '1970-01-01T00:00:00Z';

interface Asked {
  readonly since?: string;
  readonly category?: string;
  readonly type?: string;
  readonly pageSize?: number;
  readonly about?: Parameters<Harness['about']>[1];
}

/** Asks for the changes of readings of a person; everything of the category heart by default. */
export async function askChanges(harness: Harness, userId: string, asked: Asked = {}) {
  const { since = EVERYTHING, category = 'heart', type = '', pageSize = 20, about } = asked;
  const parameters = { updatedSince: since, type, page: { page: 1, pageSize } };
  const request = { endpoint: Endpoint.HEALTH_DATA, category, parameters };
  const response = await harness.reads.read(request, await harness.about(userId, about));
  return { ...JSON.parse(textOf(response)), text: textOf(response), nextCursor: response.nextCursor };
}

export const noon = (day: number) => `2026-01-${String(day).padStart(2, '0')}T12:00:00.000Z`;

/** A heart rate of a day in January. */
export const heart = (day: number, value = 60) => reading('Heart Rate', noon(day), value);

/** Deletes the heart rate of a day. */
export async function removeHeart(harness: Harness, userId: string, day: number): Promise<void> {
  const key = { type: 'Heart Rate', start: at(noon(day)), source: 'apple-watch' };
  expect(await harness.ingestion.deleteReadings({ userId, keys: [key] })).toMatchObject({ deleted: 1 });
}

/** The days of the changes, in order. */
export const daysOf = ({ data }: { data: { timestamp: string }[] }) =>
  data.map(({ timestamp }) => Number(timestamp.slice(8, 10)));
