import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { notFound } from '@phds/service-kit/errors';
import { type Exchange, pathParameter } from '../exchange.ts';
import type { Route } from '../operation.ts';
import { send } from '../respond.ts';

/** Encodings that the build produces, the smallest first. */
const CODINGS = [
  { coding: 'br', suffix: '.br' },
  { coding: 'gzip', suffix: '.gz' },
] as const;

// Names contain a hash of the content, so files never change.
const FOR_GOOD = 'public, max-age=31536000, immutable';

/**
 * Serves the files of a directory below `path` from memory, compressed if the build made compressed files. They are read at start-up, so
 * that they match the page even when a new build replaces them on disk.
 */
export function toFileRoute(path: string, directory: string, cacheControl = FOR_GOOD): Route {
  const files = readFiles(directory);
  const handle = (exchange: Exchange) => {
    const { request, response } = exchange;
    const name = pathParameter(exchange, 'name');
    const plain = files.get(name);
    if (plain === undefined) throw notFound();
    const compressed = CODINGS.find(
      ({ coding, suffix }) => files.has(name + suffix) && request.acceptsEncodings(coding) === coding,
    );
    response.type(extname(name));
    response.vary('Accept-Encoding');
    if (compressed !== undefined) response.setHeader('Content-Encoding', compressed.coding);
    const body = files.get(name + (compressed?.suffix ?? '')) ?? plain;
    send(response, 200, { 'Cache-Control': cacheControl }, body);
  };
  return { method: 'GET', also: ['HEAD'], path: `${path}/:name`, handle };
}

function readFiles(directory: string): ReadonlyMap<string, Buffer> {
  if (!existsSync(directory)) return new Map();
  return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))]));
}
