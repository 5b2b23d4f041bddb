import type { Stack } from '@phds/local-stack/stack';
import { expectStatus } from './partner-app.ts';
import { type Answer, send } from './request.ts';

/** A reading in the JSON form of the ingestion rpc; instants are RFC 3339. */
export interface ReadingJson {
  readonly type: string;
  readonly start: string;
  readonly end?: string;
  readonly value: number;
  readonly unit?: string;
  readonly source?: string;
}

/** Calls an internal rpc as `curl` would: Connect protocol, JSON, with the token of a service. */
export async function callInternally(
  stack: Pick<Stack, 'internalUrls' | 'serviceTokens'>,
  call: {
    readonly service: keyof Stack['internalUrls'];
    /** `phds.consent.v1.ConsentService/ListGrants` */
    readonly rpc: string;
    readonly caller: Parameters<Stack['serviceTokens']>[0];
    readonly request?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<Answer> {
  const tokens = await stack.serviceTokens(call.caller);
  const token = await tokens(call.service);
  return send(`${stack.internalUrls[call.service]}/${call.rpc}`, {
    bearer: token,
    json: call.request ?? {},
    ...(call.headers === undefined ? {} : { headers: call.headers }),
  });
}

/** Stores readings of a user as importers do. Throws when anything is refused. */
export async function ingestReadings(
  stack: Pick<Stack, 'internalUrls' | 'serviceTokens'>,
  userId: string,
  readings: readonly ReadingJson[],
): Promise<void> {
  const answer = await ingest(stack, 'PutReadings', {
    userId,
    readings: readings.map((reading) => ({ source: 'manual', ...reading })),
  });
  const { refusals = [] } = answer.body.result;
  if (refusals.length > 0) throw new Error(`readings were refused: ${JSON.stringify(refusals)}`);
}

/** Sets a user's time zone. */
export async function setTimeZone(
  stack: Pick<Stack, 'internalUrls' | 'serviceTokens'>,
  userId: string,
  timeZone: string,
): Promise<void> {
  await ingest(stack, 'PutProfile', { userId, timeZone });
}

/** The imports of a user with their last reported state. */
export async function listImports(
  stack: Pick<Stack, 'internalUrls' | 'serviceTokens'>,
  userId: string,
): Promise<readonly { readonly state: string; readonly report?: string }[]> {
  return (await ingest(stack, 'ListImports', { userId })).body.imports ?? [];
}

async function ingest(
  stack: Pick<Stack, 'internalUrls' | 'serviceTokens'>,
  name: string,
  request: unknown,
): Promise<Answer> {
  const rpc = `phds.healthdata.v1.IngestionService/${name}`;
  return expectStatus(
    200,
    await callInternally(stack, { service: 'health-data', rpc, caller: 'importer', request }),
  );
}
