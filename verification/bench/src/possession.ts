import type { JsonWebKeyInput } from 'node:crypto';
import { dirname, join } from 'node:path';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { reportBeside } from './beside.ts';
import type { Options } from './options.ts';
import { connectUsers, prepareStack } from './prepare-stack.ts';

/** Reports the newest 20 heart readings with tokens that are bound to a key, beside bearer tokens. */
export async function benchPossession(options: Options): Promise<string> {
  await using prepared = await prepareStack('bench', options);
  const { stack, side } = prepared;
  const requestsFile = join(dirname(side.job.requestsFile), 'bound.txt');
  const key = await createProofKey();
  await connectUsers(stack, options.users, requestsFile, key);
  const job = { ...side.job, requestsFile, proofKey: key.privateJwk as JsonWebKeyInput['key'] };
  return await reportBeside({ bearer: side, bound: { ...side, job } }, options.rounds);
}
