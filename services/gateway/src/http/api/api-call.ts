import type { IncomingMessage } from 'node:http';
import { splitUrl } from '../query.ts';

/** The parts of a request that the data API uses. */
export interface ApiCall {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly rawQuery: string;
  readonly authorization: readonly string[];
  /** Value of `API-Version`; several fields are joined by a comma. */
  readonly version: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Value of `Sandbox-Force`, which sandbox apps send. */
  readonly force: string | undefined;
}

const NONE: readonly string[] = [];

/** Reads the raw header fields in one pass, which avoids Node's header object. */
export function readApiCall({ method = '', url = '', rawHeaders }: IncomingMessage): ApiCall {
  let authorization = NONE;
  let version: string | undefined;
  let ifNoneMatch: string | undefined;
  let force: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const value = rawHeaders[i + 1] ?? '';
    if (name.length === 11 && name.toLowerCase() === 'api-version') version = join(version, value);
    else if (name.length !== 13) continue;
    else if (name.toLowerCase() === 'authorization') authorization = [...authorization, value];
    else if (name.toLowerCase() === 'if-none-match') ifNoneMatch = join(ifNoneMatch, value);
    else if (name.toLowerCase() === 'sandbox-force') force = join(force, value);
  }
  return { method, url, ...splitUrl(url), authorization, version, ifNoneMatch, force };
}

function join(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}
