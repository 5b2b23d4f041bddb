import type { Operation } from '../openapi/operation.ts';
import { ACCESS_OPERATIONS } from './access-operations.ts';
import { GRANT_OPERATIONS } from './grant-operations.ts';
import { PENDING_OPERATIONS } from './pending-operations.ts';

/** Everything under `/partner`. */
export const PARTNER_OPERATIONS: readonly Operation[] = [
  ...PENDING_OPERATIONS,
  ...GRANT_OPERATIONS,
  ...ACCESS_OPERATIONS,
];
