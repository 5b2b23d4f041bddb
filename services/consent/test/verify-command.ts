import { execFile } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { Surroundings } from '@phds/cli/commands/command';
import { verifyRecords as runVerify, type VerifyRecordsArguments } from '@phds/cli/commands/records-verify';
import { openRecords, type RecordsConnection } from '@phds/cli/records/connection';
import { runCommand } from '@phds/cli/run-program';
import { inheritedEnvironment } from '@phds/local-stack/servers/guard';
import { collectOutput } from '@phds/test-kit/collected-output';
import type { RunningService } from './running-service.ts';

const MAIN = resolve(import.meta.dirname, '../../../packages/cli/src/main.ts');

type RecordsOf = Pick<RunningService, 'database' | 'receiptPublicKey'> &
  Partial<Pick<RunningService, 'operatorSettings'>>;

interface CommandResult {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `phds records …` on the database of a service, with the service's own role. */
export async function phdsRecords(consent: RecordsOf, args: readonly string[]): Promise<CommandResult> {
  const { output, errors, texts } = collectOutput();
  const code = await runCommand(['records', ...args], { env: toSettings(consent), output, errors });
  return { code, ...texts };
}

/** The same in a process whose output nobody reads, as when `head` has ended. */
export function phdsRecordsUnread(consent: RecordsOf, args: readonly string[]): Promise<CommandResult> {
  const env = { ...inheritedEnvironment(), ...toSettings(consent) };
  return new Promise((done) => {
    const child = execFile(process.execPath, [MAIN, 'records', ...args], { env }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
    child.stdout?.destroy();
  });
}

/** The settings of the command for the records of a service. */
function toSettings({ database, receiptPublicKey, operatorSettings }: RecordsOf) {
  const pem = receiptPublicKey.export({ type: 'spki', format: 'pem' });
  const jwk = { ...createPublicKey(pem).export({ format: 'jwk' }) };
  return {
    ...operatorSettings,
    RECORDS_DATABASE_URL: database.url,
    RECORDS_PUBLIC_KEYS: JSON.stringify({ keys: [jwk] }),
  };
}

interface Verification extends Readonly<Record<string, unknown>> {
  readonly ok: boolean;
  readonly records: number;
  readonly error: string | null;
}

type Command = (surroundings: Surroundings<Promise<RecordsConnection>, Writable>) => Promise<number>;

/** Runs a command for the records of a service in this process; `onConnected` runs when the database is open. */
export async function runRecords(
  consent: RecordsOf,
  command: Command,
  onConnected: () => Promise<void> = async () => undefined,
): Promise<CommandResult> {
  const { output, errors, texts } = collectOutput();
  const code = await command({
    output,
    errors,
    async connect() {
      const connection = await openRecords(toSettings(consent));
      await onConnected();
      return connection;
    },
  });
  return { code, ...texts };
}

/** The output of `phds records verify --json`. */
export async function verifyRecords(
  consent: RecordsOf,
  { onConnected, ...options }: Partial<VerifyRecordsArguments> & { onConnected?: () => Promise<void> } = {},
): Promise<Verification> {
  const verify: Command = (parts) => runVerify({ json: true, expect: null, ...options }, parts);
  const { stdout, stderr } = await runRecords(consent, verify, onConnected);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Verification;
}
