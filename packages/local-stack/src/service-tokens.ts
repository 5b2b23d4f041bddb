import { readFile } from 'node:fs/promises';
import { createServiceTokenSource, type ServiceTokenSource } from '@phds/service-kit/trust/service-token';
import type { Caller, KeyFiles } from './key-files.ts';

/** Issues service tokens of any caller, with the private keys in these files. */
export function createServiceTokens({ servicePrivateKeys }: Pick<KeyFiles, 'servicePrivateKeys'>) {
  return async (caller: Caller): Promise<ServiceTokenSource> =>
    createServiceTokenSource({
      service: caller,
      privateKeyPem: await readFile(servicePrivateKeys[caller], 'utf8'),
    });
}
