import { type ChildProcess, execFile } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { resolve } from 'node:path';
import { inheritedEnvironment } from '@phds/local-servers/inherited-environment';
import type { Fault } from '@phds/record-chain/fault';
import type { RunningService } from './running-service.ts';

const MAIN = resolve(import.meta.dirname, '../../../packages/cli/src/main.ts');

export interface CommandResult {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `phds records …` on the database of a service, with the service's own role. */
export function phdsRecords(
  consent: Pick<RunningService, 'database' | 'receiptPublicKey'>,
  args: readonly string[],
  onStart: (child: ChildProcess) => void = () => undefined,
): Promise<CommandResult> {
  const jwk = {
    ...createPublicKey(consent.receiptPublicKey.export({ type: 'spki', format: 'pem' })).export({
      format: 'jwk',
    }),
  };
  const env = {
    ...inheritedEnvironment(),
    RECORDS_DATABASE_URL: consent.database.url,
    RECORDS_PUBLIC_KEYS: JSON.stringify({ keys: [jwk] }),
  };
  return new Promise((done) => {
    const child = execFile(process.execPath, [MAIN, 'records', ...args], { env }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
    onStart(child);
  });
}

export interface Verification {
  readonly ok: boolean;
  readonly records: number;
  readonly batches: number;
  readonly writers: number;
  readonly checkpoints: number;
  readonly fault: Fault | null;
  readonly error: string | null;
}

/** The output of `phds records verify --json`. */
export async function verifyRecords(
  consent: Pick<RunningService, 'database' | 'receiptPublicKey'>,
): Promise<Verification> {
  const { stdout, stderr } = await phdsRecords(consent, ['verify', '--json']);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Verification;
}
