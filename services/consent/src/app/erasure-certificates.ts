import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import type { OperatorActStore } from './operator-acts.ts';
import type { Signer } from './ports.ts';

/** The rpc of each service that erases a person, and what it removes (docs/erasing.md). */
const ERASURES = [
  {
    service: 'authorization',
    rpc: 'phds.authorization.v1.AuthorizationService/EraseUser',
    removed: ['codes', 'token families', 'tokens', 'ownership of apps'],
  },
  {
    service: 'consent',
    rpc: 'phds.consent.v1.ConsentService/EraseUser',
    removed: ['grants', 'requests', 'notices', 'events', 'words of reports', 'link to access records'],
  },
  {
    service: 'health-data',
    rpc: 'phds.healthdata.v1.IngestionService/EraseUser',
    removed: ['readings', 'health records', 'profile', 'imports'],
  },
] as const;

const SALT_BYTES = 16;

/** Certificates of erasures. */
export interface ErasureCertificates {
  /** Certifies what a command erased, signed. Throws `conflict` unless the operators' record shows that it erased everything. */
  certify(userId: string, command: string): Promise<string>;
}

export function createErasureCertificates(dependencies: {
  readonly acts: Pick<OperatorActStore, 'listCompleted' | 'isKnown'>;
  readonly signer: Signer;
  readonly clock: Clock;
}): ErasureCertificates {
  const { acts, signer, clock } = dependencies;
  return {
    async certify(userId, command) {
      const completed = await acts.listCompleted(command);
      const erased = ERASURES.map(({ service, rpc, removed }) => {
        const found = completed.find((act) => act.rpc === rpc);
        if (found === undefined)
          throw new AppError('conflict', `The operators' record does not show that ${service} erased.`);
        const { operator, act, outcome } = found;
        return { service, removed, operator, act, outcome };
      });
      if (await acts.isKnown(userId)) throw new AppError('conflict', 'Consent has something of this person.');
      // Of the id only a hash with a salt: whoever has the id can recompute it, and two certificates of a person have nothing in common.
      const salt = randomBytes(SALT_BYTES).toString('base64url');
      const person = { salt, sha256: hash('sha256', `${salt}.${userId}`, 'hex') };
      return signer.sign({ person, command, erased }, clock.now());
    },
  };
}
