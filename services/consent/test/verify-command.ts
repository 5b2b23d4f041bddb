import { type ChildProcess, execFile } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { resolve } from 'node:path';
import { verifyRecords as runVerify, type VerifyRecordsArguments } from '@phds/cli/commands/records-verify';
import { openRecords } from '@phds/cli/records/connection';
import { inheritedEnvironment } from '@phds/local-stack/servers/guard';
import type { Fault } from '@phds/record-chain/fault';
import type { RunningService } from './running-service.ts';

const MAIN = resolve(import.meta.dirname, '../../../packages/cli/src/main.ts');

type RecordsOf = Pick<RunningService, 'database' | 'receiptPublicKey'>;

export interface CommandResult {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `phds records …` on the database of a service, with the service's own role. */
export function phdsRecords(
  consent: RecordsOf,
  args: readonly string[],
  onStart: (child: ChildProcess) => void = () => undefined,
): Promise<CommandResult> {
  const env = { ...inheritedEnvironment(), ...toSettings(consent) };
  return new Promise((done) => {
    const child = execFile(process.execPath, [MAIN, 'records', ...args], { env }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
    onStart(child);
  });
}

/** The settings of the command for the records of a service. */
function toSettings({ database, receiptPublicKey }: RecordsOf) {
  const pem = receiptPublicKey.export({ type: 'spki', format: 'pem' });
  const jwk = { ...createPublicKey(pem).export({ format: 'jwk' }) };
  return { RECORDS_DATABASE_URL: database.url, RECORDS_PUBLIC_KEYS: JSON.stringify({ keys: [jwk] }) };
}

export interface Verification {
  readonly ok: boolean;
  readonly records: number;
  readonly batches: number;
  readonly writers: number;
  readonly checkpoints: number;
  readonly anchors: number;
  readonly incompleteAnchors: number;
  readonly fault: Fault | null;
  readonly error: string | null;
}

/** The output of `phds records verify --json`, run in this process; `onConnected` runs when the database is open. */
export async function verifyRecords(
  consent: RecordsOf,
  { onConnected, ...options }: Partial<VerifyRecordsArguments> & { onConnected?: () => Promise<void> } = {},
): Promise<Verification> {
  const output: string[] = [];
  const errors: string[] = [];
  await runVerify(
    { json: true, range: null, expect: null, ...options },
    {
      output: { write: (text: string) => output.push(text) },
      errors: { write: (text: string) => errors.push(text) },
      async connect() {
        const connection = await openRecords(toSettings(consent));
        await onConnected?.();
        return connection;
      },
    },
  );
  if (output.length === 0) throw new Error(errors.join(''));
  return JSON.parse(output.join('')) as Verification;
}
