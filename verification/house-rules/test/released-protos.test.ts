import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const repositoryRoot = resolve(import.meta.dirname, '../../..');
const TOKENS = 'proto/phds/authorization/v1/tokens.proto';

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'phds-protos-'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Runs the check on a copy of the protos with one text replaced, and returns its exit code and what it says. */
function checkWith(text: string | RegExp, other: string) {
  for (const path of ['proto', 'buf.yaml'])
    cpSync(join(repositoryRoot, path), join(copy, path), { recursive: true });
  const file = join(copy, TOKENS);
  const source = readFileSync(file, 'utf8');
  const changed = source.replace(text, other);
  if (changed === source && other !== '$&') throw new Error(`${TOKENS} does not contain ${text}`);
  writeFileSync(file, changed);
  const buf = join(repositoryRoot, 'node_modules/.bin/buf');
  const { status, stdout } = spawnSync(buf, ['breaking', '--against', 'proto/released.binpb'], {
    cwd: copy,
    encoding: 'utf8',
  });
  return { isRefused: status !== 0, says: stdout };
}

test('the protos are compatible with those of the last release', () => {
  expect(checkWith('', '$&')).toEqual({ isRefused: false, says: '' });
});

test.each<[string, string | RegExp, string, RegExp]>([
  [
    'a field with another number',
    'bytes token_hash = 1;',
    'bytes token_hash = 99;',
    /Previously present field "1"/,
  ],
  [
    'a field of another type',
    'bytes token_hash = 1;',
    'int32 token_hash = 1;',
    /changed type from "bytes" to "int32"/,
  ],
  ['a field with another name', 'bytes token_hash = 1;', 'bytes hash = 1;', /changed name from "token_hash"/],
  ['an rpc that is gone', /\n.*rpc Introspect\(.*/, '', /Previously present RPC "Introspect"/],
])('%s is refused', (_, text, other, says) => {
  expect(checkWith(text, other)).toEqual({ isRefused: true, says: expect.stringMatching(says) });
});
