import { verifyRecords } from '@phds/cli/commands/records-verify';
import { openRecords } from '@phds/cli/records/connection';
import type { Stack } from '@phds/local-stack/stack';

/** Runs `phds records verify` on the stack's records and returns its output and whether it found no fault. */
export async function verifyChain(
  stack: Pick<Stack, 'databases' | 'keys'>,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const said: string[] = [];
  const sink = { write: (text: string) => said.push(text) };
  const connect = () =>
    openRecords({
      RECORDS_DATABASE_URL: stack.databases.consent.ownerUrl,
      RECORDS_PUBLIC_KEYS_FILE: stack.keys.receiptPublicKeys,
    });
  const everything = { json: false, range: null, expect: null };
  const code = await verifyRecords(everything, { output: sink, errors: sink, connect });
  return { ok: code === 0, text: said.join('').trim().replaceAll('\n', ' ') };
}
