import type { ScanLimits } from '../src/summaries.ts';

/** Limits that only a defect reaches: a busy machine must not appear overloaded. */
export const PATIENT_SCANS: ScanLimits = {
  maxPerKey: 1_000,
  maxWaitMs: 30_000,
  statementTimeoutMs: 30_000,
};
