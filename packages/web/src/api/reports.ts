import type { ReportReason } from '@phds/catalog/wire-names';
import { useMutation } from '@tanstack/react-query';
import { send } from './client.ts';

export interface Report {
  readonly reason: ReportReason;
  /** In the person's words. */
  readonly text?: string;
}

/** Reports the app of a grant or of a pending approval; `path` is its `…/report`. Reports cannot be read again. */
export function useReport(path: string) {
  return useMutation({ mutationFn: (report: Report) => send<unknown>('POST', path, report) });
}
