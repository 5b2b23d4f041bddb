import type { Stack } from '@phds/local-stack/stack';
import { expectStatus } from './partner-app.ts';
import { send } from './request.ts';

const START = '2026-03-01T08:00:00Z';

/**
 * Stores one heart rate for each of these users, so that a released response differs from an empty one. Idempotent; uses the
 * ingestion rpc.
 */
export async function giveFirstReadings(
  stack: Pick<Stack, 'internalUrls' | 'serviceTokens'>,
  users: readonly string[],
): Promise<void> {
  const tokens = await stack.serviceTokens('importer');
  const bearer = await tokens('health-data');
  const url = `${stack.internalUrls['health-data']}/phds.healthdata.v1.IngestionService/PutReadings`;
  const readings = [{ type: 'Heart Rate', start: START, end: START, value: 61, source: 'synthetic' }];
  for (const userId of users) {
    const answer = expectStatus(200, await send(url, { bearer, json: { userId, readings } }));
    if (answer.body.result?.refusals !== undefined) throw new Error(`not stored: ${answer.text}`);
  }
}
