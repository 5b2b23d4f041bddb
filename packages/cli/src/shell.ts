import type { Writable } from 'node:stream';
import type { Finish } from './commands/command.ts';
import { openIngestion } from './connection.ts';
import { openOperator } from './operator/connection.ts';
import { announceRecordsRead, openRecords } from './records/connection.ts';
import type { ProgressStream } from './terminal.ts';

/** Where a program runs: its settings, its streams, and what receives the exit code of its command. */
export interface Shell {
  readonly env: NodeJS.ProcessEnv;
  readonly output: Writable;
  readonly errors: ProgressStream;
  readonly finish: Finish;
}

/** What the commands of a program are given. Settings are read when a command connects. */
export type Surrounded = ReturnType<typeof surround>;

export function surround({ env, output, errors, finish }: Shell) {
  const streams = { output, errors };
  return {
    ...streams,
    env,
    finish,
    streams,
    withIngestion: { ...streams, connect: () => openIngestion(env) },
    withRecords: { ...streams, connect: () => openRecords(env) },
    /** The records, after consent has recorded that the operator reads them. */
    withRecordsOf: (subject: { readonly userId: string; readonly clientId: string }) => ({
      ...streams,
      async connect() {
        await announceRecordsRead(env, subject);
        return openRecords(env);
      },
    }),
    withServices: (services: Parameters<typeof openOperator>[1], reason = '') => ({
      ...streams,
      connect: () => openOperator(env, services, reason),
    }),
  };
}
