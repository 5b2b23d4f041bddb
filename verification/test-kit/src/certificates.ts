import { spawnSync } from 'node:child_process';
import { describeWith } from './requirements.ts';

/** `describe` for tests with certificates; skipped when there is no openssl. */
export const describeWithCertificates = describeWith(
  'openssl',
  spawnSync('openssl', ['version']).status === 0,
);
