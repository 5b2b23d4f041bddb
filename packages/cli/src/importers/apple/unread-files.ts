import type { UnreadKind } from './zip-entries.ts';

/** The report's name of archive files that are never read, and the reason. */
export const UNREAD_FILES: Readonly<Record<UnreadKind, { readonly type: string; readonly reason: string }>> =
  {
    cda: { type: 'export_cda.xml', reason: 'never read: repeats records, with name and address' },
    route: { type: 'workout route', reason: 'never read: contains locations' },
    other: { type: 'file', reason: 'holds no records' },
  };
